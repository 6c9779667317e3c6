package transfer

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// errIdle ends a stream on which nothing was asked for a while.
var errIdle = errors.New("nothing was asked for a while")

// stream is a connection on which this side asks. Answers come in the order of the questions.
type stream struct {
	conn   net.Conn
	timing Timing
	gone   chan struct{} // closed when it has ended

	sending sync.Mutex // held while a question is sent, so that questions wait in the order in which they were sent

	mu       sync.Mutex
	waiting  []chan<- []byte // for the answers to the questions under way, oldest first
	answered bool            // an answer has come
	ended    error           // why it has ended; nil: it has not
}

func newStream(conn net.Conn, timing Timing) *stream {
	return &stream{conn: conn, timing: timing, gone: make(chan struct{})}
}

// load is how many questions are under way.
func (s *stream) load() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// ask sends a question and waits for its answer. An error other than the context's says that
// the stream has ended.
func (s *stream) ask(ctx context.Context, question []byte) ([]byte, error) {
	answer := make(chan []byte, 1)
	if err := s.send(question, answer); err != nil {
		return nil, err
	}
	select {
	case data, came := <-answer:
		if !came {
			return nil, s.reason()
		}
		return data, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *stream) send(question []byte, answer chan<- []byte) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if err := s.enter(answer); err != nil {
		return err
	}
	if err := writeFrame(s.conn, question, s.timing.Stall); err != nil {
		_ = s.conn.Close() // run notices, and closes the channel
	}
	return nil
}

// enter has a question wait for its answer.
func (s *stream) enter(answer chan<- []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return s.ended
	}
	s.waiting = append(s.waiting, answer)
	if len(s.waiting) == 1 {
		_ = s.conn.SetReadDeadline(time.Now().Add(s.timing.Stall)) // fails if it is closed, which run notices
	}
	return nil
}

// run hands answers to those who wait, until the connection ends.
func (s *stream) run() {
	err := s.read()
	_ = s.conn.Close()
	s.mu.Lock()
	waiting := s.waiting
	if len(waiting) == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		err = errIdle
	}
	s.ended, s.waiting = err, nil
	s.mu.Unlock()
	close(s.gone)
	for _, answer := range waiting {
		close(answer)
	}
}

func (s *stream) read() error {
	for {
		answer, err := readFrame(s.conn, MaxFrame, s.extend)
		if err != nil {
			return err
		}
		first := s.next()
		if first == nil {
			return errors.New("an answer to no question")
		}
		first <- answer
	}
}

// next takes off the one who waits for the answer that has come; nil: there is none.
func (s *stream) next() (first chan<- []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return nil
	}
	first, s.waiting = s.waiting[0], s.waiting[1:]
	s.answered = true
	return first
}

// extend sets until when the next bytes have to be here.
func (s *stream) extend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	span := s.timing.Stall
	if len(s.waiting) == 0 {
		span = s.timing.Idle
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(span))
}

// over says whether the stream has ended.
func (s *stream) over() bool { return s.reason() != nil }

// reason is why the stream has ended; nil: it has not.
func (s *stream) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// useless says whether the stream has ended without an answer, so that another one would fare
// no better now.
func (s *stream) useless() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.answered && !errors.Is(s.ended, errIdle)
}
