package staging

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Into is where an archive is unpacked.
type Into struct {
	Root *os.Root

	Patterns []string                               // of what it may contain; none: anything
	Links    []string                               // names of links of this account's that may lead out of the directory, as those in Patterns may
	Umask    fs.FileMode                            // what the modes of files do not get of those in the archive
	Own      func(root *os.Root, name string) error // gives what was made to an account, links not followed; nil: it has the right one
}

// ErrArchive says that an archive has what none may have that was made by [Pack] or [Collect].
var ErrArchive = errors.New("the archive of the job's files is not as one may be")

// Unpack puts the files of an archive in their places, durably, each as a whole. Repeating it does it again.
// It returns what it has put there. The error wraps [ErrArchive] if the archive is to blame. A file that its own place
// does not take, such as one behind a link that must not be followed or where the account may not write, keeps
// none of the others from theirs: the error names the first few of those.
func Unpack(ctx context.Context, r io.Reader, to Into) ([]protocol.StagedFile, error) {
	u := unpacking{Into: to, changed: map[dirIn]bool{{to.Root, "."}: true}}
	defer u.close()
	from := &reader{ctx: ctx, from: r}
	archive := tar.NewReader(from)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			if err = u.sync(); err == nil {
				err = u.lacking()
			}
			return u.placed, err
		}
		if err != nil && from.failed != nil {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrArchive, err)
		}
		f, err := u.check(header)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrArchive, err)
		}
		if err = u.place(&f, archive); err == nil {
			u.placed = append(u.placed, f)
			continue
		}
		if from.failed != nil || !ofPlace(err) {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		u.failed = append(u.failed, failure{f.Name, err})
	}
}

// ofPlace says whether an error is that of the place of one file alone, where it will be the same again. What may
// be better next time, such as a full disk, is no such error: an unpacking ends with it.
func ofPlace(err error) bool {
	return !errors.Is(err, ErrArchive) && slices.ContainsFunc([]error{
		ErrLink, syscall.EACCES, syscall.EPERM, syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG, syscall.ELOOP,
	}, func(e error) bool { return errors.Is(err, e) })
}

// lacking is the error of the files that could not be put in their places: it wraps those of the first few.
func (u *unpacking) lacking() error {
	const most = 5
	var all error
	for i := 0; i < min(len(u.failed), most); {
		reason := u.failed[i].err
		names := []string{u.failed[i].name}
		for i++; i < min(len(u.failed), most) && u.failed[i].err.Error() == reason.Error(); i++ {
			names = append(names, u.failed[i].name)
		}
		if all == nil {
			all = fmt.Errorf("%s: %w", strings.Join(names, ", "), reason)
		} else {
			all = fmt.Errorf("%w; %s: %w", all, strings.Join(names, ", "), reason)
		}
	}
	if more := len(u.failed) - most; more > 0 {
		all = fmt.Errorf("%w; and %d more", all, more)
	}
	return all
}

// failure is a file that its place does not take.
type failure struct {
	name string
	err  error
}

type unpacking struct {
	Into

	placed  []protocol.StagedFile
	failed  []failure
	last    string             // the name of the entry before
	left    map[dirIn][]string // by directory: names of what unpackings that were killed may have left
	changed map[dirIn]bool     // directories whose names are to be made durable
	beyond  []beyond           // directories that links lead to
}

// dirIn is a directory below another one.
type dirIn struct {
	root *os.Root
	name string
}

// check says what is wrong with an entry, before anything of it is written.
func (u *unpacking) check(h *tar.Header) (f protocol.StagedFile, err error) {
	f = protocol.StagedFile{Name: h.Name, Size: h.Size, Mode: uint32(h.Mode & 0o777), Modified: h.ModTime.UnixNano()}
	if err = protocol.CheckStagedName(h.Name); err != nil {
		return f, err
	}
	switch n := len(u.placed) + len(u.failed); {
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir || f.IsDir() != (h.Typeflag == tar.TypeDir):
		return f, fmt.Errorf("%q is neither a file nor a directory", h.Name)
	case slices.ContainsFunc(slices.Collect(maps.Keys(h.PAXRecords)), isForeign):
		return f, fmt.Errorf("%q has more than a name, a size and a time", h.Name)
	case n > 0 && u.last >= h.Name:
		return f, fmt.Errorf("%q does not sort after %q", h.Name, u.last)
	case n >= protocol.MaxStagedFiles:
		return f, fmt.Errorf("it has more than %d files", protocol.MaxStagedFiles)
	case len(u.Patterns) > 0 && Matches(u.Patterns, strings.TrimSuffix(h.Name, "/")) < 0:
		return f, fmt.Errorf("%q is not among the files of --stage-out", h.Name)
	}
	u.last = h.Name
	return f, nil
}

