package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

const (
	compactOver   = 64 << 20 // bytes; smaller files are left as they are
	compactTxSize = 16 << 20 // bytes copied in one transaction
	compactSuffix = ".compact"
)

// compact replaces the file by a copy without free pages, if that is worth it.
// bbolt files never shrink, and every commit writes the list of free pages. If
// the copy fails, for want of room perhaps, the store opens as it is.
func compact(o opened, path string, log *slog.Logger) (opened, error) {
	scratch := path + compactSuffix
	if err := os.Remove(scratch); err != nil && !errors.Is(err, os.ErrNotExist) {
		return o, errors.Join(fmt.Errorf("store %s: left-over of a compaction: %w", path, err), o.close())
	}
	before, sparse, err := worthCompacting(o)
	if err != nil {
		return o, errors.Join(fmt.Errorf("store %s: %w", path, err), o.close())
	}
	if !sparse {
		return o, nil
	}
	started := time.Now()
	small, err := rewrite(o, path, scratch)
	if err != nil {
		log.Warn("store_not_compacted", "path", path, "error", err)
		return o, nil
	}
	if err = errors.Join(syncFolder(path), o.close()); err != nil {
		return small, errors.Join(fmt.Errorf("store %s: compaction: %w", path, err), small.close())
	}
	after, err := small.file.Stat()
	if err != nil {
		return small, errors.Join(fmt.Errorf("store %s: %w", path, err), small.close())
	}
	log.Info("store_compacted", "path", path,
		"bytes_before", before, "bytes_after", after.Size(), "took", time.Since(started))
	return small, nil
}

// worthCompacting says how large the file is, and whether it is large and more
// than half free.
func worthCompacting(o opened) (size int64, worth bool, err error) {
	info, err := o.file.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), info.Size() > compactOver && freeBytes(o.db) > info.Size()/2, nil
}

// rewrite copies the rows into the scratch file and puts that in the place of
// the old one. Both are locked while the name changes hands, so that no other
// peer can come between. After an error the old file is in place.
func rewrite(old opened, path, scratch string) (small opened, err error) {
	small, err = openOnce(scratch, time.Second)
	if err != nil {
		return opened{}, err
	}
	small.db.NoSync = true // one sync at the end is enough for a scratch file
	err = guard(func() error { return bbolt.Compact(small.db, old.db, compactTxSize) })
	if err == nil {
		err = small.db.Sync()
	}
	small.db.NoSync = false
	if err == nil {
		err = os.Rename(scratch, path)
	}
	if err != nil {
		return opened{}, errors.Join(err, small.close(), os.Remove(scratch))
	}
	return small, nil
}
