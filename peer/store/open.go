package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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
	metaTable  = "switchyard"
	formatKey  = "format"
	talliesKey = "tables"

	formatSealed = 2 // rows begin with a checksum, and the row of talliesKey counts them
	format       = 2
)

// opened is a file that bbolt has open, and locked.
type opened struct {
	db     *bbolt.DB
	file   *os.File
	survey *survey // of the file as it was opened; nil: it was empty
}

// close gives the file back.
func (o opened) close() error { return o.db.Close() }

// checkDir looks at where the file is to be, before anything is created.
func checkDir(path string, opts Options) error {
	directory := filepath.Dir(path)
	info, err := os.Stat(directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("store %s: directory %s does not exist; make it, with mode 0700, for the account of the peer: %w",
			path, directory, err)
	case err != nil:
		return fmt.Errorf("store %s: %w", path, err)
	case !info.IsDir():
		return fmt.Errorf("store %s: %s is not a directory", path, directory)
	}
	name, err := localdisk.NetworkFS(directory)
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
			" choose a directory on a disk of this machine", path, ErrNetworkFS, filepath.Dir(path), name)
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

// openOnce opens the file with bbolt, which gets no page to see before all pages have
// been looked at. The list of free pages is not kept in the file: each commit would write
// it, which takes as long as any other page, and 7 ms at 800 MB free. bbolt makes the list
// when it opens the file, in a goroutine in which a fault would end the process; the pages
// that it reads then were found to be right.
func openOnce(path string, timeout time.Duration) (o opened, err error) {
	fresh := false
	err = guard(func() (err error) {
		o.db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout:        timeout,
			FreelistType:   bbolt.FreelistMapType,
			NoFreelistSync: true,
			OpenFile: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
				if o.file, err = os.OpenFile(name, flag, mode); err != nil {
					return nil, err
				}
				if err = lock(o.file, timeout); err == nil {
					if fresh = empty(o.file); !fresh {
						o.survey, err = examine(o.file)
					}
				}
				if err != nil {
					return nil, errors.Join(err, o.file.Close())
				}
				return o.file, nil
			},
		})
		return err
	})
	switch {
	case errors.As(err, new(fault)): // bbolt had no chance to close it
		err = errors.Join(err, release(o.file))
	case fresh && localdisk.Full(err): // half a first page would be taken for damage
		err = errors.Join(err, os.Remove(path))
	}
	return o, err
}

// lockRetry is how long to wait before a locked file is tried again.
const lockRetry = 50 * time.Millisecond

// lock takes the lock that bbolt takes, before bbolt does.
func lock(file *os.File, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return err
		case time.Now().After(deadline):
			return berrors.ErrTimeout
		}
		time.Sleep(min(lockRetry, timeout))
	}
}

// examine looks at all of the locked file, and fails at the first damage.
func examine(file *os.File) (found *survey, err error) {
	err = mapped(file, func(data []byte) error {
		found, err = walk(data, 1, func(string, []byte, []byte) {})
		if err == nil && len(found.damage) > 0 {
			err = found.damage[0]
		}
		return err
	})
	return found, err
}

// mapped runs f on the content of the file.
func mapped(file *os.File, f func(data []byte) error) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %d bytes into memory: %w", info.Size(), err)
	}
	return errors.Join(guard(func() error { return f(data) }), syscall.Munmap(data))
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
			" or give this peer a state directory of its own", path, ErrLocked)
	case localdisk.Full(err):
		return full(path, err)
	case errors.Is(err, ErrNewer):
		return err
	case errors.As(err, new(*fs.PathError)):
		return fmt.Errorf("store %s: the peer's account must be able to read and write the file: %w", path, err)
	}
	return unusable(path, err)
}

// prepare checks that the file is of a format that this code knows, makes it private to
// the account, marks a new one with the format, and brings an older one up to date.
func prepare(o opened, path string, log *slog.Logger) (opened, error) {
	if o.survey != nil && o.survey.format > format {
		return o, tooNew(path, o.survey.format)
	}
	if err := o.file.Chmod(0o600); err != nil {
		return o, fmt.Errorf("store %s: must be readable by the peer's account only: %w", path, err)
	}
	switch {
	case o.survey == nil || o.survey.fresh():
		o.survey = &survey{found: tallies{}}
		return o, create(o, path)
	case o.survey.format < format:
		return upgrade(o, path, log)
	}
	return o, nil
}

func tooNew(path string, version uint64) error {
	return fmt.Errorf("store %s: %w: it has format %d, this one knows up to %d; install that Switchyard again",
		path, ErrNewer, version, format)
}

// create marks a new file with the format and makes its name durable.
func create(o opened, path string) error {
	err := o.db.Update(func(tx *bbolt.Tx) error { return mark(tx, tallies{}) })
	if err == nil {
		err = syncDir(path)
	}
	switch {
	case localdisk.Full(err):
		return explain(path, err)
	case err != nil:
		return fmt.Errorf("store %s: cannot make a new store: %w", path, err)
	}
	return nil
}

// mark writes the format, and what the tables hold.
func mark(tx *bbolt.Tx, held tallies) error {
	own, err := tx.CreateBucketIfNotExists([]byte(metaTable))
	if err == nil {
		err = own.Put([]byte(formatKey), binary.BigEndian.AppendUint64(nil, format))
	}
	if err == nil {
		err = putTallies(own, held)
	}
	return err
}

func putTallies(own *bbolt.Bucket, held tallies) error {
	return own.Put([]byte(talliesKey), seal(metaTable, talliesKey, held.encode()))
}

// syncDir makes the file's name durable.
func syncDir(path string) (err error) {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
