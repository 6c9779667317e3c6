package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// removal takes a tree apart that an account has made, and may still be changing. Two
// directories are open at a time, however deep the tree is: what is deeper is first moved
// up to its root, which is the peer's own and where the account can change no name. Each
// directory is taken from the account before its names are read.
type removal struct {
	ctx    context.Context //nolint:containedctx // of this one pass
	root   *os.File
	device uint64 // of the root's file system
	left   int    // entries that this pass may still look at
	fresh  uint64 // the number in the next name that is given in the root; it differs from those of an earlier pass
}

// errPassOver says that a pass has looked at as many entries as it may, or was stopped.
var errPassOver = errors.New("the pass is over")

// removeTree removes what is at the path, whose parent must be the peer's, following no
// links and entering no other file system. It looks at no more than most directory entries;
// removed is false, without an error, when more are left. That nothing is there is no error.
func removeTree(ctx context.Context, path string, most int) (removed bool, err error) {
	if err = os.Remove(path); err == nil || errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	root, err := openTree(unix.AT_FDCWD, path)
	if err != nil {
		return false, err
	}
	r := removal{ctx: ctx, root: root, left: most, fresh: uint64(time.Now().UnixNano())}
	err = r.run()
	err = errors.Join(err, root.Close())
	if errors.Is(err, errPassOver) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove %s: %w", path, err)
	}
	return true, os.Remove(path)
}

func (r *removal) run() error {
	var err error
	if r.device, err = seize(r.root); err != nil {
		return err
	}
	return r.empty(r.root, r.flatten)
}

// empty removes all entries of a directory. Those that are directories with entries of
// their own are given to deeper.
func (r *removal) empty(dir *os.File, deeper func(name string) error) error {
	const batch = 1024
	for {
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := dir.Readdirnames(batch)
		if len(names) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		var failed error
		for _, name := range names {
			if r.left--; r.left < 0 || r.ctx.Err() != nil {
				return errPassOver
			}
			err := removeEntry(dir, name)
			if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
				err = deeper(name)
			}
			if errors.Is(err, errPassOver) {
				return err
			}
			if err != nil {
				failed = errors.Join(failed, &fs.PathError{Op: "remove", Path: filepath.Join(dir.Name(), name), Err: err})
			}
		}
		if failed != nil {
			return failed
		}
	}
}

// removeEntry removes a file or an empty directory.
func removeEntry(dir *os.File, name string) error {
	err := unix.Unlinkat(int(dir.Fd()), name, 0)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
		err = unix.Unlinkat(int(dir.Fd()), name, unix.AT_REMOVEDIR)
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// flatten removes a directory of the root; the directories in it become the root's.
func (r *removal) flatten(name string) error {
	dir, err := openTree(int(r.root.Fd()), name)
	if err != nil {
		return err
	}
	device, err := seize(dir)
	if err == nil && device != r.device {
		err = errors.New("another file system is mounted there")
	}
	if err == nil {
		err = r.empty(dir, func(below string) error { return r.moveUp(dir, below) })
	}
	if err = errors.Join(err, dir.Close()); err != nil {
		return err
	}
	return unix.Unlinkat(int(r.root.Fd()), name, unix.AT_REMOVEDIR)
}

// moveUp makes a directory one of the root's.
func (r *removal) moveUp(dir *os.File, name string) error {
	for {
		r.fresh++
		to := ".deep-" + strconv.FormatUint(r.fresh, 10)
		err := unix.Renameat(int(dir.Fd()), name, int(r.root.Fd()), to)
		if errors.Is(err, unix.EACCES) && os.Geteuid() != 0 {
			// To move a directory one must be able to write to it.
			if err = unix.Fchmodat(int(dir.Fd()), name, 0o700, 0); err == nil {
				err = unix.Renameat(int(dir.Fd()), name, int(r.root.Fd()), to)
			}
		}
		if !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
}

// openTree opens a directory to remove what is in it, also where a job of the peer's own
// account has taken the rights away. Root needs no rights, and must not change those of
// what an account may have put in the place of its directory.
func openTree(at int, name string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(at, name, flags, 0)
	if errors.Is(err, unix.EACCES) && os.Geteuid() != 0 {
		if err = unix.Fchmodat(at, name, 0o700, 0); err == nil {
			fd, err = unix.Openat(at, name, flags, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// seize takes a directory from its account, which from then on can put nothing in it, and
// says on which file system it is.
func seize(dir *os.File) (device uint64, err error) {
	var st unix.Stat_t
	if err = unix.Fstat(int(dir.Fd()), &st); err != nil {
		return 0, err
	}
	if int(st.Uid) != os.Geteuid() && os.Geteuid() == 0 {
		err = dir.Chown(0, 0)
	}
	if st.Mode&0o777 != 0o700 {
		err = errors.Join(err, dir.Chmod(0o700))
	}
	return st.Dev, err
}