// isForeign says whether a record of an entry is none of those that [Pack] writes. Those of sparse files would let
// a small archive fill a disk.
func isForeign(record string) bool {
	return record != "path" && record != "size" && record != "mtime"
}

func (u *unpacking) place(f *protocol.StagedFile, content io.Reader) error {
	root, name, err := u.behind(strings.TrimSuffix(f.Name, "/"))
	if err == nil {
		err = u.placeIn(root, name, f, content)
	}
	if escapes(err) {
		return ErrLink
	}
	return err
}

func (u *unpacking) placeIn(root *os.Root, name string, f *protocol.StagedFile, content io.Reader) error {
	if err := u.makeDirs(root, path.Dir(name)); err != nil {
		return err
	}
	if f.IsDir() {
		return u.makeDirs(root, name)
	}
	if name == "." { // where a link leads
		return &fs.PathError{Op: "write", Path: f.Name, Err: syscall.EISDIR}
	}
	u.sweep(root, name)
	if err := u.write(root, name, f, content); err != nil {
		return err
	}
	u.changed[dirIn{root, path.Dir(name)}] = true
	return nil
}

// write writes a file under a name of this unpacking's own, and renames it.
func (u *unpacking) write(root *os.Root, name string, f *protocol.StagedFile, content io.Reader) error {
	file, temp, err := createTemporary(root, name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is synced; until it has its name its lock tells it from what was left
	err = u.fill(file, f, content)
	if err == nil {
		err = u.give(root, temp)
	}
	if err == nil {
		err = root.Rename(temp, name)
	}
	if errors.Is(err, fs.ErrExist) { // as os has it
		err = &fs.PathError{Op: "write", Path: name, Err: syscall.EISDIR}
	}
	if err != nil {
		_ = root.Remove(temp) // what failed is said
	}
	return err
}

// fill makes an open file what it is in the archive, durably.
func (u *unpacking) fill(file *os.File, f *protocol.StagedFile, content io.Reader) error {
	_, err := io.Copy(file, content)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: %w", ErrArchive, err)
	}
	if err == nil {
		err = file.Chmod(fs.FileMode(f.Mode)&^u.Umask | 0o600) // its owner may read and replace it in any case
	}
	if err == nil {
		err = file.Sync()
	}
	if err != nil || f.Modified == 0 {
		return err
	}
	at := time.Unix(0, f.Modified)
	if err = os.Chtimes(procPath(file), at, at); err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		f.Modified = info.ModTime().UnixNano() // file systems may keep less of it
	}
	return err
}

// makeDirs makes a directory and those above it.
func (u *unpacking) makeDirs(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	err := root.Mkdir(name, 0o755)
	switch {
	case err == nil:
		u.changed[dirIn{root, name}], u.changed[dirIn{root, path.Dir(name)}] = true, true
		return u.give(root, name)
	case errors.Is(err, fs.ErrNotExist):
		if err = u.makeDirs(root, path.Dir(name)); err != nil {
			return err
		}
		return u.makeDirs(root, name)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	info, err := root.Stat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: %w", name, syscall.ENOTDIR)
	}
	return err
}

func (u *unpacking) give(root *os.Root, name string) error {
	if u.Own == nil {
		return nil
	}
	return u.Own(root, name)
}

// sync makes the names in all directories durable that were changed.
func (u *unpacking) sync() (failed error) {
	for one := range u.changed {
		dir, err := one.root.Open(one.name)
		if err == nil {
			err = errors.Join(dir.Sync(), dir.Close())
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
