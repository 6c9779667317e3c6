package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// renaming is a path that is to have another name in the working directory of a job.
type renaming struct{ from, name string }

// renamingOf reads "FROM:NAME".
func renamingOf(given string) (renaming, bool) {
	from, name, ok := strings.Cut(given, ":")
	return renaming{filepath.Clean(from), filepath.ToSlash(filepath.Clean(name))}, ok
}

// path is where it is.
func (r renaming) path(dir string) string {
	if filepath.IsAbs(r.from) {
		return r.from
	}
	return filepath.Join(dir, r.from)
}

// check says why it cannot have its name, if it cannot.
func (r renaming) check(dir string) error {
	if strings.ContainsAny(r.from+r.name, patternMarks) {
		return errors.New("a path that gets another name names one file or directory, without *, ? and [")
	}
	if r.name == "." || protocol.CheckStagedName(r.name) != nil {
		return fmt.Errorf("%q is no name below the working directory", r.name)
	}
	at := filepath.Join(dir, filepath.FromSlash(r.name))
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	wanted, err := os.Stat(r.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // that is said by who looks for it
	}
	if err != nil {
		return err
	}
	if there, err := os.Stat(at); err != nil || !os.SameFile(there, wanted) {
		return fmt.Errorf("there is another %s in %s; remove it, or choose another name", r.name, dir)
	}
	return nil
}

// Link makes the links of the paths "FROM:NAME" that [Find] has taken: NAME in the working directory leads to
// FROM, so that a job finds it there at its own site as it does at others. A link that is there stays.
func Link(dir string, paths []string) error {
	for _, given := range paths {
		r, ok := renamingOf(given)
		if !ok {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(r.name))
		err := os.MkdirAll(filepath.Dir(at), 0o777) //nolint:gosec // the user's umask decides
		if err == nil {
			err = os.Symlink(r.path(dir), at)
		}
		if errors.Is(err, fs.ErrExist) {
			err = r.check(dir) // somebody may have been quicker
		}
		if err != nil {
			return fmt.Errorf("--stage-in=%s: %w", given, err)
		}
	}
	return nil
}
