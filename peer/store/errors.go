package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
)

// The errors that callers distinguish with [errors.Is]. Their texts are parts of
// longer ones, which name the file and say what to do.
var (
	// ErrClosed says that the store was closed before the request came.
	ErrClosed = errors.New("the store is closed")
	// ErrLocked says that another process has the file open.
	ErrLocked = errors.New("another peer is running on this store")
	// ErrNetworkFS says that the file would lie on a network file system.
	ErrNetworkFS = errors.New("the store must be on a local disk")
	// ErrForeign says that the file is not a peer's store.
	ErrForeign = errors.New("not a usable Switchyard store")
	// ErrDamaged says that the file holds something else than what was written. The
	// error also wraps a [*DamageError], unless bbolt found it.
	ErrDamaged = errors.New("the store is damaged")
	// ErrNewer says that a newer Switchyard wrote the file.
	ErrNewer = errors.New("the store was written by a newer Switchyard")
	// ErrFull says that there was no room and that nothing was written. The
	// error also wraps ENOSPC or EDQUOT.
	ErrFull = errors.New("there is no room to write")
	// ErrBroken says that an earlier write failed for another reason than lack
	// of room; the store refuses every request until it is opened again.
	ErrBroken = errors.New("the store is out of service")
	// ErrPut says that a row cannot be stored: no table or key, or too large.
	ErrPut = errors.New("the row cannot be stored")
)

// full words a lack of room: where, how much there is, and what to do.
func full(path string, err error) error {
	return fmt.Errorf("store %s: %w, and nothing was written; free space or raise the quota on %s: %w",
		path, ErrFull, localdisk.Describe(filepath.Dir(path)), err)
}

// fault is a panic of the file's code, turned into an error.
type fault struct{ reason any }

func (f fault) Error() string { return fmt.Sprintf("the file is damaged: %v", f.reason) }

// guard runs f and turns a panic into an error. bbolt panics on pages that make
// no sense, and a page that the disk cannot deliver is a memory fault in the
// map, which would end the process.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			err = fault{reason}
		}
	}()
	return f()
}
