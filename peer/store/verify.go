package store

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	berrors "go.etcd.io/bbolt/errors"
)

// Report is what [Verify] found.
type Report struct {
	Format    uint64 // version of the file's layout; 0: an empty file
	Bytes     int64  // size of the file
	Pages     uint64 // in use or free
	FreePages uint64
	Tables    []TableReport // by name
	Damage    []*DamageError
}

// TableReport is one table's part of a [Report].
type TableReport struct {
	Table string
	Rows  uint64 // that are whole
	Bytes int64  // of their keys and values
}

// Verify reads every page and row of the store at path, which no peer may have open, and
// changes nothing. visit gets every row that is whole, in the order of tables and keys.
// What is wrong with pages and rows is in the report; errors are about the file as such,
// and wrap [ErrLocked], [ErrForeign], [ErrNewer] or [fs.ErrNotExist].
func Verify(path string, visit func(table string, row Row)) (Report, error) {
	var report Report
	err := locked(path, func(file *os.File) (err error) {
		report, err = VerifySnapshot(file, visit)
		return err
	})
	return report, err
}

// Look reads the store as [Verify] does, but has it locked for moments only, so that a peer which starts meanwhile is not kept from
// that. Then the error wraps [ErrLocked], and what visit got says nothing.
func Look(path string, visit func(table string, row Row)) (Report, error) {
	var report Report
	err := reading(path, func(file *os.File) error {
		before, err := unused(file)
		if err != nil {
			return err
		}
		found, readErr := VerifySnapshot(file, visit)
		after, err := unused(file)
		switch {
		case err != nil:
			return err
		case !after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size():
			return berrors.ErrTimeout // a peer has been there
		}
		report = found
		return readErr
	})
	return report, err
}

// InUse reports whether a peer has the store at path open.
func InUse(path string) bool {
	err := reading(path, func(file *os.File) error {
		_, err := unused(file)
		return err
	})
	return errors.Is(err, ErrLocked)
}

// unused says how the file is, which no peer has open.
func unused(file *os.File) (os.FileInfo, error) {
	if err := lock(file, time.Millisecond); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	return info, errors.Join(err, syscall.Flock(int(file.Fd()), syscall.LOCK_UN))
}

// locked has f read the file at path, which no peer may have open.
func locked(path string, f func(*os.File) error) error {
	return reading(path, func(file *os.File) error {
		if err := lock(file, time.Millisecond); err != nil {
			return err
		}
		return f(file)
	})
}

// reading has f read the file at path, and explains its error.
func reading(path string, f func(*os.File) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("store %s: %w", path, err)
	}
	if err = errors.Join(f(file), file.Close()); err == nil {
		return nil
	}
	if errors.Is(err, berrors.ErrTimeout) {
		return fmt.Errorf("store %s: %w (the file is locked); ask that one, or stop that one first", path, ErrLocked)
	}
	return explain(path, err)
}

// VerifySnapshot is [Verify] for a file that is open, and to which no process writes.
func VerifySnapshot(file *os.File, visit func(table string, row Row)) (Report, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return Report{}, err
	}
	var found *survey
	err = mapped(file, func(data []byte) error {
		found, err = walk(data, 0, func(table string, key, value []byte) {
			visit(table, Row{Key: string(key), Value: copied(value)})
		})
		return err
	})
	if err != nil {
		return Report{}, err
	}
	if found.format > format {
		return Report{}, tooNew(file.Name(), found.format)
	}
	return found.report(info.Size()), nil
}

// report describes what a walk has found in a file of the given size.
func (s *survey) report(size int64) Report {
	r := Report{Format: s.format, Bytes: size, Pages: s.pages, FreePages: s.free, Damage: s.damage}
	for _, name := range slices.Sorted(maps.Keys(s.found)) {
		r.Tables = append(r.Tables, TableReport{Table: name, Rows: s.found[name].rows, Bytes: s.sizes[name]})
	}
	return r
}
