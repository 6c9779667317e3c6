package store

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// A read transaction holds up the writer when the file must grow, and one that
// ran the caller's loop would deadlock with a Commit in that loop. So iteration
// reads pages of rows, each in a transaction of its own.
const pageRows = 1024

// Load yields the rows of the table in ascending order of keys; a table that
// does not exist has none. Rows that change during the iteration may be seen
// in either state. After an error the iteration ends.
func (s *Store) Load(table string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for from, more := "", true; more; {
			var page []Row
			var err error
			page, more, err = s.page(table, from, false, pageRows)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			if more {
				from = page[len(page)-1].Key + "\x00"
			}
		}
	}
}

// Get returns the value of one row, and whether it exists.
func (s *Store) Get(table, key string) (value []byte, found bool, err error) {
	err = s.view(table, func(b *bbolt.Bucket) error {
		stored := b.Get([]byte(key))
		if stored == nil {
			return nil
		}
		row, rowErr := readRow(table, []byte(key), stored)
		value, found = row.Value, rowErr == nil
		return rowErr
	})
	return value, found, err
}

// Scan returns up to limit rows in ascending order of keys, beginning with the
// first whose key is at or after fromKey. With reverse the order is descending,
// beginning with the last whose key is at or before fromKey; an empty fromKey
// is then the table's end. All rows are of one state of the table.
func (s *Store) Scan(table, fromKey string, reverse bool, limit int) ([]Row, error) {
	rows, _, err := s.page(table, fromKey, reverse, limit)
	return rows, err
}

// page reads up to limit rows and says whether there may be more.
func (s *Store) page(table, from string, reverse bool, limit int) (rows []Row, more bool, err error) {
	err = s.view(table, func(b *bbolt.Bucket) (err error) {
		rows, more, err = collect(table, b.Cursor(), []byte(from), reverse, limit)
		return err
	})
	bytes := 0
	for _, row := range rows {
		bytes += len(row.Key) + len(row.Value)
	}
	s.touch(bytes)
	return rows, more, err
}

// collect reads rows until the limit or the table's end.
func collect(table string, c *bbolt.Cursor, from []byte, reverse bool, limit int) (rows []Row, more bool, err error) {
	k, v := c.Seek(from)
	next := c.Next
	if reverse {
		next = c.Prev
		switch {
		case len(from) == 0 || k == nil:
			k, v = c.Last()
		case !bytes.Equal(k, from):
			k, v = c.Prev()
		}
	}
	for ; k != nil; k, v = next() {
		if len(rows) >= limit {
			return rows, true, nil
		}
		row, err := readRow(table, k, v)
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, row)
	}
	return rows, false, nil
}

// readRow copies a row out of the map, if it is what was written.
func readRow(table string, key, stored []byte) (Row, error) {
	value, err := unseal(table, key, stored)
	if err != nil {
		return Row{}, &DamageError{Table: table, Key: string(key), What: err.Error()}
	}
	return Row{Key: string(key), Value: copied(value)}, nil
}

// copied copies a value out of the map; unlike [bytes.Clone] it always gives
// non-nil bytes.
func copied(v []byte) []byte { return append(make([]byte, 0, len(v)), v...) }

// Tally is what a [Put] with that Tally stores: how many rows the table has, and the sum of their checksums.
func (s *Store) Tally(table string) (value []byte, err error) {
	err = s.read(table, func(tx *bbolt.Tx) error {
		held, tallyErr := talliesOf(tx)
		value = held[table].encode(nil)
		return tallyErr
	})
	return value, err
}

// view reads from one table; f is not called for a table that does not exist.
func (s *Store) view(table string, f func(*bbolt.Bucket) error) error {
	return s.read(table, func(tx *bbolt.Tx) error {
		if b := tx.Bucket([]byte(table)); b != nil && table != metaTable {
			return f(b)
		}
		return nil
	})
}

// read makes a transaction that reads from one table.
func (s *Store) read(table string, f func(*bbolt.Tx) error) error {
	return s.readAll("read of table "+table, f)
}

// readAll makes a transaction that reads; what says what for.
func (s *Store) readAll(what string, f func(*bbolt.Tx) error) error {
	if err := s.failure(); err != nil {
		return err
	}
	s.swap.RLock()
	defer s.swap.RUnlock()
	err := guard(func() error { return s.db.View(f) })
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	switch {
	case damaged(err):
		return unusable(s.path, err)
	case err != nil:
		return fmt.Errorf("store %s: %s: %w", s.path, what, err)
	}
	return nil
}
