package workload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	swfFields    = 18
	swfMaxFields = swfFields + 1

	// swfPreceding is the field, from 0, that names the job that a record waits for.
	swfPreceding = 16

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
// Lines may have further columns of any content, as those of the simulator Alea
// do, if all have as many as the first record's line; these are ignored, the 19th
// too, which is no site then. Above the records one line of names may stand
// without a semicolon, and a record may wait for several jobs ("4&5"): such a one
// waits for none here. The report counts columns and records.
//
// Malformed lines are a [*MalformedError], or with [ReadOptions.Lenient] counted
// in the report. A file that cannot be read to its end is always an error.
func ReadSWF(r io.Reader, o ReadOptions) (*Trace, error) {
	p := swfParser{trace: &Trace{}}
	if err := swfEach(r, o, &p.trace.Report, p.line, func() int { return len(p.trace.Records) }); err != nil {
		return nil, err
	}
	p.trace.sort()
	return p.trace, nil
}

// swfEach hands every line that is not empty to a parser, which says what is wrong with it, if
// anything. The problems are an error, or go into the report; records counts what could be read.
func swfEach(
	r io.Reader, o ReadOptions, report *Report, parse func(line []byte, number int) lineFault, records func() int,
) error {
	lines, err := swfOpen(r, o)
	if err != nil {
		return err
	}
	faults := swfFaults{file: o.file()}
	for {
		line, long, err := lines.next()
		if errors.Is(err, io.EOF) {
			report.Lines = lines.line
			return faults.settle(o, report, records())
		}
		if err != nil {
			return err
		}
		var fault lineFault
		switch {
		case long:
			fault.text = fmt.Sprintf("line longer than %d bytes, beginning with %s", swfMaxLine, problems.Quote(line))
		case len(bytes.TrimLeft(line, " \t")) > 0:
			fault = parse(line, lines.line)
		}
		if fault.text != "" {
			faults.add(lines.line, fault)
		}
	}
}

// swfParser turns lines into records.
type swfParser struct {
	trace  *Trace
	shape  swfShape
	titled bool                // there was a line of names
	values [swfMaxFields]int64 // of the line being read, times in ms
}

// swfShape is how the lines of records are made.
type swfShape struct {
	line    int // number of the record's line that set it; zero while none has
	columns int // of each line; 0: 18, or 19 with a site
	numbers int // how many of them are read: 18 or 19
}

// swfShapeOf finds out what other lines must be like if a line is a record.
func swfShapeOf(line []byte, number int) swfShape {
	columns, last := swfColumns(line, 0)
	if columns == swfMaxFields {
		if _, _, problem := swfNumber(last, swfWhole); problem == "" {
			columns = 0
		}
	}
	if columns <= swfFields {
		return swfShape{line: number, numbers: swfMaxFields}
	}
	return swfShape{line: number, columns: columns, numbers: swfFields}
}

func (p *swfParser) line(line []byte, number int) (fault lineFault) {
	start := swfSkip(line, 0)
	if line[start] == ';' {
		p.trace.Header = append(p.trace.Header, string(line[start+1:]))
		return lineFault{}
	}
	shape := p.shape
	if shape.line == 0 {
		if !p.titled && swfTitle(line) {
			p.titled = true
			p.trace.Header = append(p.trace.Header, " "+string(line))
			return lineFault{}
		}
		shape = swfShapeOf(line, number)
	}
	if fault = p.fields(line, shape); fault.text != "" {
		return fault
	}
	if p.shape.line == 0 {
		p.shape = shape
		p.trace.Report.Columns = max(0, shape.columns-swfFields)
		p.trace.Records = make([]Record, 0, p.trace.Header.records())
	}
	p.record()
	return lineFault{}
}

// fields reads the numbers of a line into p.values. It is the inner loop of the
// reading.
func (p *swfParser) fields(line []byte, shape swfShape) (fault lineFault) {
	n, i := 0, swfSkip(line, 0)
	for ; i < len(line) && n < shape.numbers; i = swfSkip(line, i) {
		value, next := swfPlain(line, i)
		switch {
		case next < 0:
			next = swfEnd(line, i)
			var text string
			if value, text = p.number(n, line[i:next]); text != "" {
				return fieldFault(n+1, swfFieldName(n), text)
			}
		case value > 0 && swfTimes>>n&1 == 1:
			value *= 1000
		}
		p.values[n] = value
		i = next
		n++
	}
	more, _ := swfColumns(line, i)
	if columns := n + more; columns < swfFields || shape.columns == 0 && more > 0 || shape.columns > 0 && columns != shape.columns {
		return shape.wrong(columns, line)
	}
	if n == swfFields {
		p.values[swfFields] = Unknown
	}
	return lineFault{}
}

func (p *swfParser) number(n int, token []byte) (value int64, problem string) {
	if n == swfPreceding && swfSeveral(token) {
		p.trace.Report.Several++
		return Unknown, ""
	}
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

// swfColumns counts the fields of a line from an index on, and returns the last.
func swfColumns(line []byte, i int) (n int, last []byte) {
	for i = swfSkip(line, i); i < len(line); i = swfSkip(line, i) {
		end := swfEnd(line, i)
		last, i = line[i:end], end
		n++
	}
	return n, last
}

// wrong says that a line has another number of fields than it should.
func (s swfShape) wrong(columns int, line []byte) lineFault {
	if s.columns == 0 {
		return lineFault{text: fmt.Sprintf("%d fields where a record has %d, or %d with a site: %s",
			columns, swfFields, swfMaxFields, problems.Quote(line))}
	}
	return lineFault{text: fmt.Sprintf("%d fields where the first record, on line %d, has %d: %s", columns, s.line, s.columns, problems.Quote(line))}
}

// swfTitle tells a line of names from a record: as many as a record has fields,
// and each begins with a letter.
func swfTitle(line []byte) bool {
	names := bytes.Fields(line)
	return len(names) >= swfFields && !slices.ContainsFunc(names, func(name []byte) bool {
		return name[0]|0x20 < 'a' || name[0]|0x20 > 'z'
	})
}

// swfSeveral tells a list of job numbers, as "4&5&6".
func swfSeveral(token []byte) bool {
	numbers := bytes.Split(token, []byte{'&'})
	return len(numbers) > 1 && !slices.ContainsFunc(numbers, func(number []byte) bool {
		return len(number) == 0 || slices.ContainsFunc(number, func(c byte) bool { return c < '0' || c > '9' })
	})
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
