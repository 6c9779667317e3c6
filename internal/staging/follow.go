package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// ErrLink says that a file of an archive would go through a link that it must not go through.
var ErrLink = errors.New("a link leads out of the working directory, and nothing is written through one that neither --stage-out nor --stage-in names, or that is another account's")

// behind is where a file goes: below the directory, or, through a link that the user has named, below the one that
// it leads to. A link that stays in the directory is followed as os.Root does, whoever made it; one that leads out
// must be this account's own, or root's: who else may write in the directory could send the file anywhere.
func (u *unpacking) behind(name string) (root *os.Root, below string, err error) {
	root, below = u.Root, name
	for i, r := range name {
		if r != '/' || !u.named(name[:i]) {
			continue
		}
		link := strings.TrimSuffix(below, name[i:])
		if _, err = root.Stat(link); !escapes(err) {
			continue
		}
		if root, err = u.followDir(root, link); err != nil {
			return nil, "", err
		}
		below = name[i+1:]
	}
	if !u.named(name) {
		return root, below, nil
	}
	info, err := root.Lstat(below)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return root, below, nil
	case err != nil || info.Mode()&fs.ModeSymlink == 0:
		return root, below, err
	}
	to, file, err := u.follow(root, below)
	if errors.Is(err, ErrLink) {
		if _, inside := root.Stat(below); !escapes(inside) {
			return root, below, nil // a colleague's, which is replaced like a link that is not named
		}
	}
	if file == "" {
		file = "."
	}
	return to, file, err
}

// escapes says whether a name leads out of an [os.Root]; os has no name for that error.
func escapes(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "path escapes from parent")
}

// named says whether the user has named a link, which may lead out of the directory.
func (u *unpacking) named(name string) bool {
	return slices.Contains(u.Links, name) || literal(name) && slices.ContainsFunc(u.Patterns, func(pattern string) bool {
		return strings.HasPrefix(pattern+"/", name+"/")
	})
}

// follow is where a link leads: to a directory, or to a file in one, which need not be there.
func (u *unpacking) follow(root *os.Root, link string) (to *os.Root, file string, err error) {
	from, err := root.Open(path.Dir(link))
	if err != nil {
		return nil, "", err
	}
	defer from.Close() //nolint:errcheck // only a place
	dir, file, err := resolve(from, path.Base(link))
	if err != nil {
		return nil, "", err
	}
	defer dir.Close() //nolint:errcheck // only a place
	to, err = u.open(dir)
	return to, file, err
}

// followDir is the directory that a link leads to.
func (u *unpacking) followDir(root *os.Root, link string) (*os.Root, error) {
	to, file, err := u.follow(root, link)
	if err != nil || file == "" {
		return to, err
	}
	if _, err = to.Stat(file); err == nil {
		err = syscall.ENOTDIR
	}
	return nil, fmt.Errorf("where %s leads: %w", link, err)
}

// open makes a root of a directory, one for all files that go there.
func (u *unpacking) open(dir *os.File) (*os.Root, error) {
	info, err := dir.Stat()
	if err != nil {
		return nil, err
	}
	for _, one := range u.beyond {
		if os.SameFile(one.dir, info) {
			return one.root, nil
		}
	}
	root, err := os.OpenRoot(procPath(dir))
	if err != nil {
		return nil, err
	}
	u.beyond = append(u.beyond, beyond{info, root})
	return root, nil
}

// beyond is a directory that a link leads to.
type beyond struct {
	dir  fs.FileInfo
	root *os.Root
}

func (u *unpacking) close() {
	for _, one := range u.beyond {
		_ = one.root.Close() // what was written is synced
	}
}
