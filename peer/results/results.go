// Package results keeps the output of jobs that ran at partners while it comes home, and what
// of it cannot be put where its user wants it. Its directory is the peer's own.
package results

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/sparse"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	// partSuffix marks what has not come as a whole.
	partSuffix = ".part"
	// temporaryPattern are the names of archives that are being made, before they get their own.
	temporaryPattern = ".part-*"
	// partAge is after how long without a byte a part is given up: its job has ended in
	// another way.
	partAge = 7 * 24 * time.Hour
	// pruneEvery is how often old files are looked for.
	pruneEvery = time.Hour
)

// Dir is the directory. Its fields do not change once it is used; its methods may be called
// from any goroutine.
type Dir struct {
	Path    string
	MaxKept int64                  // bytes on the disk that kept output may take together, and as many archives of files that come back; those of the newest job stay in any case. 0: any number
	KeepFor time.Duration          // 0: for ever
	Removed func(name, why string) // called for each kept file that is removed; may be nil

	mu     sync.Mutex
	pruned time.Time
}

// Part is what is here of one file.
type Part struct {
	dir  *Dir
	file *os.File
	size int64
	kept bool
}

// Whole is a file that came at once. It is on the disk only if it is kept.
type Whole struct {
	*bytes.Reader

	dir    *Dir
	tag    protocol.Tag
	stream protocol.Stream
	data   []byte
	kept   bool
}

// Whole takes all of a file of a job.
func (d *Dir) Whole(tag protocol.Tag, stream protocol.Stream, data []byte) *Whole {
	return &Whole{Reader: bytes.NewReader(data), dir: d, tag: tag, stream: stream, data: data}
}

// Keep is as that of [Part].
func (w *Whole) Keep() (path string, err error) {
	part, err := w.dir.Part(w.tag, w.stream)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	if err = errors.Join(part.Reset(), part.Append(w.data)); err != nil {
		return "", err
	}
	path, err = part.Keep()
	w.kept = err == nil
	return path, err
}

// Drop removes what an earlier try left of the file, unless it was kept in this one.
func (w *Whole) Drop() error {
	if w.kept {
		return nil
	}
	return w.dir.discard(w.tag, w.stream)
}

// Close leaves it as it is.
func (w *Whole) Close() error { return nil }

// Part opens what has come so far of a file of a job, nothing at first. A file that was complete,
// but not reported before the peer ended or the next file could not be kept, is received
// again.
func (d *Dir) Part(tag protocol.Tag, stream protocol.Stream) (*Part, error) {
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of results: %w", err)
	}
	d.pruneSometimes(time.Now())
	path := d.partOf(tag, stream)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err = os.Rename(strings.TrimSuffix(path, partSuffix), path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("go on with a kept result: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open what has come of a result: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open what has come of a result: %w", err), file.Close())
	}
	return &Part{dir: d, file: file, size: info.Size()}, nil
}

// partOf is where a file of a job is on its way.
func (d *Dir) partOf(tag protocol.Tag, stream protocol.Stream) string {
	return filepath.Join(d.Path, fmt.Sprintf("%d.%d.%s%s", tag.Job, tag.Epoch, stream, partSuffix))
}

// Kept reads up to size bytes of a file of a job that is kept; fewer or none at its end. The error is a [protocol.ErrOutputGone] if
// it has been removed.
func (d *Dir) Kept(tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
	path := strings.TrimSuffix(d.partOf(tag, stream), partSuffix)
	data, err := readPiece(path, offset, size)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s has been removed", protocol.ErrOutputGone, path)
	case err != nil:
		return nil, fmt.Errorf("read what is kept of job %v: %w", tag.Job, err)
	}
	return data, nil
}

// Discard removes the files of a job, kept or on their way. None of them is open.
func (d *Dir) Discard(tag protocol.Tag) error {
	var failed error
	for _, stream := range protocol.Streams() {
		failed = errors.Join(failed, d.discard(tag, stream))
	}
	return failed
}

// discard removes a file of a job, kept or on its way.
func (d *Dir) discard(tag protocol.Tag, stream protocol.Stream) (failed error) {
	path := d.partOf(tag, stream)
	for _, name := range []string{path, strings.TrimSuffix(path, partSuffix)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, fmt.Errorf("discard a result: %w", err))
		}
	}
	return failed
}

// ReadAt implements [io.ReaderAt].
func (p *Part) ReadAt(data []byte, at int64) (int, error) { return p.file.ReadAt(data, at) }

// Size is how many bytes are here.
func (p *Part) Size() int64 { return p.size }

