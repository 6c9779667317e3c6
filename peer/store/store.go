package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/switchyard-hpc/switchyard/peer/node"
)

// Limits of rows and transactions.
const (
	MaxTable = 64       // bytes of a table's name
	MaxKey   = 4 << 10  // bytes of a key
	MaxValue = 64 << 20 // bytes of a value

	batchRequests = 512     // requests that may share a transaction
	batchBytes    = 4 << 20 // bytes after which a transaction takes no further request
)

// Put is one keyed change of a row: the peer's own noun, as the store is its
// adapter. A nil Value deletes the row; deleting a row that does not exist is no
// error. Table and Tally have 1 to [MaxTable] bytes, Key 1 to [MaxKey], Value at most
// [MaxValue]. The store does not keep Value.
type Put = node.Put

// Row is a stored row. Value belongs to the reader and is never nil.
type Row = node.Row

// Options change how a store is opened. The zero Options suit a peer.
type Options struct {
	// LockTimeout is how long to wait for another process to let go of the
	// file; 0: one second.
	LockTimeout time.Duration
	// AllowNetworkFS permits a file on NFS, Lustre and their like, where locks
	// and memory maps are not to be relied on.
	AllowNetworkFS bool
	// CompactOver is the size in bytes over which a file that is more than half free
	// is compacted; 0: 64 MiB.
	CompactOver int64
	// Logger receives what is worth an operator's notice; nil: nothing.
	Logger *slog.Logger
}

// Store is an open file of rows. All methods may be called at any time from
// any goroutine.
type Store struct {
	path string
	log  *slog.Logger

	swap    sync.RWMutex // held for writing by the writer goroutine while another file takes the place of this one
	file    *os.File     // bbolt's own descriptor
	db      *bbolt.DB
	tallies tallies           // the writer goroutine's
	lasts   map[string][]byte // the writer goroutine's; by table, an upper bound of its keys
	shrinks shrinking         // the writer goroutine's

	touched atomic.Int64 // bytes that were read or written since pages were last forgotten

	mu     sync.Mutex
	queue  []*request
	asked  []chan<- error // who waits for a compaction
	closed bool
	broken error         // why the file is no longer touched
	wake   chan struct{} // holds a token while the queue may be non-empty
	done   chan struct{} // closed when the writer has ended
	stats  Stats
}

// Open opens the store at path, or makes a new one there with mode 0600. The
// directory must exist. Every page and row of the file is checked first. A file that is
// large and more than half free is compacted, then and whenever it becomes so. Errors
// wrap [ErrLocked], [ErrNetworkFS], [ErrForeign], [ErrDamaged], [ErrFull] or [ErrNewer].
func Open(path string, opts Options) (*Store, error) {
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = time.Second
	}
	if opts.CompactOver <= 0 {
		opts.CompactOver = compactOver
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if err := checkDir(path, opts); err != nil {
		return nil, err
	}
	o, err := openFile(path, opts.LockTimeout)
	if err != nil {
		return nil, err
	}
	if err = removeScratch(path); err == nil {
		o, err = prepare(o, path, opts.Logger)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	s := &Store{
		path:    path,
		log:     opts.Logger,
		file:    o.file,
		db:      o.db,
		tallies: o.survey.found,
		lasts:   map[string][]byte{},
		shrinks: shrinking{over: opts.CompactOver},
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
	s.stats.FreeBytes = freeBytes(o.db)
	s.touched.Store(forgetOver) // bbolt has read all of the file
	s.shrink()
	if err = s.failure(); err != nil {
		return nil, errors.Join(err, release(s.file))
	}
	go s.write()
	return s, nil
}

// Commit makes the rows durable, together with those of other callers. When it
// returns nil they are. If ctx ends while the request is still in line, the
// request is withdrawn and nothing of it is written; once its transaction has
// begun, Commit waits for the end of that.
func (s *Store) Commit(ctx context.Context, puts []Put) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store %s: nothing written: %w", s.path, err)
	}
	answer := make(chan error, 1)
	r := newRequest(puts, func(err error) { answer <- err })
	if err := s.push(r); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	if s.withdraw(r) {
		return fmt.Errorf("store %s: nothing written: %w", s.path, ctx.Err())
	}
	return <-answer
}

// Enqueue is [Store.Commit] without the wait. It never blocks; done is called
// from the writer goroutine, in the order of the calls of Enqueue and Commit,
// and must be quick and must not call Close or Commit. After Close, done is
// called at once, before Enqueue returns. A nil done is permitted. The caller
// must not change the values before done is called.
func (s *Store) Enqueue(puts []Put, done func(error)) {
	if done == nil {
		done = func(error) {}
	}
	if err := s.push(newRequest(puts, done)); err != nil {
		done(err)
	}
}

// Close waits until everything that was enqueued is durable or has failed, and
// closes the file. Closing twice is no error. Iterators must have ended.
func (s *Store) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.signal()
	<-s.done
	if !first {
		return nil
	}
	if s.failure() != nil {
		return release(s.file)
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("store %s: close: %w", s.path, err)
	}
	return nil
}

// failure is why the file is no longer touched, or nil.
func (s *Store) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}
