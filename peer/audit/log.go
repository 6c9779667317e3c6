package audit

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Config says where a log is.
type Config struct {
	Path    string
	MaxSize int64        // bytes, from which on the file is set aside
	Files   int          // with those that were set aside, as Path.1, the youngest, and so on; at least 1
	Log     *slog.Logger // where it is said that entries are lost
	Lost    func()       // called for each entry that is lost, from any goroutine
}

// maxWaiting is how many entries wait to be written, at most. Of an [Entry] with all that it may have it is some 100 MB.
const maxWaiting = 1024

// Log is an audit log. One goroutine writes its file, so that a slow disk holds up only those who wait for it. The nil Log keeps
// nothing. Its methods may be called from any goroutine.
type Log struct {
	cfg     Config
	waiting chan waiting
	ended   chan struct{} // closed when all is written

	mu     sync.RWMutex
	closed bool

	overflowed atomic.Int64 // entries that found no room, since the file last said so

	to     file  // of the goroutine that writes
	failed int64 // entries that could not be written, since the file last said so
}

// waiting is an entry that is to be written.
type waiting struct {
	line    []byte
	written chan<- struct{} // closed then, or when the entry is lost; nil: no caller waits for it
}

// Open opens the log, and makes its file if there is none.
func Open(cfg Config) (*Log, error) {
	l := &Log{cfg: cfg, waiting: make(chan waiting, maxWaiting), ended: make(chan struct{}), to: file{Config: cfg}}
	if err := l.to.open(); err != nil {
		return nil, err
	}
	go l.run()
	return l, nil
}

// Write adds an entry, and returns when it is in the file. One that cannot be written is counted and said in the log of the peer: what
// it is about has happened.
func (l *Log) Write(e Entry) {
	written := make(chan struct{})
	if l.put(e, written) {
		<-written
	}
}

// Add adds an entry, which is written soon. It does not wait: if too many are to be written, the entry is lost, which is counted, and
// said in the file.
func (l *Log) Add(e Entry) { l.put(e, nil) }

// put has an entry written, and waits for room if the caller waits for the entry. It is false if the entry is lost.
func (l *Log) put(e Entry, written chan struct{}) bool {
	if l == nil {
		return false
	}
	line, err := e.line()
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err != nil || l.closed {
		l.lose(&l.overflowed)
		return false
	}
	if written != nil {
		l.waiting <- waiting{line, written}
		return true
	}
	select {
	case l.waiting <- waiting{line, nil}:
		return true
	default:
		l.lose(&l.overflowed)
		return false
	}
}

func (l *Log) lose(count *atomic.Int64) {
	count.Add(1)
	l.cfg.Lost()
}

// run writes entries until the log is closed.
func (l *Log) run() {
	defer close(l.ended)
	for w := range l.waiting {
		l.write(w.line)
		if w.written != nil {
			close(w.written)
		}
	}
	_ = l.sayLost() // it complains itself
}

// write writes an entry, after what has been lost before it.
func (l *Log) write(line []byte) {
	if l.sayLost() == nil {
		err := l.to.write(line)
		if err == nil {
			l.sayRotation()
			return
		}
		l.complain(err)
	}
	l.failed++
	l.cfg.Lost()
}

// sayLost says in the file how many entries are lost, if any are. The error is why it cannot be written.
func (l *Log) sayLost() error {
	overflowed := l.overflowed.Load()
	if overflowed+l.failed == 0 {
		return nil
	}
	err := l.note("entries-lost", fmt.Sprintf("%d could not be written, and %d came faster than they were written", l.failed, overflowed))
	if err != nil {
		l.complain(err)
		return err
	}
	l.cfg.Log.Warn("audit_write_resumed", "file", l.cfg.Path, "lost_entries", l.failed+overflowed)
	l.overflowed.Add(-overflowed)
	l.failed = 0
	return nil
}

// complain says once in the log of the peer that entries are lost.
func (l *Log) complain(err error) {
	if l.failed == 0 {
		l.cfg.Log.Error("audit_write_failed", "file", l.cfg.Path, "error", err, "advice", "entries are lost until the file can be written again")
	}
}

// sayRotation says once, in the file and in the log of the peer, that the file cannot be set aside.
func (l *Log) sayRotation() {
	err := l.to.unsaid
	if err == nil {
		return
	}
	l.to.unsaid = nil
	l.cfg.Log.Error("audit_rotation_failed", "file", l.cfg.Path, "error", err, "advice", "entries go on in the same file, which grows; it is tried again every minute")
	_ = l.note("rotation-failed", err.Error()) // what is said of it is no entry that may be lost
}

// note writes what the log has to say of itself.
func (l *Log) note(action, what string) error {
	line, err := Entry{At: time.Now(), Action: action, Way: Peer, Result: Done, Reason: what}.line()
	if err != nil {
		return err
	}
	return l.to.write(line)
}

// Close writes what is to be written, and closes the file. Later entries are lost.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.waiting)
	}
	l.mu.Unlock()
	<-l.ended
	return l.to.close()
}
