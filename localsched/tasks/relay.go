package tasks

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// maxLine is how much of a line is kept until its end comes, in bytes.
const maxLine = 1 << 16

// sink is an output of srun, to which its tasks write. Of several at once each writes whole lines.
type sink struct {
	mu     sync.Mutex
	to     io.Writer
	failed error // the first
}

func (s *sink) write(parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return
	}
	_, s.failed = s.to.Write(bytes.Join(parts, nil))
}

// relay copies a task's output to the sink until its end, each line behind the label. If unbuffered, it does not wait for
// the ends of lines.
func (s *sink) relay(from io.Reader, label string, unbuffered bool) {
	if unbuffered && label == "" {
		chunk := make([]byte, maxLine)
		for {
			n, err := from.Read(chunk)
			if n > 0 {
				s.write(chunk[:n])
			}
			if err != nil {
				return
			}
		}
	}
	lines := bufio.NewReaderSize(from, maxLine)
	for begun := false; ; {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			head := []byte(label)
			if begun {
				head = nil
			}
			begun = errors.Is(err, bufio.ErrBufferFull)
			tail := []byte(nil)
			if label != "" && err != nil && !begun {
				tail = []byte{'\n'}
			}
			s.write(head, line, tail)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// broadcast copies what is read to all of some pipes, and closes them. One that takes nothing more gets nothing more.
func broadcast(from io.Reader, to []io.WriteCloser) {
	chunk := make([]byte, maxLine)
	for {
		n, err := from.Read(chunk)
		for i, pipe := range to {
			if n == 0 || pipe == nil {
				continue
			}
			if _, failed := pipe.Write(chunk[:n]); failed != nil {
				_ = pipe.Close()
				to[i] = nil
			}
		}
		if err != nil {
			break
		}
	}
	for _, pipe := range to {
		if pipe != nil {
			_ = pipe.Close()
		}
	}
}
