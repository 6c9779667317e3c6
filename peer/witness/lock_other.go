//go:build !linux

package witness

import (
	"context"
	"io/fs"
)

// Acquire takes no lock: only Linux has sockets without a file.
func Acquire(context.Context, string, string) (lock *Lock, warning string, err error) {
	return &Lock{}, "", nil
}

func inodeOf(fs.FileInfo) uint64 { return 0 }
