package store

import (
	"errors"
	"io"
	"os"

	"go.etcd.io/bbolt"
)

// Snapshot writes a copy of the file as it is durable now: a whole store, with the rows of one instant. The writer may wait until it
// is written, so it should go to a file. It returns the bytes written.
func (s *Store) Snapshot(to io.Writer) (size int64, err error) {
	err = s.readAll("snapshot", func(tx *bbolt.Tx) (err error) {
		metas := &metaPages{to: to, size: 2 * s.db.Info().PageSize, swap: tx.ID()%2 != 0}
		size, err = tx.WriteTo(metas)
		return err
	})
	return size, err
}

// metaPages passes a snapshot on, which bbolt begins with the meta page of its transaction. In a file, if the number of its transaction is not even, it is
// the second one, and newImage wants it there.
type metaPages struct {
	to   io.Writer
	size int // bytes of both
	swap bool
	held []byte
}

// Write implements [io.Writer]. bbolt writes each of the two pages by itself.
func (m *metaPages) Write(p []byte) (int, error) {
	if m.size == 0 {
		return m.to.Write(p)
	}
	m.held = append(m.held, p...)
	if len(m.held) < m.size {
		return len(p), nil
	}
	first, second := m.held[:m.size/2], m.held[m.size/2:m.size]
	if m.swap {
		const number = 8 // bytes; each page keeps its own
		for i := number; i < len(first); i++ {
			first[i], second[i] = second[i], first[i]
		}
	}
	if _, err := m.to.Write(m.held); err != nil {
		return 0, err
	}
	m.size, m.held = 0, nil
	return len(p), nil
}

// Copy writes the file of the store at path, which no peer may have open, to a writer. The errors are those of [Verify], and the
// writer's.
func Copy(path string, to io.Writer) error {
	var failed error
	err := locked(path, func(file *os.File) error {
		_, failed = io.Copy(to, file)
		return nil
	})
	return errors.Join(err, failed)
}
