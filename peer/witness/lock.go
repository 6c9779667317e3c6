package witness

import (
	"errors"
	"io"
	"net"
	"time"
)

// Lock keeps a second peer of a site from starting on the same machine, whatever its state
// directory. The kernel gives it up with the process.
type Lock struct {
	listener net.Listener
	words    string
}

// HeldError says that another peer of the site runs on this machine.
type HeldError struct{ Holder string }

func (e *HeldError) Error() string {
	return "another peer of this site runs on this machine already: " + e.Holder +
		"; stop that one, or give this site a key, a name and a number of its own"
}

// answerTime is how long the holder of a lock may take to say who it is.
const answerTime = 2 * time.Second

// serve answers every caller that asks who holds the lock.
func (l *Lock) serve() {
	for {
		conn, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(answerTime / 10) // no descriptors, for a moment
			continue
		}
		_ = conn.SetDeadline(time.Now().Add(answerTime))
		_, _ = io.WriteString(conn, l.words)
		_ = conn.Close()
	}
}

// Close gives the lock up.
func (l *Lock) Close() error {
	if l.listener == nil {
		return nil
	}
	return l.listener.Close()
}

// holderOf reads who holds a lock. The error is [io.EOF] if the connection ends without a word.
func holderOf(conn net.Conn) (string, error) {
	_ = conn.SetDeadline(time.Now().Add(answerTime))
	words, err := io.ReadAll(io.LimitReader(conn, 4096))
	if err == nil && len(words) == 0 {
		err = io.EOF
	}
	return string(words), err
}
