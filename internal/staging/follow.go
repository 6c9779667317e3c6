package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ErrLink says that a file of an archive would go through a link that it must not go through.
var ErrLink = errors.New("a link leads out of the working directory, and nothing is written through one that neither --stage-out nor --stage-in names")

// behind is where a file goes: below the directory, or, through a link that the user has named, below the one that
// it leads to. The link must be this account's own, or root's: who else may write in the directory could send the file anywhere.
func (u *unpacking) behind(name string) (root *os.Root, below string, err error) {
	root, below = u.Root, name
	for i, r := range name {
		if r != '/' || !u.named(name[:i]) {
			continue
		}
		to, failed := linkAt(root, strings.TrimSuffix(below, name[i:]))
		if failed == nil && to != "" {
			below = name[i+1:]
			root, failed = u.open(to)
		}
		if failed != nil {
			return nil, "", failed
		}
	}
	if !u.named(name) {
		return root, below, nil
	}
	to, err := linkAt(root, below)
	if err != nil || to == "" {
		return root, below, err
	}
	if file, failed := filepath.EvalSymlinks(to); failed == nil {
		to = file // the file that is there, not a link to it
	}
	root, err = u.open(filepath.Dir(to))
	return root, filepath.Base(to), err
}

// named says whether the user has named a link, which may lead out of the directory.
func (u *unpacking) named(name string) bool {
	return slices.Contains(u.Links, name) || literal(name) && slices.ContainsFunc(u.Patterns, func(pattern string) bool {
		return strings.HasPrefix(pattern+"/", name+"/")
	})
}

// linkAt is where a link leads to, as a path; empty: there is no link.
func linkAt(root *os.Root, name string) (string, error) {
	before, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil || before.Mode()&fs.ModeSymlink == 0:
		return "", err
	}
	to, err := root.Readlink(name)
	if err != nil {
		return "", err
	}
	after, err := root.Lstat(name)
	if err != nil {
		return "", err
	}
	st, ok := after.Sys().(*syscall.Stat_t)
	if !ok || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) || st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s is another account's link: %w", name, ErrLink)
	}
	if filepath.IsAbs(to) {
		return to, nil
	}
	return filepath.Join(root.Name(), filepath.Dir(filepath.FromSlash(name)), to), nil
}

// open opens a directory, once.
func (u *unpacking) open(dir string) (*os.Root, error) {
	if root := u.beyond[dir]; root != nil {
		return root, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if u.beyond == nil {
		u.beyond = map[string]*os.Root{}
	}
	u.beyond[dir] = root
	return root, nil
}

func (u *unpacking) close() {
	for _, root := range u.beyond {
		_ = root.Close() // what was written is synced
	}
}
