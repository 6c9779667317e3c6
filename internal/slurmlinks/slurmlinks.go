// Package slurmlinks makes directories of Slurm's commands: symbolic links to switchyard, which behaves as they do if it
// is called by their names.
package slurmlinks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Names are the commands, sorted.
func Names() []string {
	return []string{"sacct", "sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun"}
}

// Make makes the directory, which all users may read, and in it the links to the program. Links of these names that are
// there lead to the program then, and are there all the time; a file of another kind is never replaced.
func Make(program, dir string) error {
	const mode = 0o755 // for all users
	err := os.MkdirAll(filepath.Dir(dir), mode)
	if err == nil {
		err = os.Mkdir(dir, mode)
	}
	switch {
	case err == nil:
		err = os.Chmod(dir, mode) // whatever the umask is
	case errors.Is(err, fs.ErrExist):
		err = nil
	}
	if err != nil {
		return fmt.Errorf("make the directory of Slurm's commands: %w", err)
	}
	var problems []error
	for _, name := range Names() {
		problems = append(problems, link(program, filepath.Join(dir, name)))
	}
	return errors.Join(problems...)
}

func link(program, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.Symlink(program, path)
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s is there and is no link; choose another directory", path)
	}
	if now, readErr := os.Readlink(path); readErr == nil && now == program {
		return nil
	}
	const making = ".new"
	if err = os.Remove(path + making); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err = os.Symlink(program, path+making); err != nil {
		return err
	}
	return os.Rename(path+making, path)
}

// Remove removes the links, and the directory if nothing else is in it.
func Remove(dir string) error {
	var problems []error
	for _, name := range Names() {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			problems = append(problems, os.Remove(path))
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
