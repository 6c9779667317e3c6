package store

import (
	"syscall"

	"go.etcd.io/bbolt"
)

// forgetPages takes the pages of the map out of this process; they stay in the system's cache
// and come back when they are read. Else a process that has read or written all of a large file
// seems to use as much memory. No other mapping can have come into its place: bbolt makes a new
// map only while there is no transaction.
func forgetPages(db *bbolt.DB) error {
	return db.View(func(tx *bbolt.Tx) error {
		_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, db.Info().Data, uintptr(tx.Size()), syscall.MADV_DONTNEED) //nolint:gosec // not negative
		if errno != 0 {
			return errno
		}
		return nil
	})
}
