package localdisk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Full says whether err is the operating system's lack of space or quota.
func Full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Free is how many bytes an ordinary account could still write in the directory, quotas
// aside.
func Free(dir string) (uint64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", dir, err)
	}
	return fs.Bavail * uint64(fs.Bsize), nil //nolint:gosec // a block size is positive
}

// Describe names the file system of the directory by where it is mounted, and says how
// much is free there.
func Describe(dir string) string {
	free, err := Free(dir)
	if err != nil {
		return "its file system"
	}
	return fmt.Sprintf("the file system mounted at %s, which has %d KiB free", mountPoint(dir), free>>10)
}

// mountPoint is the highest directory above dir that is on its file system.
func mountPoint(dir string) string {
	at, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	for device := deviceOf(at); at != "/" && deviceOf(filepath.Dir(at)) == device; {
		at = filepath.Dir(at)
	}
	return at
}

func deviceOf(dir string) uint64 {
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(stat.Dev) //nolint:unconvert // a number to compare; its type differs between systems
}
