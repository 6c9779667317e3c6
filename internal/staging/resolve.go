package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxHops is how many links a path may go through, as in Linux.
const maxHops = 40

// resolve follows a path from an open directory: to a directory, with no file, or to a file in one, which need not be
// there. The directory is opened with O_PATH. Each link on the way must be this account's own, or root's: the error
// wraps [ErrLink] otherwise. Nothing is looked at by a path of several names, so that what is checked is what
// is followed, however fast others rename.
func resolve(from *os.File, name string) (dir *os.File, file string, err error) {
	at, err := openAt(from, ".", unix.O_DIRECTORY)
	if err != nil {
		return nil, "", err
	}
	w := walk{at: at, left: name}
	for w.left != "" && file == "" && err == nil {
		file, err = w.step()
	}
	if err != nil {
		_ = w.at.Close() // only a place
		return nil, "", err
	}
	return w.at, file, nil
}

// walk is on the way along a path.
type walk struct {
	at   *os.File
	left string // of the path
	hops int
}

// step goes to the next directory, or on along a link. It returns the last name if that is none of a directory.
func (w *walk) step() (file string, err error) {
	one, rest, more := strings.Cut(w.left, "/")
	if one == "" {
		one = "/"
	}
	next, err := openAt(w.at, one, unix.O_DIRECTORY) // it mounts what is mounted on demand, unlike O_PATH alone
	if err == nil {
		_ = w.at.Close() // only a place
		w.at, w.left = next, strings.TrimLeft(rest, "/")
		return "", nil
	}
	target, owner, failed := linkAt(w.at, one)
	switch {
	case failed == nil && target != "":
		if w.left = target; more {
			w.left += "/" + rest
		}
		return "", w.hop(one, owner)
	case !more && (errors.Is(failed, fs.ErrNotExist) || failed == nil && errors.Is(err, unix.ENOTDIR)):
		return one, nil
	case failed != nil:
		err = failed
	}
	return "", &os.PathError{Op: "open", Path: one, Err: err}
}

// hop says why a link must not be followed.
func (w *walk) hop(link string, owner uint32) error {
	w.hops++
	switch {
	case owner != 0 && int(owner) != os.Geteuid():
		return fmt.Errorf("%s is another account's link: %w", protocol.EscapeText(link), ErrLink)
	case w.hops > maxHops:
		return &os.PathError{Op: "open", Path: link, Err: unix.ELOOP}
	}
	return nil
}

// openAt opens a name in a directory as a place, without following a link. The error is the system's.
func openAt(dir *os.File, name string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(dir.Fd()), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), name), nil
		}
		if err != unix.EINTR {
			return nil, err
		}
	}
}

// linkAt reads a link, and whose it is; no target: it is none. Both are of the same link. The error is the system's.
func linkAt(dir *os.File, name string) (target string, owner uint32, err error) {
	link, err := openAt(dir, name, 0)
	if err != nil {
		return "", 0, err
	}
	defer link.Close() //nolint:errcheck // only a place
	var st unix.Stat_t
	if err = unix.Fstat(int(link.Fd()), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", 0, err
	}
	text := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(link.Fd()), "", text)
	return string(text[:max(n, 0)]), st.Uid, err
}

// procPath is a path to an open file, whatever name it has meanwhile.
func procPath(file *os.File) string {
	return "/proc/self/fd/" + strconv.FormatUint(uint64(file.Fd()), 10)
}
