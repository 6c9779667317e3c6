package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeSynced makes a new file, durable but for its name.
func writeSynced(path string, data []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // inside the spool
	if err != nil {
		return err
	}
	return fill(file, data, func() error { return file.Chmod(mode) })
}

// fill writes, does what else is to be done, syncs and closes.
func fill(file *os.File, data []byte, also func() error) error {
	_, err := file.Write(data)
	if err == nil {
		err = also()
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncDir makes the names in a folder durable.
func syncDir(path string) error {
	folder, err := os.Open(path) //nolint:gosec // inside the spool
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// temporary makes a synced file with a name of its own in the folder.
func temporary(dir, name string, data []byte) (path string, err error) {
	file, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return "", err
	}
	if err = fill(file, data, func() error { return nil }); err != nil {
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
	return syncDir(dir)
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
	return won, syncDir(dir)
}

// readRecord reads a JSON file of the spool.
func readRecord[T any](dir, name string) (record T, err error) {
	data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // inside the spool
	if err != nil {
		return record, err
	}
	if err = json.Unmarshal(data, &record); err != nil {
		return record, fmt.Errorf("%s is damaged: %w", filepath.Join(dir, name), err)
	}
	return record, nil
}
