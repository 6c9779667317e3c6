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

// FolderOf names a job's folder.
func FolderOf(tag protocol.Tag) string { return fmt.Sprintf("%d.%d", tag.Job, tag.Epoch) }

// ParseFolder reads what [FolderOf] prints, and nothing else.
func ParseFolder(name string) (tag protocol.Tag, ok bool) {
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
	return tag, FolderOf(tag) == name
}

// Folder is where a job's folder is or would be.
func (s *Spool) Folder(tag protocol.Tag) string { return filepath.Join(s.jobs, FolderOf(tag)) }

// Add makes a job's folder, durably: fill puts into dir, and syncs, what is to be in
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
		err = os.Rename(temp, s.Folder(tag))
	}
	if err != nil {
		return ExplainFull(errors.Join(err, os.RemoveAll(temp)))
	}
	if err = SyncPath(s.jobs); err != nil {
		return ExplainFull(errors.Join(err, s.Remove(tag)))
	}
	return nil
}

// Remove takes a job's folder away. Once it is renamed it is gone for good. That
// there is none is no error.
func (s *Spool) Remove(tag protocol.Tag) error {
	temp := filepath.Join(s.jobs, ".gone-"+FolderOf(tag))
	err := os.Rename(s.Folder(tag), temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return removeTree(temp)
}

// removeTree removes a folder, also where a job of the peer's own account has
// taken the rights away.
func removeTree(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) || os.Geteuid() == 0 {
		return err // root needs no rights, and must not follow an account's links
	}
	// What cannot be changed shows in the second removal.
	_ = filepath.WalkDir(path, func(p string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(p, 0o700) //nolint:gosec // a folder needs x; it is removed next
		}
		return nil
	})
	return os.RemoveAll(path)
}

// AddFile makes a file of the account in a folder that is being filled.
func (a Account) AddFile(path string, data []byte, mode fs.FileMode) error {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	return errors.Join(os.Chmod(path, mode), a.own(path))
}

// AddFolder makes a folder that is the account's alone, in one that is being filled.
func (a Account) AddFolder(path string) error {
	return errors.Join(os.Mkdir(path, 0o700), a.own(path))
}

// own gives a file of the spool to the account, if this process is root.
func (a Account) own(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(a.UID), int(a.GID))
}
