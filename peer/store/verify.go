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
	return read(path, visit, verify)
}

// Look reads the store as [Verify] does, but has it locked for moments only, so that a peer which starts meanwhile is not kept from
// that. Then the error wraps [ErrLocked], and what visit got says nothing.
func Look(path string, visit func(table string, row Row)) (Report, error) {
	return read(path, visit, look)
}

func read(path string, visit func(table string, row Row), how func(*os.File, func(table string, row Row)) (Report, error)) (Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return Report{}, fmt.Errorf("store %s: %w", path, err)
	}
	report, err := how(file, visit)
	if err = errors.Join(err, file.Close()); err == nil {
		return report, nil
	}
	if errors.Is(err, berrors.ErrTimeout) {
		return report, fmt.Errorf("store %s: %w (the file is locked); stop that one, and verify then", path, ErrLocked)
	}
	return report, explain(path, err)
}

func verify(file *os.File, visit func(table string, row Row)) (Report, error) {
	if err := lock(file, time.Millisecond); err != nil {
		return Report{}, err
	}
	return contents(file, visit)
}

func look(file *os.File, visit func(table string, row Row)) (Report, error) {
	before, err := unused(file)
	if err != nil {
		return Report{}, err
	}
	report, readErr := contents(file, visit)
	after, err := unused(file)
	if err == nil && (!after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size()) {
		err = berrors.ErrTimeout // a peer has been there
	}
	if err != nil {
		return Report{}, err
	}
	return report, readErr
}

// InUse reports whether a peer has the store at path open.
func InUse(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // it was only read
	_, err = unused(file)
	return errors.Is(err, berrors.ErrTimeout)
}

// unused says how the file is, which no peer has open.
func unused(file *os.File) (os.FileInfo, error) {
	if err := lock(file, time.Millisecond); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	return info, errors.Join(err, syscall.Flock(int(file.Fd()), syscall.LOCK_UN))
}

// contents reads the file.
func contents(file *os.File, visit func(table string, row Row)) (Report, error) {
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
