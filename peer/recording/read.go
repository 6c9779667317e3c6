package recording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
)

// ErrCut says that the recording stops without its end, because the peer was
// killed or its machine failed. All that was read before can be used.
var ErrCut = errors.New("the recording is cut off")

// Reader reads a recording, one step at a time. Its errors name the file and the
// entry, counted from 1 with the header; they are final.
type Reader struct {
	name     string
	in       *bufio.Reader
	closer   io.Closer // nil: not ours
	dec      decoder
	accounts *answers
	header   Header
	rows     []row.Record
	entries  int    // read
	steps    uint64 // read
	end      End
	err      error
}

// Open opens a recording, compressed with gzip or not, and reads its header and
// rows.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	r, err := NewReader(path, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.closer = f
	return r, nil
}

// NewReader is [Open] on what another reader gives. The name is for errors.
func NewReader(name string, from io.Reader) (*Reader, error) {
	in := bufio.NewReaderSize(from, 64<<10)
	if head, err := in.Peek(2); err == nil && head[0] == 0x1f && head[1] == 0x8b {
		plain, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("recording %s: %w", name, err)
		}
		in = bufio.NewReaderSize(plain, 64<<10)
	}
	r := &Reader{name: name, in: in, accounts: &answers{}}
	r.dec = decoder{kinds: newKinds(), accounts: r.accounts, costs: r.accounts, curve: r.accounts.curve}
	if err := r.title(); err != nil {
		return nil, fmt.Errorf("recording %s: %w", name, err)
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	return r, nil
}

// title reads the first line.
func (r *Reader) title() error {
	line, err := r.in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
	if words[0] != magic || len(words) != 3 {
		return fmt.Errorf("is no recording: its first line does not begin with %q", magic)
	}
	if words[1] != strconv.Itoa(Format) {
		return fmt.Errorf("has format %.20q, written by %.100q; this version reads format %d. Use the version that wrote it",
			words[1], words[2], Format)
	}
	return nil
}

// begin reads the header and the rows.
func (r *Reader) begin() error {
	e, err := r.next()
	switch {
	case err != nil:
		return err
	case e.Header == nil:
		return r.fault(errors.New("the header is not there"))
	}
	r.header = *e.Header
	for range r.header.Rows {
		if e, err = r.next(); err != nil {
			return err
		}
		if e.Row == nil {
			return r.fault(fmt.Errorf("row %d of %d is not there", len(r.rows)+1, r.header.Rows))
		}
		rec, err := e.Row.record()
		if err != nil {
			return r.fault(err)
		}
		r.rows = append(r.rows, rec)
	}
	return nil
}

// Header is what the recorded peer was made from. A peer that is made with its
// Config, whose Accounts, Costs and Waiting answer as they did in the step read last, its Seed and
// [Reader.Rows] makes the same steps.
func (r *Reader) Header() Header { return r.header }

// Rows are the rows that the recorded peer began with.
func (r *Reader) Rows() []row.Record { return r.rows }

// End is how the recording ended, once [Reader.Next] has returned [io.EOF].
func (r *Reader) End() End { return r.end }

// Next returns the next step; [io.EOF] after the last one, an error that is
// [ErrCut] if the end is missing, and another one if the recording is damaged.
func (r *Reader) Next() (Step, error) {
	if r.err != nil {
		return Step{}, r.err
	}
	step, err := r.step()
	r.err = err
	return step, err
}

func (r *Reader) step() (Step, error) {
	e, err := r.next()
	switch {
	case err != nil:
		return Step{}, err
	case e.End != nil:
		return Step{}, r.finish(*e.End)
	case e.Step == nil || e.Step.Event == nil:
		return Step{}, r.fault(errors.New("is neither a step nor the end"))
	case e.Step.N != r.steps+1:
		return Step{}, r.fault(fmt.Errorf("step %d comes after step %d", e.Step.N, r.steps))
	}
	if in, ok := e.Step.Event.(event.MessageIn); ok && in.Body == nil {
		return Step{}, r.fault(errors.New("a message is empty"))
	}
	r.steps++
	*r.accounts = answers{of: e.Step.Answers, charges: e.Step.Charges, rates: e.Step.Rates}
	return *e.Step, nil
}

func (r *Reader) finish(end End) error {
	r.end = end
	if end.Steps != r.steps {
		return r.fault(fmt.Errorf("the recording ends after %d steps, but has %d", end.Steps, r.steps))
	}
	switch _, err := r.in.ReadByte(); {
	case err == nil:
		return r.fault(errors.New("something follows the end"))
	case !errors.Is(err, io.EOF):
		return r.fault(err)
	}
	return io.EOF
}

// maxLine bounds an entry, in bytes: no step comes near it.
const maxLine = 1 << 28

// line is the next line with its end.
func (r *Reader) line() (line []byte, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		if line = append(line, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("an entry has more than %d bytes, which no step has", maxLine)
		}
	}
}

// next reads a line.
func (r *Reader) next() (entry, error) {
	r.entries++
	line, err := r.line()
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return entry{}, r.cut(len(line))
	case err != nil:
		return entry{}, r.fault(err)
	}
	line = line[:len(line)-1]
	if len(line) < crcSize || crcOf(line[crcSize:]) != string(line[:crcSize]) {
		return entry{}, r.damaged()
	}
	e, err := r.parse(line[crcSize:])
	if err != nil {
		return entry{}, r.fault(err)
	}
	return e, nil
}

func (r *Reader) parse(data []byte) (entry, error) {
	var e entry
	parsed := json.NewDecoder(bytes.NewReader(data))
	parsed.UseNumber()
	var from any
	if err := parsed.Decode(&from); err != nil {
		return e, err
	}
	if err := r.dec.into(reflect.ValueOf(&e).Elem(), from); err != nil {
		return e, err
	}
	if _, _, err := only(from); err != nil {
		return e, err
	}
	return e, nil
}

// damaged tells a last line that was half written when the power failed from
// damage inside the file.
func (r *Reader) damaged() error {
	if _, err := r.in.ReadByte(); errors.Is(err, io.EOF) {
		return r.cut(1)
	}
	return r.fault(errors.New("its checksum is wrong: the recording has been changed or damaged"))
}

func (r *Reader) cut(rest int) error {
	if rest == 0 {
		return fmt.Errorf("recording %s: %w after entry %d: its peer still runs, or was killed; its %d steps are whole",
			r.name, ErrCut, r.entries-1, r.steps)
	}
	return fmt.Errorf("recording %s: %w inside entry %d; the %d steps before it are whole",
		r.name, ErrCut, r.entries, r.steps)
}

func (r *Reader) fault(err error) error {
	return fmt.Errorf("recording %s, entry %d: %w", r.name, r.entries, err)
}

// Close closes what Open opened.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}
