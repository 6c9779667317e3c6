package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

const (
	// swfMaxLine bounds a line, so that a file without line ends is reported as such
	// and does not fill the memory. The longest real lines, of headers and of
	// resource lists of the Grid Workloads Archive, stay far below.
	swfMaxLine = 64 << 10

	swfBuffer = 4 * swfMaxLine
)

// swfLines cuts a stream, compressed by gzip or not, into lines. A [bufio.Reader] does so too,
// and makes reading a log a sixth slower.
type swfLines struct {
	from  io.Reader
	name  string
	buf   []byte
	start int  // of what is not yet cut
	end   int  // of what was read
	done  bool // nothing more to be read
	line  int  // number of the last line cut
}

// swfOpen looks at the first bytes and unpacks what gzip packed. Text of another
// kind than the one that all traces are of is an error at once: each of its lines
// would be one.
func swfOpen(r io.Reader, o ReadOptions) (*swfLines, error) {
	peeked := bufio.NewReaderSize(r, swfMaxLine)
	lines := &swfLines{from: peeked, name: o.file(), buf: make([]byte, swfBuffer)}
	// A short or failed look is no error here: the same comes again on reading.
	if magic, _ := peeked.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(peeked)
		if err != nil {
			return nil, lines.broken(err)
		}
		peeked = bufio.NewReaderSize(unpacked, swfMaxLine)
		lines.from = peeked
	}
	if start, _ := peeked.Peek(4); swfUTF16(start) {
		return nil, fmt.Errorf("%s: the text is in UTF-16, as PowerShell's > and Excel write it; "+
			"make it UTF-8 with: iconv -f UTF-16 -t UTF-8", lines.name)
	}
	return lines, nil
}

// swfUTF16 tells by the beginning of a file, its byte order mark or the zeros
// that Latin letters and digits have there.
func swfUTF16(start []byte) bool {
	if len(start) < 4 {
		return false
	}
	little := start[0] != 0 && start[1] == 0 && start[2] != 0 && start[3] == 0
	big := start[0] == 0 && start[1] != 0 && start[2] == 0 && start[3] != 0
	return little || big || bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff"))
}

// next cuts a line, without its end, valid until the next call. Of a line above
// the bound it returns the first bytes and true. The error is io.EOF after the
// last line; a last line without an end counts.
func (l *swfLines) next() (line []byte, long bool, err error) {
	for searched := 0; ; {
		rest := l.buf[l.start:l.end]
		if i := bytes.IndexByte(rest[searched:], '\n'); i >= 0 {
			return l.cut(searched+i, 1)
		}
		if l.done {
			if len(rest) == 0 {
				return nil, false, io.EOF
			}
			return l.cut(len(rest), 0)
		}
		if len(rest) > swfMaxLine {
			return l.skipLong()
		}
		searched = len(rest)
		if err = l.fill(); err != nil {
			return nil, false, err
		}
	}
}

// cut takes n bytes and a line end off the front, and a byte order mark off the
// first line.
func (l *swfLines) cut(n, end int) (line []byte, long bool, err error) {
	line = l.buf[l.start : l.start+n]
	l.start += n + end
	l.line++
	if l.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return bytes.TrimRight(line, "\r"), n > swfMaxLine, nil
}

// skipLong drops a line above the bound, up to its end wherever that is.
func (l *swfLines) skipLong() (line []byte, long bool, err error) {
	l.line++
	head := bytes.Clone(l.buf[l.start : l.start+swfMaxLine])
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			l.start += i + 1
			return head, true, nil
		}
		l.start = l.end
		if l.done {
			return head, true, nil
		}
		if err = l.fill(); err != nil {
			return nil, false, err
		}
	}
}

// fill moves what is not yet cut to the front and reads behind it. The buffer
// has room: no more than one line below the bound is ever kept.
func (l *swfLines) fill() error {
	l.end = copy(l.buf, l.buf[l.start:l.end])
	l.start = 0
	n, err := io.ReadAtLeast(l.from, l.buf[l.end:], 1)
	l.end += n
	if errors.Is(err, io.EOF) {
		l.done = true
		return nil
	}
	if err != nil {
		return l.broken(err)
	}
	return nil
}

// broken tells where reading failed. Such a file is an error for a lenient
// reader too: what is missing cannot be counted.
func (l *swfLines) broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		return fmt.Errorf("%s: after line %d: the compressed file is damaged or cut short, fetch it again: %w",
			l.name, l.line, err)
	}
	return fmt.Errorf("%s: after line %d: %w", l.name, l.line, err)
}
