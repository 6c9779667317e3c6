package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	plugin "github.com/hashicorp/go-plugin"
)

// checkFile finds the plugin's file behind symbolic links, and says why it must not be
// run, if so. It is asked before every start: a file may change while the host runs.
func (s *Spec) checkFile() (file string, err error) {
	file, err = filepath.EvalSymlinks(s.Path)
	if err != nil {
		return "", fmt.Errorf("its file cannot be used: %w", unpath(err))
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("its file cannot be used: %w", unpath(err))
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return "", errors.New("it is not a file")
	case mode.Perm()&0o111 == 0:
		return "", errors.New("its file is not executable: chmod +x")
	}
	what := "its file " + file
	return file, cmp.Or(
		checkOwner(what, info),
		checkChange(what, info),
		checkFolder(filepath.Dir(s.Path)), // whoever may change that of a link chooses the file
		checkFolder(filepath.Dir(file)),
		s.checkSum(file),
	)
}

// checkFolder says why a folder must not hold a plugin, if so. In one like /tmp others
// cannot replace what is not theirs.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("its folder cannot be used: %w", unpath(err))
	}
	what := "its folder " + path
	if err = checkOwner(what, info); err != nil || info.Mode()&fs.ModeSticky != 0 {
		return err
	}
	return checkChange(what, info)
}

// checkOwner says whether a file or folder belongs to who may run plugins here anyway.
func checkOwner(what string, info fs.FileInfo) error {
	owner, own := ownerOf(info), os.Geteuid()
	if owner == 0 || owner == own {
		return nil
	}
	return fmt.Errorf("%s belongs to user %d, who may change it: chown it to root, or to user %d, which runs it", what, owner, own)
}

// checkChange says whether others than the owner of a file or folder may change it.
// Who is in root's group may; and so may, unless root runs the plugin, who is in the
// group of whoever runs it: on many systems every user has one of his own.
func checkChange(what string, info fs.FileInfo) error {
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		return fmt.Errorf("everybody may change %s: chmod o-w", what)
	case mode&0o020 != 0 && groupOf(info) != 0 && (os.Geteuid() == 0 || groupOf(info) != os.Getegid()):
		return fmt.Errorf("group %d may change %s: chmod g-w, or chgrp it to root", groupOf(info), what)
	}
	return nil
}

// ownerOf is the user of a file or folder.
func ownerOf(info fs.FileInfo) int {
	if of, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(of.Uid)
	}
	return -1
}

func groupOf(info fs.FileInfo) int {
	if of, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(of.Gid)
	}
	return -1
}

// checkSum says whether the file is the pinned one, if one is.
func (s *Spec) checkSum(file string) error {
	if s.SHA256 == "" {
		return nil
	}
	sum, err := hex.DecodeString(s.SHA256)
	if err != nil {
		return err
	}
	pinned := plugin.SecureConfig{Checksum: sum, Hash: sha256.New()}
	same, err := pinned.Check(file)
	if err != nil {
		return fmt.Errorf("its file cannot be read: %w", unpath(err))
	}
	if !same {
		return fmt.Errorf("its file is not the pinned one: the SHA-256 is not %s; put the file back, or pin the new one", s.SHA256)
	}
	return nil
}

// unpath takes the path out of an error that will be told with it.
func unpath(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}
