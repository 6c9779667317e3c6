package spool

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// ErrNotPlain says that what should be a file of a job's is something else, or
// somebody else's.
var ErrNotPlain = errors.New("it is not a regular file of the job's account")

// OpenPlain opens, for reading, a file that a job's account could have written and
// that belongs to one of these uids. The job may put anything in its place, and the
// peer may be root: links and files of others are refused, pipes and devices not
// waited for. The error wraps [ErrNotPlain] then, and fs.ErrNotExist when there is
// nothing.
func OpenPlain(path string, owners ...uint32) (*os.File, error) {
	return openPlain(path, os.O_RDONLY, owners)
}

// OpenPlainToWrite is [OpenPlain] for writing.
func OpenPlainToWrite(path string, owners ...uint32) (*os.File, error) {
	return openPlain(path, os.O_WRONLY, owners)
}

func openPlain(path string, access int, owners []uint32) (*os.File, error) {
	file, err := os.OpenFile(path, access|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
		return nil, fmt.Errorf("%s: %w", path, ErrNotPlain)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !info.Mode().IsRegular() || !slices.Contains(owners, st.Uid) {
			err = fmt.Errorf("%s: %w", path, ErrNotPlain)
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
