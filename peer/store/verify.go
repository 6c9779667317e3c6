package store

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
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
	file, err := os.Open(path)
	if err != nil {
		return Report{}, fmt.Errorf("store %s: %w", path, err)
	}
	report, err := verify(file, visit)
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
