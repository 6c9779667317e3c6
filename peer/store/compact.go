package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

const (
	compactOver   = 64 << 20 // bytes; smaller files are left as they are
	copyBytes     = 16 << 20 // copied in one transaction
	scratchSuffix = ".compact"

	// shrinkRetry is how long a compaction that failed, for want of room perhaps, is
	// not tried again.
	shrinkRetry = 10 * time.Minute
)

// shrinking is when the file is compacted.
type shrinking struct {
	over  int64     // bytes
	later time.Time // not before
}

// shrink replaces the file by a copy without free pages, if that is worth it: bbolt
// files never shrink.
func (s *Store) shrink() {
	if s.failure() != nil {
		return
	}
	now := time.Now()
	worth := opened{db: s.db, file: s.file}.worthCompacting(s.shrinks.over)
	if !worth || now.Before(s.shrinks.later) {
		return
	}
	s.shrinks.later = now.Add(shrinkRetry)
	if s.compact() == nil {
		s.shrinks.later = time.Time{}
	}
}

// Compact replaces the file by a copy without free pages. Commits wait until that is durable, and reads go on.
// After an error the store goes on with the file it has.
func (s *Store) Compact() error {
	answer := make(chan error, 1)
	s.mu.Lock()
	refused := s.broken
	if s.closed {
		refused = ErrClosed
	}
	if refused == nil {
		s.asked = append(s.asked, answer)
	}
	s.mu.Unlock()
	if refused != nil {
		return refused
	}
	s.signal()
	select {
	case err := <-answer:
		return err
	case <-s.done:
	}
	select {
	case err := <-answer: // the writer's last deed
		return err
	default:
		return ErrClosed
	}
}

// compactIfAsked compacts for all who wait for it.
func (s *Store) compactIfAsked() {
	s.mu.Lock()
	asked := s.asked
	s.asked = nil
	s.mu.Unlock()
	if len(asked) == 0 {
		return
	}
	err := s.failure()
	if err == nil {
		err = s.compact()
	}
	for _, answer := range asked {
		answer <- err
	}
}

// compact replaces the file by a copy without free pages. Nothing is written meanwhile, since this is the writer
// goroutine; readers go on, and wait only while the names change. If the copy fails the store goes
// on with the file it has.
func (s *Store) compact() error {
	old, started := opened{db: s.db, file: s.file}, time.Now()
	before := s.Stats().FileBytes
	small, err := rewrite(old, s.path, true)
	if err == nil && !maps.Equal(small.survey.found, s.tallies) {
		err = errors.Join(errors.New("the copy has other rows than were written"), discard(small, s.path))
	}
	if err == nil {
		err = s.replace(old, small)
	}
	if err != nil {
		s.log.Warn("store_compaction_failed", "path", s.path, "error", err)
		return fmt.Errorf("store %s: compaction: %w", s.path, err)
	}
	s.mu.Lock()
	s.stats.FreeBytes = freeBytes(s.db)
	s.mu.Unlock()
	s.log.Info("store_compacted", "path", s.path,
		"bytes_before", before, "bytes_after", s.Stats().FileBytes, "took", time.Since(started))
	return nil
}

// mayShrink spares most commits a look at the file: it grows by AllocSize at once, so that
// hardly more than that can be at its end.
func (s *Store) mayShrink() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats.FreeBytes+int64(s.db.AllocSize) > s.shrinks.over/2
}

// worthCompacting says whether the file is large and more than
// half of it holds nothing, be it free pages or room at the end.
func (o opened) worthCompacting(over int64) bool {
	info, err := o.file.Stat()
	if err != nil || info.Size() <= over {
		return false
	}
	var used int64
	err = o.db.View(func(tx *bbolt.Tx) error {
		used = tx.Size() - freeBytes(o.db)
		return nil
	})
	return err == nil && used < info.Size()/2
}

// replace has the store go on with the copy, once no reader is in the old file.
func (s *Store) replace(old, small opened) error {
	s.swap.Lock()
	defer s.swap.Unlock()
	if err := os.Rename(s.path+scratchSuffix, s.path); err != nil {
		return errors.Join(err, discard(small, s.path))
	}
	s.db, s.file = small.db, small.file
	err := old.close()
	if syncErr := syncDir(s.path); syncErr != nil { // a power failure could bring the old file back
		return errors.Join(s.breakDown(syncErr), err)
	}
	return err
}

