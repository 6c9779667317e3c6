package workload

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// swfMaxProblems bounds how many problems of one file are reported.
const swfMaxProblems = 20

// ReadOptions says how a trace is read.
type ReadOptions struct {
	Name    string // of the file, for messages
	Lenient bool   // malformed lines are left out and counted, where they would be an error
}

func (o ReadOptions) file() string {
	if o.Name == "" {
		return "trace"
	}
	return o.Name
}

// MalformedError says which lines of a trace cannot be read and why, as one
// line of text for each problem.
type MalformedError struct {
	problems.FileError

	Read int // lines that can be read: records
}

// swfFaults collects the problems of one reading.
type swfFaults struct {
	file  string
	first problems.List
	count int
}

func (f *swfFaults) add(line int, fault lineFault) {
	f.count++
	if len(f.first) < swfMaxProblems {
		f.first.Add(problems.Place{File: f.file, Line: line, Key: fault.field}, "%s", fault.text)
	}
}

// settle ends a reading of the given number of records: the problems are an error, or
// they go into the report.
func (f *swfFaults) settle(o ReadOptions, report *Report, records int) error {
	if f.count == 0 {
		return nil
	}
	if !o.Lenient {
		return &MalformedError{problems.FileError{List: f.first, More: f.count - len(f.first)}, records}
	}
	report.Skipped, report.Problems = f.count, f.first
	return nil
}

// lineFault is what is wrong with a line; without a text: nothing.
type lineFault struct {
	field string // the key of the problem; empty: of no single field
	text  string
}

// fieldFault says where in a line something is wrong: in which field, from 1, of which name.
func fieldFault(n int, name, text string) lineFault {
	return lineFault{fmt.Sprintf("field %d (%s)", n, name), text}
}
