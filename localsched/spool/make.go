package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// lockFile is the file by which a spool is locked.
const lockFile = "lock"

func jobsOf(dir string) string { return filepath.Join(dir, "jobs") }

// Make makes the directories of a spool if need be, and checks that no account but the
// peer's can put anything in them. It changes nothing of a directory that is not a spool
// already, unless that is empty, the peer's and writable for no other account; the error
// says what to do.
func Make(dir string) error {
	if err := CheckPath(dir); err != nil {
		return err
	}
	if err := checkUsable(dir); err != nil {
		return fmt.Errorf("spool %s: %w", dir, err)
	}
	// Versions before 0.1 kept reservations in "holds".
	if err := os.Rename(filepath.Join(dir, "holds"), reservationsOf(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("spool %s: rename holds to reservations: %w", dir, err)
	}
	for _, path := range []string{dir, jobsOf(dir), reservationsOf(dir)} {
		if err := makeDir(path); err != nil {
			return fmt.Errorf("spool %s: %w", dir, err)
		}
	}
	return nil
}

// CheckPath returns an error if a spool cannot be at a path, without looking at the file system.
func CheckPath(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("spool %q: not an absolute path", dir)
	}
	return nil
}

// checkUsable says why a directory must not become a spool.
func checkUsable(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err = checkOwner(dir, info); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil || isSpool(entries) {
		return err
	}
	below := filepath.Join(dir, "switchyard")
	if len(entries) > 0 {
		return fmt.Errorf("the directory has other files, such as %q, and is not a spool; name a directory of its own, such as %s",
			entries[0].Name(), below)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("other accounts may write to the directory (mode %04o); name a directory of its own, such as %s", mode, below)
	}
	return nil
}

// isSpool reports whether these are the entries of a spool: it has been used, or nothing
// else is in it yet.
func isSpool(entries []os.DirEntry) bool {
	parts := map[string]bool{lockFile: true, filepath.Base(jobsOf("")): true, filepath.Base(reservationsOf("")): true}
	found := 0
	for _, e := range entries {
		if parts[e.Name()] {
			found++
		}
	}
	const used = 2 // versions before 0.1 had no reservations
	return found >= used || found > 0 && found == len(entries)
}

// checkOwner says why a directory is not the peer's.
func checkOwner(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", path)
	}
	if !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s must belong to the account of the peer; its owner can change what runs", path)
	}
	return nil
}

// makeDir makes a directory through which accounts can pass.
func makeDir(path string) error {
	if err := os.MkdirAll(path, 0o711); err != nil { //nolint:gosec // accounts pass through
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err = checkOwner(path, info); err != nil {
		return err
	}
	if err = os.Chmod(path, 0o711); err != nil { //nolint:gosec // accounts pass through
		return err
	}
	return SyncPath(filepath.Dir(path))
}
