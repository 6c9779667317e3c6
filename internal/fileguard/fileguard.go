// Package fileguard says which files of this machine accounts can read or change that have
// no business with them: a peer neither runs a program nor uses a key that others could
// have put there.
package fileguard

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Find follows a path through its symbolic links to its file, and says why another account
// could have it lead elsewhere, if so: each directory and link on the way must belong to
// root or to this account, and no other account may change the directories. In one with the
// sticky bit, such as /tmp, others cannot replace what is not theirs.
func Find(path string) (file string, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", err
	}
	at, rest := "/", parts(path)
	if err = checkDirectory(at); err != nil {
		return "", err
	}
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		switch {
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
			}
			if at, rest, err = follow(at, next, info, rest); err != nil {
				return "", err
			}
			continue
		case len(rest) > 0:
			if err = checkDirectory(next); err != nil {
				return "", err
			}
		}
		at = next
	}
	return at, nil
}

// maxLinks is how many links a path may lead through, as in the kernel.
const maxLinks = 40

// follow goes on behind a link: from a directory, with the parts that are left.
func follow(at, link string, info fs.FileInfo, rest []string) (from string, left []string, err error) {
	if err = Owner("the link "+link, info); err != nil {
		return "", nil, err
	}
	to, err := os.Readlink(link)
	if err != nil {
		return "", nil, err
	}
	if filepath.IsAbs(to) {
		at = "/"
	}
	return at, append(parts(to), rest...), nil
}

// parts are the names of which a path is made.
func parts(path string) (names []string) {
	for name := range strings.SplitSeq(path, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}

// checkDirectory says why a directory must not hold what only this account and root may
// change, if so.
func checkDirectory(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	what := "the directory " + path
	if err = Owner(what, info); err != nil || info.Mode()&fs.ModeSticky != 0 {
		return err
	}
	return Change(what, info)
}

// Owner says whether a file, link or directory belongs to root or to this account.
func Owner(what string, info fs.FileInfo) error {
	owner, known := OwnerOf(info)
	own := os.Geteuid()
	switch {
	case !known:
		return fmt.Errorf("the owner of %s is unknown; move it to a file system with owners, and chown it to user %d, which runs this", what, own)
	case owner == 0 || owner == own:
		return nil
	}
	return fmt.Errorf("%s belongs to user %d, who may change it: chown it to root, or to user %d, which runs this", what, owner, own)
}

// Change says whether others than the owner of a file or directory may change it. Who is in
// root's group may; and so may, unless this is root, who is in this account's group: on many
// systems every user has one of his own.
func Change(what string, info fs.FileInfo) error {
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		return fmt.Errorf("all users may change %s: chmod o-w", what)
	case mode&0o020 != 0:
		return changeByGroup(what, info)
	}
	return nil
}

// changeByGroup is the part of [Change] for a file or directory that its group may change.
func changeByGroup(what string, info fs.FileInfo) error {
	of, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return fmt.Errorf("a group that is unknown may change %s: chmod g-w", what)
	}
	if group := int(of.Gid); group != 0 && (os.Geteuid() == 0 || group != os.Getegid()) {
		return fmt.Errorf("group %d may change %s: chmod g-w, or chgrp it to root", group, what)
	}
	return nil
}

// OwnerOf is the user that a file or directory belongs to. It returns false if the file system
// does not say.
func OwnerOf(info fs.FileInfo) (uid int, known bool) {
	if of, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(of.Uid), true
	}
	return 0, false
}

// Secret reads a file of at most the given size that only its owner may read, who is root or
// this account; and that no other account could have put there, as [Find] says. Its errors name
// the file and the remedy, and show nothing of what is in it.
func Secret(path string, most int64) ([]byte, error) {
	found, err := Find(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(found)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // read only
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err = secret(found, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", found, most)
	}
	return text, err
}

// SecretText is the text of a [Secret] without the white space around it. It is not empty.
func SecretText(path string, most int64) (string, error) {
	text, err := Secret(path, most)
	if err != nil {
		return "", err
	}
	trimmed := strings.TrimSpace(string(text))
	if trimmed == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return trimmed, nil
}

// secret says why a file is no place for a secret, if so.
func secret(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New(path + " is not a file")
	}
	if err := Owner(path, info); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s can be used by others (mode %04o); run: chmod 600 %s", path, mode, path)
	}
	return nil
}
