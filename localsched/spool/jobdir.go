package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// DirName names a job's directory.
func DirName(tag protocol.Tag) string { return fmt.Sprintf("%d.%d", tag.Job, tag.Epoch) }

// ParseDirName reads what [DirName] prints, and nothing else.
func ParseDirName(name string) (tag protocol.Tag, ok bool) {
	job, epoch, _ := strings.Cut(name, ".")
	id, err := strconv.ParseUint(job, 10, 64)
	if err != nil {
		return protocol.Tag{}, false
	}
	e, err := strconv.ParseUint(epoch, 10, 32)
	if err != nil {
		return protocol.Tag{}, false
	}
	tag = protocol.Tag{Job: protocol.JobID(id), Epoch: protocol.Epoch(e)}
	return tag, DirName(tag) == name
}

// JobDir is where a job's directory is or would be.
func (s *Spool) JobDir(tag protocol.Tag) string { return filepath.Join(s.jobs, DirName(tag)) }

// Add makes a job's directory, durably: fill puts into dir, and syncs, what is to be in
// it. After an error it is not there, unless the error says that it could not be
// removed.
func (s *Spool) Add(tag protocol.Tag, fill func(dir string) error) error {
	temp, err := os.MkdirTemp(s.jobs, ".new-*")
	if err != nil {
		return ExplainFull(err)
	}
	if err = fill(temp); err == nil {
		err = os.Chmod(temp, 0o711) //nolint:gosec // accounts pass through
	}
	if err == nil {
		err = SyncPath(temp)
	}
	if err == nil {
		err = os.Rename(temp, s.JobDir(tag))
	}
	if err != nil {
		return ExplainFull(errors.Join(err, os.RemoveAll(temp)))
	}
	if err = SyncPath(s.jobs); err != nil {
		return ExplainFull(errors.Join(err, s.Remove(tag)))
	}
	return nil
}

// Remove takes a job's directory away. Once it is renamed it is gone for good; what is in
// it is removed at once as far as it is not much, and else beside. That there is none is no
// error.
func (s *Spool) Remove(tag protocol.Tag) error {
	temp, err := s.setAside(tag)
	if err != nil || temp == "" {
		return err
	}
	removed, err := removeTree(s.sweeper.ctx, temp, firstPass)
	if err == nil && !removed {
		s.sweeper.add(temp)
	}
	return err
}

// setAside renames a job's directory to what is removed; empty when there is none. It must
// also do so on a full disk.
func (s *Spool) setAside(tag protocol.Tag) (path string, err error) {
	path = filepath.Join(s.jobs, ".gone-"+DirName(tag))
	for n := 1; ; n++ {
		err = os.Rename(s.JobDir(tag), path)
		switch {
		case err == nil:
			return path, nil
		case errors.Is(err, fs.ErrNotExist):
			return "", nil
		case !errors.Is(err, fs.ErrExist):
			return "", err
		}
		// An earlier one of the tag is not removed yet.
		path = filepath.Join(s.jobs, fmt.Sprintf(".gone-%s-%d", DirName(tag), n))
	}
}

// AddFile makes a file of the account in a directory that is being filled.
func (a Account) AddFile(path string, data []byte, mode fs.FileMode) error {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	return errors.Join(os.Chmod(path, mode), a.own(path))
}

// AddDir makes a directory that is the account's alone, in one that is being filled.
func (a Account) AddDir(path string) error {
	return errors.Join(os.Mkdir(path, 0o700), a.own(path))
}

// own gives a file of the spool to the account, if this process is root.
func (a Account) own(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(a.UID), int(a.GID))
}
