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

// folder is where a life of a plugin has its socket: only this account can enter it.
// It is locked as long as this process lives, so that the next one can tell what a
// host that was killed has left.
type folder struct {
	path string
	lock *os.File
}

const (
	folderPrefix = "switchyard-plugin-"
	freshPrefix  = "new-" // before it until the folder is locked
	lockName     = "lock"
)

// newFolder makes a folder, and removes those that dead hosts have left.
func newFolder() (*folder, error) {
	base := socketBase()
	sweep(base)
	// It gets its name when it is locked, so that no one else sweeps it away.
	fresh, err := os.MkdirTemp(base, freshPrefix+folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("no directory for its socket: %w", err)
	}
	lock, err := lockIn(fresh, os.O_CREATE)
	if err == nil {
		f := &folder{path: filepath.Join(base, filepath.Base(fresh)[len(freshPrefix):]), lock: lock}
		if err = os.Rename(fresh, f.path); err == nil {
			return f, nil
		}
		err = errors.Join(err, lock.Close())
	}
	return nil, fmt.Errorf("no directory for its socket: %w", errors.Join(err, os.RemoveAll(fresh)))
}

// socketBase is the folder of temporary files, if its path is short: a socket's has at
// most 103 bytes.
func socketBase() string {
	const most = 24
	if base := os.TempDir(); filepath.IsAbs(base) && len(base) <= most {
		return base
	}
	return "/tmp"
}

// lockIn opens the lock of a folder and takes it, unless another process has it.
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

// remove removes the folder.
func (f *folder) remove() {
	_ = os.RemoveAll(f.path)
	_ = f.lock.Close()
}

// sweep removes the folders of this account that no living process has locked. A
// fresh one may be about to be locked: it is left alone for a minute.
func sweep(base string) {
	for _, path := range ownFolders(base, folderPrefix, 0) {
		removeLeft(path, 0)
	}
	for _, path := range ownFolders(base, freshPrefix+folderPrefix, time.Minute) {
		removeLeft(path, os.O_CREATE) // its host may have been killed before it made the lock
	}
}

// ownFolders are the folders of this account with the prefix that are at least as old.
func ownFolders(base, prefix string, old time.Duration) []string {
	paths, _ := filepath.Glob(filepath.Join(base, prefix+"*"))
	return slices.DeleteFunc(paths, func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || !info.IsDir() || fileguard.OwnerOf(info) != os.Geteuid() || time.Since(info.ModTime()) < old
	})
}

// removeLeft removes a folder, unless a living process has locked it.
func removeLeft(path string, create int) {
	if lock, err := lockIn(path, create); err == nil {
		(&folder{path: path, lock: lock}).remove()
	}
}
