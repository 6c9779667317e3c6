package pluginhost

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// hear reads what the process writes. Should others hold its pipe open after its
// end, they are not listened to for long.
func (p *process) hear(from *os.File, read func(io.Reader)) {
	const rest = 200 * time.Millisecond
	over := make(chan struct{})
	go func() {
		defer from.Close() //nolint:errcheck // it was only read
		select {
		case <-over:
		case <-p.ended:
			_ = from.SetReadDeadline(time.Now().Add(rest))
			<-over
		}
	}()
	read(from)
	close(over)
}

// readHello passes the first line on, if it is good, and drops the rest.
func (p *process) readHello(from io.Reader) {
	line, err := firstLine(from)
	if err == nil {
		err = checkHello(line, p.dir, p.spec.Plain)
	}
	p.helloErr = err
	if err == nil {
		_, _ = io.WriteString(p.helloIn, line)
	}
	_ = p.helloIn.Close()
	_, _ = io.Copy(io.Discard, from)
}

// firstLine reads a line byte by byte, with its end. What is longer than any good one
// is given up.
func firstLine(from io.Reader) (string, error) {
	const most = 16 << 10
	var line strings.Builder
	one := make([]byte, 1)
	for line.Len() < most {
		n, err := from.Read(one)
		if n == 1 {
			line.WriteByte(one[0])
			if one[0] == '\n' {
				return line.String(), nil
			}
		}
		if err != nil {
			break
		}
	}
	if line.Len() == 0 {
		return "", errors.New("it said nothing")
	}
	return line.String(), nil
}
