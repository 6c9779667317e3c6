package staging

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Into is where an archive is unpacked.
type Into struct {
	Root *os.Root

	Patterns []string                               // of what it may contain; none: anything
	Own      func(root *os.Root, name string) error // gives what was made to an account, links not followed; nil: it has the right one
}

// ErrArchive says that an archive has what none may have that was made by [Pack] or [Collect].
var ErrArchive = errors.New("the archive of the job's files is not as one may be")

// Unpack puts the files of an archive in their places, durably, each as a whole. Repeating it does it again.
// It returns what it has put there. The error wraps [ErrArchive] if the archive is to blame.
func Unpack(ctx context.Context, r io.Reader, to Into) ([]protocol.StagedFile, error) {
	u := unpacking{Into: to, changed: map[string]bool{".": true}}
	archive := tar.NewReader(&reader{ctx, r})
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return u.placed, u.sync()
		}
		if errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%w: %w", ErrArchive, err)
		}
		if err != nil {
			return nil, err
		}
		f, err := u.check(header)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrArchive, err)
		}
		if err = u.place(f, archive); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		u.placed = append(u.placed, f)
	}
}

type unpacking struct {
	Into

	placed  []protocol.StagedFile
	changed map[string]bool // directories whose names are to be made durable
}

// check says what is wrong with an entry, before anything of it is written.
func (u *unpacking) check(h *tar.Header) (f protocol.StagedFile, err error) {
	f = protocol.StagedFile{Name: h.Name, Size: h.Size, Mode: uint32(h.Mode & 0o777), Modified: h.ModTime.UnixNano()}
	if err = protocol.CheckStagedName(h.Name); err != nil {
		return f, err
	}
	switch n := len(u.placed); {
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir || f.IsDir() != (h.Typeflag == tar.TypeDir):
		return f, fmt.Errorf("%q is neither a file nor a directory", h.Name)
	case slices.ContainsFunc(slices.Collect(maps.Keys(h.PAXRecords)), isForeign):
		return f, fmt.Errorf("%q has more than a name, a size and a time", h.Name)
	case n > 0 && u.placed[n-1].Name >= h.Name:
		return f, fmt.Errorf("%q does not sort after %q", h.Name, u.placed[n-1].Name)
	case n >= protocol.MaxStagedFiles:
		return f, fmt.Errorf("it has more than %d files", protocol.MaxStagedFiles)
	case len(u.Patterns) > 0 && Matches(u.Patterns, strings.TrimSuffix(h.Name, "/")) < 0:
		return f, fmt.Errorf("%q is not among the files of --stage-out", h.Name)
	}
	return f, nil
}

// isForeign says whether a record of an entry is none of those that [Pack] writes. Those of sparse files would let
// a small archive fill a disk.
func isForeign(record string) bool {
	return record != "path" && record != "size" && record != "mtime"
}

func (u *unpacking) place(f protocol.StagedFile, content io.Reader) error {
	name := strings.TrimSuffix(f.Name, "/")
	if err := u.makeDirs(path.Dir(name)); err != nil {
		return err
	}
	if f.IsDir() {
		return u.makeDirs(name)
	}
	u.changed[path.Dir(name)] = true
	temp := temporary(name)
	if err := u.Root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := u.write(temp, f, content)
	if err == nil {
		err = u.Root.Rename(temp, name)
	}
	if err != nil {
		_ = u.Root.Remove(temp) // it may not be there; what failed is said
	}
	return err
}

// temporary is under which name a file is written. It is the same in each try, so that nothing of a try that
// was cut short stays.
func temporary(name string) string {
	sum := sha256.Sum256([]byte(name))
	return path.Join(path.Dir(name), ".switchyard-"+hex.EncodeToString(sum[:8]))
}

func (u *unpacking) write(temp string, f protocol.StagedFile, content io.Reader) error {
	file, err := u.Root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err == nil {
		err = file.Chmod(fs.FileMode(f.Mode) | 0o600) // its owner may read and replace it in any case
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if f.Modified != 0 {
		at := time.Unix(0, f.Modified)
		if err = u.Root.Chtimes(temp, at, at); err != nil {
			return err
		}
	}
	return u.give(temp)
}

// makeDirs makes a directory and those above it.
func (u *unpacking) makeDirs(name string) error {
	if name == "." {
		return nil
	}
	err := u.Root.Mkdir(name, 0o755)
	switch {
	case err == nil:
		u.changed[name], u.changed[path.Dir(name)] = true, true
		return u.give(name)
	case errors.Is(err, fs.ErrNotExist):
		if err = u.makeDirs(path.Dir(name)); err != nil {
			return err
		}
		return u.makeDirs(name)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	info, err := u.Root.Stat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no directory", name)
	}
	return err
}

func (u *unpacking) give(name string) error {
	if u.Own == nil {
		return nil
	}
	return u.Own(u.Root, name)
}

// sync makes the names in all directories durable that were changed.
func (u *unpacking) sync() (failed error) {
	for _, name := range slices.Sorted(maps.Keys(u.changed)) {
		dir, err := u.Root.Open(name)
		if err == nil {
			err = errors.Join(dir.Sync(), dir.Close())
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
