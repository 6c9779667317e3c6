package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
)

// request is one caller's rows, in line or in a transaction.
type request struct {
	puts []Put       // values in their stored form
	size int         // bytes of keys and values, without checksums
	bad  error       // why the rows can never be stored
	done func(error) // called exactly once, but not for a withdrawn request
}

// newRequest gives the rows their checksums, on the caller's time.
func newRequest(puts []Put, done func(error)) *request {
	r := &request{puts: make([]Put, len(puts)), done: done}
	for i, put := range puts {
		r.size += len(put.Key) + len(put.Value)
		if r.bad == nil {
			r.bad = validate(put)
		}
		if put.Value != nil && r.bad == nil {
			put.Value = seal(put.Table, put.Key, put.Value)
		}
		r.puts[i] = put
	}
	return r
}

func validate(p Put) error {
	switch {
	case p.Table == "" || len(p.Table) > MaxTable:
		return fmt.Errorf("%w: table name %.80q has %d bytes; use 1 to %d", ErrPut, p.Table, len(p.Table), MaxTable)
	case p.Table == metaTable:
		return fmt.Errorf("%w: table %q is the store's own", ErrPut, p.Table)
	case p.Key == "" || len(p.Key) > MaxKey:
		return fmt.Errorf("%w: table %s: key %.80q has %d bytes; use 1 to %d", ErrPut, p.Table, p.Key, len(p.Key), MaxKey)
	case p.Tally != "" && (p.Value != nil || p.Tally == p.Table || len(p.Tally) > MaxTable):
		return fmt.Errorf("%w: table %s: key %.80q cannot have the tally of table %.80q", ErrPut, p.Table, p.Key, p.Tally)
	case len(p.Value) > MaxValue:
		return fmt.Errorf("%w: table %s: key %.80q: the value has %d bytes; use at most %d",
			ErrPut, p.Table, p.Key, len(p.Value), MaxValue)
	}
	return nil
}

// push puts the request at the end of the line.
func (s *Store) push(r *request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("store %s: %w", s.path, ErrClosed)
	}
	s.queue = append(s.queue, r)
	s.signal()
	return nil
}

// withdraw takes the request out of the line; false if it is no longer there.
func (s *Store) withdraw(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.queue, r)
	if i < 0 {
		return false
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	return true
}

// signal wakes the writer, or makes it look once more before it sleeps.
func (s *Store) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// write is the writer goroutine.
func (s *Store) write() {
	defer close(s.done)
	for {
		s.compactIfAsked()
		batch, closed := s.take()
		switch {
		case len(batch) > 0:
			s.commit(batch)
			if s.mayShrink() {
				s.shrink()
			}
			s.touch(sizeOf(batch))
		case closed:
			return
		default:
			<-s.wake
		}
	}
}

func sizeOf(batch []*request) (bytes int) {
	for _, r := range batch {
		bytes += r.size
	}
	return bytes
}

// take removes the next batch from the head of the line. Requests with bad rows
// are part of it, so that their answers keep their places.
func (s *Store) take() (batch []*request, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, size := 0, 0
	for n < len(s.queue) && n < batchRequests {
		size += s.queue[n].size
		if n > 0 && size > batchBytes {
			break
		}
		n++
	}
	batch = slices.Clone(s.queue[:n])
	s.queue = slices.Delete(s.queue, 0, n)
	return batch, s.closed
}

// commit writes one batch and answers its callers. If it fails, the requests in
// line fail too: they may build upon it.
func (s *Store) commit(batch []*request) {
	err := s.failure()
	if err == nil {
		err = s.transact(batch)
	}
	if err != nil {
		batch = append(batch, s.takeAll()...)
	}
	for _, r := range batch {
		switch {
		case r.bad != nil:
			r.done(fmt.Errorf("store %s: %w", s.path, r.bad))
		default:
			r.done(err)
		}
	}
}

func (s *Store) takeAll() []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.queue
	s.queue = nil
	return all
}

// transact makes the good requests of the batch durable, all or none.
func (s *Store) transact(batch []*request) error {
	good := slices.DeleteFunc(slices.Clone(batch), func(r *request) bool { return r.bad != nil })
	if len(good) == 0 {
		return nil
	}
	started := time.Now()
	var id int
	held := maps.Clone(s.tallies)
	err := guard(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			id = tx.ID()
			return apply(tx, good, held, s.lasts)
		})
	})
	took := time.Since(started)
	if err != nil {
		err = s.judge(err, id)
	} else {
		s.tallies = held
	}
	s.count(good, took, err)
	return err
}

