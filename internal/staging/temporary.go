package staging

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// temporaryMark begins the names under which files are written, before they get their own.
const temporaryMark = ".switchyard-"

// temporary is how the names of what is written of a file begin, in its directory. What follows is of each unpacking alone:
// two jobs of a user may bring back files of one name at once.
func temporary(name string) string {
	sum := sha256.Sum256([]byte(path.Base(name)))
	return temporaryMark + hex.EncodeToString(sum[:8]) + "-"
}

// createTemporary makes a file that is to be renamed to a name. While it is open it is locked, where the file system has locks:
// what is not locked has been left there by a process that was killed.
func createTemporary(root *os.Root, name string) (file *os.File, temp string, err error) {
	for {
		temp = path.Join(path.Dir(name), temporary(name)+strings.ToLower(rand.Text()))
		file, err = root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, "", err
		}
		if lock(file) != errLocked { //nolint:errorlint // without locks, its age must do
			var st unix.Stat_t
			if err = unix.Fstat(int(file.Fd()), &st); err != nil {
				return nil, "", errors.Join(err, file.Close(), root.Remove(temp))
			}
			if st.Nlink > 0 {
				return file, temp, nil
			}
		}
		_ = file.Close() // another unpacking took it for one that was left, and removes it
	}
}

// errLocked says that another process has a lock.
const errLocked = unix.EWOULDBLOCK

// lock locks a file until it is closed, without waiting. The error is the system's.
func lock(file *os.File) error {
	for {
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EINTR {
			return err
		}
	}
}

// sweep removes what unpackings that were killed have left of a file.
func (u *unpacking) sweep(root *os.Root, name string) {
	prefix := temporary(name)
	for _, temp := range u.temporaries(dirIn{root, path.Dir(name)}) {
		if strings.HasPrefix(temp, prefix) {
			removeLeft(root, path.Join(path.Dir(name), temp))
		}
	}
}

// temporaries are the names in a directory that may be of what was left. Each directory is looked through once.
func (u *unpacking) temporaries(at dirIn) []string {
	if found, ok := u.left[at]; ok {
		return found
	}
	var found []string
	dir, err := at.root.Open(at.name)
	for err == nil {
		const batch = 1024
		var names []string
		names, err = dir.Readdirnames(batch)
		for _, name := range names {
			if strings.HasPrefix(name, temporaryMark) {
				found = append(found, name)
			}
		}
	}
	if dir != nil {
		_ = dir.Close() // only read; one that cannot be read keeps what is in it
	}
	if u.left == nil {
		u.left = map[dirIn][]string{}
	}
	u.left[at] = found
	return found
}

// removeLeft removes a file of this account's that no process has open to write it. Where the file system has no locks,
// one that has not changed for a minute is such a file.
func removeLeft(root *os.Root, temp string) {
	const quiet = time.Minute
	info, err := root.Lstat(temp)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() {
		return
	}
	file, err := root.OpenFile(temp, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer file.Close() //nolint:errcheck // nothing was written
	switch err = lock(file); {
	case err == errLocked: //nolint:errorlint // as the system gives it
	case err == nil || time.Since(time.Unix(st.Ctim.Unix())) > quiet:
		_ = root.Remove(temp) // another one may have been quicker
	}
}
