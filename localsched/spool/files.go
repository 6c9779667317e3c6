package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// SyncPath makes a file's content durable, or the names in a directory.
func SyncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// SyncPaths makes several things durable at once.
func SyncPaths(paths ...string) error {
	failed := make([]error, len(paths))
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() { failed[i] = SyncPath(path) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// ReplaceFile puts a file that only the peer may read in a directory, durably, as a
// whole.
func ReplaceFile(dir, name string, data []byte) error {
	temp, err := temporary(dir, name, data, 0o600)
	if err != nil {
		return err
	}
	if err = os.Rename(temp, filepath.Join(dir, name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return SyncPath(dir)
}

// CreateOnce makes a file, durably, as a whole, if it is not there. Of all that
// ever try, one wins. It is written in the directory beside first, which must be on
// the same file system, and in which no other account can change it.
func CreateOnce(path, beside string, data []byte, mode fs.FileMode) (won bool, err error) {
	dir, name := filepath.Split(path)
	temp, err := temporary(beside, name, data, mode)
	if err != nil {
		return false, err
	}
	err = os.Link(temp, path)
	won = err == nil
	if errors.Is(err, fs.ErrExist) {
		err = nil
		won = sameFile(temp, path) // NFS may have made it and lost its answer
	}
	if err = errors.Join(err, os.Remove(temp)); err != nil {
		return false, err
	}
	return won, SyncPath(dir)
}

// temporary makes a synced file with a name of its own in the directory.
func temporary(dir, name string, data []byte, mode fs.FileMode) (path string, err error) {
	file, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

func sameFile(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// ExplainFull says what to do about a disk that is full. Other errors stay as they
// are.
func ExplainFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the spool's disk is full; free space there: %w", err)
	}
	return err
}
