package pluginhost

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
)

// socketDir is the directory of the socket of one start of a plugin. Only this account can
// enter it. It is locked until this process ends, so that a later host can distinguish the
// directories of hosts that were killed.
type socketDir struct {
	path string
	lock *os.File
}

const (
	dirPrefix   = "switchyard-plugin-"
	freshPrefix = "new-" // before it until the directory is locked
	lockName    = "lock"
)

// newSocketDir makes a directory, and removes those that killed hosts have left.
func newSocketDir() (*socketDir, error) {
	base := socketBase()
	sweep(base)
	// It gets its name when it is locked, so that no one else sweeps it away.
	fresh, err := os.MkdirTemp(base, freshPrefix+dirPrefix)
	if err != nil {
		return nil, fmt.Errorf("no directory for its socket: %w", err)
	}
	lock, err := lockIn(fresh, os.O_CREATE)
	if err == nil {
		f := &socketDir{path: filepath.Join(base, filepath.Base(fresh)[len(freshPrefix):]), lock: lock}
		if err = os.Rename(fresh, f.path); err == nil {
			return f, nil
		}
		err = errors.Join(err, lock.Close())
	}
	return nil, fmt.Errorf("no directory for its socket: %w", errors.Join(err, os.RemoveAll(fresh)))
}

// socketBase is the directory of temporary files, if its path is short: a socket's has at
// most 103 bytes.
func socketBase() string {
	const most = 24
	if base := os.TempDir(); filepath.IsAbs(base) && len(base) <= most {
		return base
	}
	return "/tmp"
}

// lockIn opens the lock of a directory and takes it, unless another process has it.
func lockIn(path string, create int) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|create, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// remove removes the directory and releases its lock.
func (f *socketDir) remove() {
	_ = os.RemoveAll(f.path)
	_ = f.lock.Close()
}

// sweep removes the directories of this account that no running process has locked. A
// fresh one may be about to be locked: it is left alone for a minute.
func sweep(base string) {
	for _, path := range ownDirs(base, dirPrefix, 0) {
		removeLeft(path, 0)
	}
	for _, path := range ownDirs(base, freshPrefix+dirPrefix, time.Minute) {
		removeLeft(path, os.O_CREATE) // its host may have been killed before it made the lock
	}
}

// ownDirs are the directories of this account with the prefix that are at least as old.
func ownDirs(base, prefix string, old time.Duration) []string {
	paths, _ := filepath.Glob(filepath.Join(base, prefix+"*"))
	return slices.DeleteFunc(paths, func(path string) bool {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < old {
			return true
		}
		owner, known := fileguard.OwnerOf(info)
		return !known || owner != os.Geteuid()
	})
}

// removeLeft removes a directory, unless a running process has locked it.
func removeLeft(path string, create int) {
	if lock, err := lockIn(path, create); err == nil {
		(&socketDir{path: path, lock: lock}).remove()
	}
}