// Append adds what comes next. Zeros take no space on the disk.
func (p *Part) Append(data []byte) error {
	size, err := sparse.Append(p.file, p.size, data)
	if err != nil {
		return errors.Join(fmt.Errorf("write a result: %w", err), p.file.Truncate(p.size))
	}
	p.size = size
	return nil
}

// Reset drops all that is here.
func (p *Part) Reset() error {
	if err := p.file.Truncate(0); err != nil {
		return fmt.Errorf("begin a result again: %w", err)
	}
	p.size = 0
	return nil
}

// Keep gives the whole file its name for the operator, and says where it is. Older kept files
// go if there are too many now.
func (p *Part) Keep() (path string, err error) {
	path = strings.TrimSuffix(p.file.Name(), partSuffix)
	err = p.file.Sync()
	if err == nil {
		err = os.Rename(p.file.Name(), path)
	}
	if err == nil {
		err = syncDir(p.dir.Path) // after it the partner drops its copy
	}
	if err != nil {
		return "", fmt.Errorf("keep a result that cannot be delivered: %w", err)
	}
	p.kept = true
	p.dir.prune(time.Now(), filepath.Base(path))
	return path, nil
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Drop removes the part, unless it was kept.
func (p *Part) Drop() error {
	if p.kept {
		return nil
	}
	return os.Remove(p.file.Name())
}

// Close leaves what is here for another try.
func (p *Part) Close() error { return p.file.Close() }

// Sweep removes archives that a killed peer was making, and nothing else: no other process uses the directory.
func (d *Dir) Sweep() error {
	left, err := filepath.Glob(filepath.Join(d.Path, temporaryPattern))
	for _, path := range left {
		err = errors.Join(err, dropFile(path))
	}
	return err
}

// pruneSometimes prunes if that was not done lately.
func (d *Dir) pruneSometimes(now time.Time) {
	d.mu.Lock()
	due := now.Sub(d.pruned) >= pruneEvery
	d.mu.Unlock()
	if due {
		d.prune(now, "")
	}
}

type keptFile struct {
	name  string
	since time.Time
	bytes int64
}

// prune removes what is too old, and the oldest of what is too much. The files of the job of
// the newest one stay: their names are being reported. What cannot be removed stays until the next
// time.
func (d *Dir) prune(now time.Time, newest string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pruned = now
	total, last := map[bool]int64{}, "" // archives of files that come back are counted apart: one may be as large as all output
	files := d.files()
	for _, f := range files {
		if !isPart(f.name) { // what is under way pushes out nothing
			total[isArchive(f.name)] += f.bytes
			last = f.name
		}
	}
	newest = jobOf(cmp.Or(newest, last))
	for _, f := range files {
		why := d.tooMuch(f, now.Sub(f.since), total[isArchive(f.name)])
		reported := !isPart(f.name) && jobOf(f.name) == newest
		if why == "" || reported || os.Remove(filepath.Join(d.Path, f.name)) != nil {
			continue
		}
		if !isPart(f.name) {
			total[isArchive(f.name)] -= f.bytes
		}
		if d.Removed != nil && !isAppendNote(f.name) {
			d.Removed(f.name, why)
		}
	}
}

// jobOf is what the names of all kept files of a job have in common.
func jobOf(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// isArchive says whether a kept file is an archive of files that come back.
func isArchive(name string) bool { return filepath.Ext(name) == "."+protocol.StageOutArchive.String() }

// isPart says whether a file is output on its way.
func isPart(name string) bool {
	return strings.HasPrefix(name, ".part-") || strings.HasSuffix(name, partSuffix)
}

// tooMuch says why a file is removed, of an age and when all take so much; empty: it stays.
func (d *Dir) tooMuch(f keptFile, age time.Duration, total int64) string {
	part := isPart(f.name)
	switch {
	case part && age > partAge:
		return "nothing of it has come for " + protocol.DurationOf(partAge).Text()
	case part:
	case d.KeepFor > 0 && age > d.KeepFor:
		return fmt.Sprintf("it is older than %s, [results] keep_for", protocol.DurationOf(d.KeepFor).Text())
	case d.MaxKept > 0 && total > d.MaxKept:
		return fmt.Sprintf("kept results take more than %d MiB, [results] max_kept", d.MaxKept>>20)
	}
	return ""
}

// files are those of the directory, the oldest first.
func (d *Dir) files() []keptFile {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return nil
	}
	var all []keptFile
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		all = append(all, keptFile{entry.Name(), info.ModTime(), onDisk(info)})
	}
	slices.SortFunc(all, func(a, b keptFile) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.name, b.name))
	})
	return all
}

// onDisk is what a file takes of the disk: holes take nothing.
func onDisk(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}
