package partition

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostProblems bounds how many problems of one file are told.
const mostProblems = 1000

// Problem is what is wrong with one line of a file.
type Problem struct {
	Line int    // from 1; 0: the file as a whole
	Text string // what is wrong, and what to do
}

// MalformedError says what is wrong with a file, as one line of text for each
// problem: `intrepid.csv:17: …`.
type MalformedError struct {
	File     string
	Problems []Problem // in the order of their lines; the first 1,000
	More     int       // further ones
}

// Error lists the problems, each with file and line.
func (e *MalformedError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.File)
		if p.Line > 0 {
			b.WriteString(":" + strconv.Itoa(p.Line))
		}
		b.WriteString(": " + p.Text)
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n%s: and %d more", e.File, e.More)
	}
	return b.String()
}

// problems are collected while a file is read.
type problems struct {
	list []Problem
	more int
}

func (p *problems) add(line int, format string, args ...any) {
	if len(p.list) == mostProblems {
		p.more++
		return
	}
	p.list = append(p.list, Problem{line, fmt.Sprintf(format, args...)})
}

// err is what was collected, or nil.
func (p *problems) err(file string) error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return &MalformedError{File: file, Problems: p.list, More: p.more}
}

// quote shows what was read, cut to a length that fits a message.
func quote(text string) string {
	const longest = 40
	if len(text) > longest {
		return strconv.Quote(text[:longest]) + "…"
	}
	return strconv.Quote(text)
}
