package workload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	swfFields    = 18
	swfMaxFields = swfFields + 1

	// swfTimes has a bit for each field, from 0, that holds seconds.
	swfTimes = 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<8 | 1<<17

	// swfMaxHint bounds how many records are made room for on the word of a header.
	swfMaxHint = 1 << 18
)

// ReadSWF reads a trace in the Standard Workload Format 2.2, packed by gzip or
// not. A line has 18 fields, or 19 ([Record.Extra]). Comments between records
// move to the end of the header. Times may have fractions; those of memory
// sizes are rounded away. Values below zero other than −1 are taken as −1, and
// records that are not in the order of their submissions are sorted stably; the
// trace's report counts both.
//
// Malformed lines are a [*MalformedError], or with [ReadOptions.Lenient] counted
// in the report. A file that cannot be read to its end is always an error.
func ReadSWF(r io.Reader, o ReadOptions) (*Trace, error) {
	p := swfParser{trace: &Trace{}, faults: swfFaults{options: o}}
	n, err := swfEach(r, o, &p.faults, p.line)
	if err != nil {
		return nil, err
	}
	p.trace.Report.Lines = n
	if err := p.faults.settle(&p.trace.Report); err != nil {
		return nil, err
	}
	p.trace.sort()
	return p.trace, nil
}

// swfEach hands every line that is not empty to a parser, and returns how many
// lines there are.
func swfEach(r io.Reader, o ReadOptions, faults *swfFaults, parse func(line []byte, number int)) (int, error) {
	lines, err := swfOpen(r, o)
	if err != nil {
		return 0, err
	}
	for {
		line, long, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return lines.line, nil
		case err != nil:
			return 0, err
		case long:
			faults.add(Problem{
				Line: lines.line,
				Text: fmt.Sprintf("line longer than %d bytes, beginning with %s", swfMaxLine, swfQuote(line)),
			})
		case len(bytes.TrimLeft(line, " \t")) > 0:
			parse(line, lines.line)
		}
	}
}

// swfParser turns lines into records.
type swfParser struct {
	trace  *Trace
	faults swfFaults
	values [swfMaxFields]int64 // of the line being read, times in ms
}

func (p *swfParser) line(line []byte, number int) {
	start := swfSkip(line, 0)
	if line[start] == ';' {
		p.trace.Header = append(p.trace.Header, string(line[start+1:]))
		return
	}
	if problem, ok := p.fields(line); !ok {
		problem.Line = number
		p.faults.add(problem)
		return
	}
	if p.trace.Records == nil {
		p.trace.Records = make([]Record, 0, p.trace.Header.records())
	}
	p.record()
}

// fields reads the numbers of a line into p.values. It is the inner loop of the
// reading.
func (p *swfParser) fields(line []byte) (problem Problem, ok bool) {
	n := 0
	for i := swfSkip(line, 0); i < len(line); i = swfSkip(line, i) {
		if n == swfMaxFields {
			return Problem{Text: swfWrongCount(line)}, false
		}
		value, next := swfPlain(line, i)
		switch {
		case next < 0:
			next = swfEnd(line, i)
			var text string
			if value, text = p.number(n, line[i:next]); text != "" {
				return Problem{Field: n + 1, Name: swfFieldName(n), Text: text}, false
			}
		case value > 0 && swfTimes>>n&1 == 1:
			value *= 1000
		}
		p.values[n] = value
		i = next
		n++
	}
	if n < swfFields {
		return Problem{Text: swfWrongCount(line)}, false
	}
	if n == swfFields {
		p.values[swfFields] = Unknown
	}
	return Problem{}, true
}

func (p *swfParser) number(n int, token []byte) (value int64, problem string) {
	value, negative, problem := swfNumber(token, swfFieldKind(n))
	if negative {
		p.trace.Report.Negative++
	}
	return value, problem
}

func (p *swfParser) record() {
	v := &p.values
	p.trace.Records = append(p.trace.Records, Record{
		ID: v[0], Submit: protocol.Instant(v[1]),
		Wait: protocol.Duration(v[2]), Run: protocol.Duration(v[3]),
		CPUs: int(v[4]), CPUTime: protocol.Duration(v[5]), Memory: v[6],
		ReqCPUs: int(v[7]), ReqTime: protocol.Duration(v[8]), ReqMemory: v[9],
		Status: int(v[10]), User: int(v[11]), Group: int(v[12]), App: int(v[13]),
		Queue: int(v[14]), Partition: int(v[15]), After: v[16], Think: protocol.Duration(v[17]),
		Extra: int(v[18]),
	})
}

// sort puts the records into the order of their submissions and counts what was
// not in order.
func (t *Trace) sort() {
	latest := protocol.Instant(Unknown)
	for i := range t.Records {
		r := &t.Records[i]
		if r.Submit < latest {
			t.Report.SubmitBack++
		}
		latest = max(latest, r.Submit)
		if i > 0 && r.ID <= t.Records[i-1].ID {
			t.Report.IDsBack++
		}
	}
	if t.Report.SubmitBack > 0 {
		slices.SortStableFunc(t.Records, func(a, b Record) int { return cmp.Compare(a.Submit, b.Submit) })
	}
}

// records is how many records the header announces, within a bound.
func (h Header) records() int {
	for _, key := range []string{"MaxRecords", "MaxJobs"} {
		if n, ok := h.Int(key); ok && n > 0 {
			return int(min(n, swfMaxHint))
		}
	}
	return 0
}

func swfSkip(line []byte, i int) int {
	for i < len(line) && swfBlank(line[i]) {
		i++
	}
	return i
}

func swfEnd(line []byte, i int) int {
	for i < len(line) && !swfBlank(line[i]) {
		i++
	}
	return i
}

func swfWrongCount(line []byte) string {
	n := 0
	for i := swfSkip(line, 0); i < len(line); i = swfSkip(line, swfEnd(line, i)) {
		n++
	}
	return fmt.Sprintf("%d fields where a record has %d, or %d with a site: %s",
		n, swfFields, swfMaxFields, swfQuote(line))
}

func swfFieldKind(n int) swfKind {
	switch n {
	case 4, 7:
		return swfCPUs
	case 6, 9:
		return swfKB
	}
	if swfTimes>>n&1 == 1 {
		return swfSeconds
	}
	return swfWhole
}

func swfFieldName(n int) string {
	return [swfMaxFields]string{
		"job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time",
		"used memory", "requested processors", "requested time", "requested memory", "status", "user",
		"group", "executable", "queue", "partition", "preceding job", "think time", "site",
	}[n]
}
