package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
)

// The store's own table holds the version of the file's layout: the rule that a
// table is a bucket and a row a key in it. It says nothing of what rows mean.
const (
	metaTable = "switchyard"
	formatKey = "format"
	format    = 1
)

// opened is a file that bbolt has open, and locked.
type opened struct {
	db   *bbolt.DB
	file *os.File
}

// close gives the file back.
func (o opened) close() error { return o.db.Close() }

// checkFolder looks at where the file is to be, before anything is created.
func checkFolder(path string, opts Options) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("store %s: folder %s does not exist; make it, with mode 0700, for the account of the peer: %w",
			path, folder, err)
	case err != nil:
		return fmt.Errorf("store %s: %w", path, err)
	case !info.IsDir():
		return fmt.Errorf("store %s: %s is not a folder", path, folder)
	}
	name, err := localdisk.NetworkFS(folder)
	if err != nil {
		return fmt.Errorf("store %s: which file system: %w", path, err)
	}
	return judgeFS(name, path, opts)
}

// judgeFS refuses a named network file system unless that is allowed.
func judgeFS(name, path string, opts Options) error {
	if name == "" {
		return nil
	}
	if !opts.AllowNetworkFS {
		return fmt.Errorf("store %s: %w, and %s is on %s, where file locks and memory maps may lose jobs;"+
			" choose a folder on a disk of this machine", path, ErrNetworkFS, filepath.Dir(path), name)
	}
	opts.Logger.Warn("store_on_network_fs", "path", path, "filesystem", name)
	return nil
}

// openFile opens and locks the file with bbolt. A peer that starts while another
// one compacts may get the lock of a file that has just been replaced; it then
// tries again with the new one.
func openFile(path string, timeout time.Duration) (opened, error) {
	deadline := time.Now().Add(timeout)
	for {
		o, err := openOnce(path, max(time.Until(deadline), time.Millisecond))
		if err != nil {
			return opened{}, explain(path, err)
		}
		if o.current(path) {
			return o, nil
		}
		if err := o.close(); err != nil {
			return opened{}, explain(path, err)
		}
		if time.Now().After(deadline) {
			return opened{}, explain(path, berrors.ErrTimeout)
		}
	}
}

// openOnce opens the file as bbolt finds it. The list of free pages is kept in
// the file, though commits get slower with its length (7 ms at 800 MB free):
// bbolt would otherwise rebuild it from a goroutine of its own, where a damaged
// page ends the process.
func openOnce(path string, timeout time.Duration) (o opened, err error) {
	fresh := false
	err = guard(func() (err error) {
		o.db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout:      timeout,
			FreelistType: bbolt.FreelistMapType,
			OpenFile: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
				o.file, err = os.OpenFile(name, flag, mode)
				fresh = err == nil && empty(o.file)
				return o.file, err
			},
		})
		return err
	})
	switch {
	case errors.As(err, new(fault)): // bbolt had no chance to close it
		err = errors.Join(err, release(o.file))
	case fresh && noRoom(err): // half a first page would be taken for damage
		err = errors.Join(err, os.Remove(path))
	}
	return o, err
}

func empty(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Size() == 0
}

// current says whether the open file is still the one that the path names.
func (o opened) current(path string) bool {
	mine, err := o.file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(mine, named)
}

// release unlocks and closes a file that bbolt can no longer be trusted with.
// The memory map stays until the process ends; the lock must not.
func release(file *os.File) error {
	if file == nil {
		return nil
	}

	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// explain words what bbolt says about a file that it cannot open.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("store %s: %w (the file is locked); stop that one,"+
			" or give this peer a state folder of its own", path, ErrLocked)
	case noRoom(err):
		return fmt.Errorf("store %s: %w; free space or raise the quota on that file system: %w", path, ErrFull, err)
	case errors.As(err, new(*fs.PathError)):
		return fmt.Errorf("store %s: the peer's account must be able to read and write the file: %w", path, err)
	}
	return foreign(path, err)
}

func foreign(path string, err error) error {
	return fmt.Errorf("store %s: %w; move it away to start with an empty store, and bring jobs that were under way to an end by hand: %w",
		path, ErrForeign, err)
}

// prepare checks that the file is whole and of a format that this code knows,
// makes it private to the account, and marks a new one with the format.
func prepare(o opened, path string) error {
	info, err := o.file.Stat()
	if err != nil {
		return fmt.Errorf("store %s: %w", path, err)
	}
	var version uint64
	err = guard(func() error {
		return o.db.View(func(tx *bbolt.Tx) (err error) {
			if tx.Size() > info.Size() {
				return fmt.Errorf("the file is cut off: it has %d bytes of %d", info.Size(), tx.Size())
			}
			version, err = readFormat(tx)
			return err
		})
	})
	switch {
	case err != nil:
		return foreign(path, err)
	case version > format:
		return fmt.Errorf("store %s: %w: it has format %d, this one knows up to %d; install that Switchyard again",
			path, ErrNewer, version, format)
	}
	if err = o.file.Chmod(0o600); err != nil {
		return fmt.Errorf("store %s: must be readable by the peer's account only: %w", path, err)
	}
	if version == 0 {
		return create(o, path)
	}
	return nil
}

// readFormat reads the version of the layout; 0 means an empty file.
func readFormat(tx *bbolt.Tx) (uint64, error) {
	meta := tx.Bucket([]byte(metaTable))
	if meta == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return 0, fmt.Errorf("it is the bbolt file of another program, with a bucket %.40q", name)
		}
		return 0, nil
	}
	value := meta.Get([]byte(formatKey))
	if len(value) != 8 || binary.BigEndian.Uint64(value) == 0 {
		return 0, fmt.Errorf("it has the format version %x", value)
	}
	return binary.BigEndian.Uint64(value), nil
}

// create marks a new file with the format and makes its name durable.
func create(o opened, path string) error {
	err := o.db.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucket([]byte(metaTable))
		if err != nil {
			return err
		}
		return meta.Put([]byte(formatKey), binary.BigEndian.AppendUint64(nil, format))
	})
	if err == nil {
		err = syncFolder(path)
	}
	switch {
	case noRoom(err):
		return explain(path, err)
	case err != nil:
		return fmt.Errorf("store %s: cannot make a new store: %w", path, err)
	}
	return nil
}

// syncFolder makes the file's name durable.
func syncFolder(path string) (err error) {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