// apply makes the changes of the batch in the transaction, in order, and keeps the
// tallies and the last keys.
func apply(tx *bbolt.Tx, batch []*request, held tallies, lasts map[string][]byte) error {
	t := transaction{tx: tx, held: held, lasts: lasts, tables: make(map[string]*changing)}
	var last []Put // of the tallies of what the others write
	for _, r := range batch {
		for _, put := range r.puts {
			if put.Tally != "" {
				last = append(last, put)
			} else if err := t.write(put); err != nil {
				return err
			}
		}
	}
	for _, put := range last {
		put.Value = seal(put.Table, put.Key, t.tally(put.Tally).encode(nil))
		if err := t.write(put); err != nil {
			return err
		}
	}
	for name, table := range t.tables {
		held[name], lasts[name] = table.tally, table.last
	}
	return putTallies(tx.Bucket([]byte(metaTable)), held)
}

// transaction changes tables.
type transaction struct {
	tx     *bbolt.Tx
	held   tallies // before it
	lasts  map[string][]byte
	tables map[string]*changing // those that it has changed so far
}

func (t *transaction) write(put Put) error {
	table := t.tables[put.Table]
	if table == nil {
		var err error
		if table, err = change(t.tx, put.Table, t.held, t.lasts); err != nil {
			return fmt.Errorf("table %s: %w", put.Table, err)
		}
		t.tables[put.Table] = table
	}
	if err := table.write(put); err != nil {
		return fmt.Errorf("table %s: key %.80q: %w", put.Table, put.Key, err)
	}
	return nil
}

// tally is that of a table as it is now.
func (t *transaction) tally(name string) tally {
	if table := t.tables[name]; table != nil {
		return table.tally
	}
	return t.held[name]
}

// changing is a table in a transaction.
type changing struct {
	rows  *bbolt.Bucket
	tally tally
	last  []byte // no key is after this one; most new rows are, and need not be looked for
}

// fillPercent is how full a page is left that is split. Most keys ascend, with job ids
// and with time, so that little comes into the lower half of a page any more; what does
// should not split it again. The rows of 10,000 finished jobs take 57.5 MB at 0.5, 33.0
// at 0.7 and 39.8 at 0.9.
const fillPercent = 0.7

func change(tx *bbolt.Tx, name string, held tallies, lasts map[string][]byte) (*changing, error) {
	rows, err := tx.CreateBucketIfNotExists([]byte(name))
	if err != nil {
		return nil, err
	}
	rows.FillPercent = fillPercent
	last, known := lasts[name]
	if !known {
		last, _ = rows.Cursor().Last()
		last = bytes.Clone(last)
	}
	return &changing{rows: rows, tally: held[name], last: last}, nil
}

// write changes a row to the stored form that the put has, and the tally with it.
func (t *changing) write(p Put) error {
	key := []byte(p.Key)
	var old []byte
	if bytes.Compare(key, t.last) <= 0 {
		old = t.rows.Get(key)
	}
	if old != nil {
		t.tally.remove(old)
	}
	switch {
	case p.Value != nil:
		return t.put(key, p.Value)
	case old != nil:
		return t.rows.Delete(key)
	}
	return nil
}

// put writes a row in its stored form; the tally has no other of this key.
func (t *changing) put(key, stored []byte) error {
	t.tally.add(stored)
	if bytes.Compare(key, t.last) > 0 {
		t.last = key
	}
	return t.rows.Put(key, stored)
}

// judge decides what a failed transaction means. Lack of room leaves the file as
// it was, unless the write failed after the transaction's meta page was written: then
// it is unknown what a restart finds, and the store must not continue.
func (s *Store) judge(err error, id int) error {
	if localdisk.Full(err) && !s.visible(id) {
		err = full(s.path, err)
		s.log.Error("store_full", "path", s.path, "error", err)
		return err
	}
	return s.breakDown(err)
}

// breakDown takes the store out of service.
func (s *Store) breakDown(err error) error {
	err = fmt.Errorf("store %s: %w after a failed write; check the disk and the kernel log, then restart the peer: %w",
		s.path, ErrBroken, err)
	s.log.Error("store_broken", "path", s.path, "error", err)
	s.mu.Lock()
	s.broken = err
	s.mu.Unlock()
	return err
}

// visible says whether the transaction, though it failed, can be seen.
func (s *Store) visible(id int) bool {
	seen := true
	err := guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			seen = tx.ID() >= id
			return nil
		})
	})
	return err != nil || seen
}
