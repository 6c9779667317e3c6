package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
)

// Config says where a log is.
type Config struct {
	Path    string
	MaxSize int64        // bytes, from which on the file is set aside
	Files   int          // with those that were set aside, as Path.1, the youngest, and so on; at least 1
	Log     *slog.Logger // where it is said that entries are lost
	Lost    func()       // called for each entry that is lost
}

// Log is an audit log. The nil Log keeps nothing. Its methods may be called from any goroutine.
type Log struct {
	cfg Config

	mu   sync.Mutex
	file *os.File    // nil: it must be opened
	info fs.FileInfo // of the file, as it was opened
	size int64
	torn bool // the last line may not be whole
	lost int  // entries since the last one that was written
}

// Open opens the log, and makes its file if there is none.
func Open(cfg Config) (*Log, error) {
	l := &Log{cfg: cfg}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// Write adds an entry. One that cannot be written is counted and said in the log of the peer: what it is about
// has happened.
func (l *Log) Write(e Entry) {
	if l == nil {
		return
	}
	line, err := e.line()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		err = l.write(line)
	}
	if err != nil {
		l.lost++
		l.cfg.Lost()
		if l.lost == 1 {
			l.cfg.Log.Error("audit_write_failed", "file", l.cfg.Path, "error", err, "advice", "entries are lost until the file can be written again")
		}
		return
	}
	if l.lost > 0 {
		l.cfg.Log.Warn("audit_write_resumed", "file", l.cfg.Path, "lost_entries", l.lost)
		l.lost = 0
	}
}

// Close closes the file. Later entries are lost.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// write appends a line to the file that the path names now.
func (l *Log) write(line []byte) error {
	if err := l.follow(); err != nil {
		return err
	}
	if l.size > 0 && l.size+int64(len(line)) > l.cfg.MaxSize {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if l.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	if err != nil {
		l.torn = l.torn || n > 0
		return errors.Join(err, l.forget())
	}
	l.torn = false
	return nil
}

// follow opens the file if it is not open, or if another program has moved it away (logrotate does).
func (l *Log) follow() error {
	if l.file != nil {
		if there, err := os.Stat(l.cfg.Path); err == nil && os.SameFile(there, l.info) {
			return nil
		}
		if err := l.forget(); err != nil {
			return err
		}
	}
	return l.open()
}

// forget closes the file; it is opened again with the next entry.
func (l *Log) forget() error {
	err := l.file.Close()
	l.file = nil
	return err
}

func (l *Log) open() error {
	file, err := os.OpenFile(l.cfg.Path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", l.cfg.Path)
	}
	last := []byte{'\n'}
	if err == nil && info.Size() > 0 {
		_, err = file.ReadAt(last, info.Size()-1)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return errors.Join(err, file.Close())
	}
	l.file, l.info, l.size, l.torn = file, info, info.Size(), last[0] != '\n'
	return nil
}

// rotate sets the file aside, drops the oldest one, and opens a new one.
func (l *Log) rotate() error {
	if err := l.forget(); err != nil {
		return err
	}
	aside := func(n int) string {
		if n == 0 {
			return l.cfg.Path
		}
		return fmt.Sprintf("%s.%d", l.cfg.Path, n)
	}
	if err := os.Remove(aside(l.cfg.Files - 1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for n := l.cfg.Files - 2; n >= 0; n-- {
		if err := os.Rename(aside(n), aside(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.open()
}
