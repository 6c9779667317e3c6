package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// swfMaxProblems bounds how many problems of one file are told.
const swfMaxProblems = 20

// ReadOptions says how a trace is read.
type ReadOptions struct {
	Name    string // of the file, for messages
	Lenient bool   // malformed lines are left out and counted, where they would be an error
}

// Problem is what is wrong with one line of a trace.
type Problem struct {
	Line  int    // from 1
	Field int    // from 1; 0: the line as a whole
	Name  string // of the field
	Text  string // what is wrong, with what was read
}

// String says where and what: `17: field 4 (run time): "12x" is not a number`.
func (p Problem) String() string {
	if p.Field == 0 {
		return fmt.Sprintf("%d: %s", p.Line, p.Text)
	}
	return fmt.Sprintf("%d: field %d (%s): %s", p.Line, p.Field, p.Name, p.Text)
}

// MalformedError says which lines of a trace cannot be read and why, as one
// line of text for each problem.
type MalformedError struct {
	File     string
	Problems []Problem // the first ones
	More     int       // further lines that cannot be read
	Read     int       // lines that can be: records
}

// Error lists the problems, each with file and line.
func (e *MalformedError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.File + ":" + p.String())
	}
	if e.More > 0 {
		b.WriteString("\n" + e.File + ": and " + strconv.Itoa(e.More) + " more")
	}
	return b.String()
}

// swfFaults collects the problems of one reading.
type swfFaults struct {
	options  ReadOptions
	problems []Problem
	count    int
}

func (f *swfFaults) add(p Problem) {
	f.count++
	if len(f.problems) < swfMaxProblems {
		f.problems = append(f.problems, p)
	}
}

// settle ends a reading that gave so many records: the problems are an error, or
// they go into the report.
func (f *swfFaults) settle(report *Report, records int) error {
	if f.count == 0 {
		return nil
	}
	if !f.options.Lenient {
		return &MalformedError{
			File: f.options.file(), Problems: f.problems, More: f.count - len(f.problems), Read: records,
		}
	}
	report.Skipped, report.Problems = f.count, f.problems
	return nil
}

func (o ReadOptions) file() string {
	if o.Name == "" {
		return "trace"
	}
	return o.Name
}
