package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// syncPath makes a file's content durable, or the names in a folder.
func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// syncPaths makes several things durable at once.
func syncPaths(paths ...string) error {
	failed := make([]error, len(paths))
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() { failed[i] = syncPath(path) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// temporary makes a synced file with a name of its own in the folder.
func temporary(dir, name string, data []byte) (path string, err error) {
	file, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// replaceFile puts a file in a folder, durably, as a whole.
func replaceFile(dir, name string, data []byte) error {
	temp, err := temporary(dir, name, data)
	if err != nil {
		return err
	}
	if err = os.Rename(temp, filepath.Join(dir, name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncPath(dir)
}

// createOnce puts a file in a folder, durably, as a whole, if it is not there. Of
// all that ever try, one wins.
func createOnce(dir, name string, data []byte) (won bool, err error) {
	temp, err := temporary(dir, name, data)
	if err != nil {
		return false, err
	}
	err = os.Link(temp, filepath.Join(dir, name))
	won = err == nil
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err = errors.Join(err, os.Remove(temp)); err != nil {
		return false, err
	}
	return won, syncPath(dir)
}

// readRecord reads a JSON file of the spool.
func readRecord[T any](dir, name string) (record T, err error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return record, err
	}
	if err = json.Unmarshal(data, &record); err != nil {
		return record, fmt.Errorf("%s is damaged: %w", filepath.Join(dir, name), err)
	}
	return record, nil
}