// upgrade replaces a file of an older format by one of the present format. A crash
// leaves the one or the other.
func upgrade(o opened, path string, log *slog.Logger) (opened, error) {
	started := time.Now()
	small, err := rewrite(o, path, false)
	if err != nil {
		return o, explain(path, fmt.Errorf("upgrade from format %d to %d: %w", o.survey.format, format, err))
	}
	if err = os.Rename(path+scratchSuffix, path); err != nil {
		return o, errors.Join(fmt.Errorf("store %s: upgrade: %w", path, err), discard(small, path))
	}
	if err = errors.Join(syncDir(path), o.close()); err != nil {
		return small, fmt.Errorf("store %s: upgrade: %w", path, err)
	}
	log.Info("store_upgraded", "path", path, "from", o.survey.format, "to", format, "took", time.Since(started))
	return small, nil
}

// rewrite copies the rows into a scratch file, which is durable then, checked and locked.
// Both files stay locked while the name changes hands, so that no other peer can come
// between.
func rewrite(old opened, path string, sealed bool) (small opened, err error) {
	if err = removeScratch(path); err != nil {
		return opened{}, err
	}
	scratch := path + scratchSuffix
	if err = copyInto(scratch, old, sealed); err == nil {
		small, err = openOnce(scratch, time.Second)
	}
	if err != nil {
		return opened{}, errors.Join(err, removeScratch(path))
	}
	return small, nil
}

// copyInto copies the rows into a new file. One sync at the end is enough, because the file
// is not in use before it is renamed.
func copyInto(scratch string, old opened, sealed bool) error {
	small, err := openOnce(scratch, time.Second)
	if err != nil {
		return err
	}
	small.survey = &survey{found: tallies{}}
	small.db.NoSync, small.db.NoGrowSync = true, true
	err = guard(func() error {
		return old.db.View(func(from *bbolt.Tx) error { return copyTables(small, from, sealed) })
	})
	if err == nil {
		err = small.fillUp()
	}
	if err == nil {
		err = sameOwner(old.file, small.file)
	}
	if err == nil {
		err = small.db.Sync()
	}
	return errors.Join(err, small.close())
}

// sameOwner gives a copy the owner of the file, so that the peer can read what root has compacted.
func sameOwner(file, small *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() {
		return nil
	}
	return small.Chown(int(owner.Uid), int(owner.Gid))
}

// fillUp gives the file the size that its pages need, should the last ones be free and
// therefore never have been written.
func (o opened) fillUp() error {
	info, err := o.file.Stat()
	if err != nil {
		return err
	}
	return o.db.View(func(tx *bbolt.Tx) error {
		if info.Size() >= tx.Size() {
			return nil
		}
		return o.file.Truncate(tx.Size())
	})
}

// copyTables copies all rows, giving them checksums if they have none, and marks the
// copy as a store.
func copyTables(to opened, from *bbolt.Tx, sealed bool) error {
	err := from.ForEach(func(name []byte, rows *bbolt.Bucket) error {
		if string(name) == metaTable {
			return nil
		}
		return to.copyTable(string(name), rows.Cursor(), sealed)
	})
	if err != nil {
		return err
	}
	return to.db.Update(func(tx *bbolt.Tx) error { return mark(tx, to.survey.found) })
}

// copyTable copies one table, in transactions of a bounded size.
func (o opened) copyTable(name string, from *bbolt.Cursor, sealed bool) error {
	key, value := from.First()
	for more := true; more; {
		err := o.db.Update(func(tx *bbolt.Tx) error {
			table, err := change(tx, name, o.survey.found, map[string][]byte{})
			for size := 0; err == nil && key != nil && size < copyBytes; key, value = from.Next() {
				size += len(key) + len(value)
				err = table.copyRow(name, key, value, sealed)
			}
			if err == nil {
				o.survey.found[name] = table.tally
			}
			more = key != nil
			return err
		})
		if err != nil {
			return fmt.Errorf("copy of table %s: %w", name, err)
		}
	}
	return nil
}

// copyRow appends a row, if it is what was written.
func (t *changing) copyRow(table string, key, value []byte, sealed bool) error {
	if !sealed {
		value = seal(table, string(key), value)
	} else if _, err := unseal(table, key, value); err != nil {
		return &DamageError{Table: table, Key: string(key), What: err.Error()}
	}
	return t.put(key, value)
}

// removeScratch clears away what a crash in the middle of a copy left.
func removeScratch(path string) error {
	if err := os.Remove(path + scratchSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store %s: what a crash left of a copy: %w", path, err)
	}
	return nil
}

// discard removes a copy that is not wanted.
func discard(small opened, path string) error {
	return errors.Join(small.close(), os.Remove(path+scratchSuffix))
}
