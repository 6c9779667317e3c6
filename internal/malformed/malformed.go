// Package malformed reports the errors of a file line by line. It is a package of its own because the readers of
// traces, price files and partitions share it, and none of these imports another.
package malformed

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is what is wrong with one line of a file.
type Problem struct {
	Line int    // from 1; 0: the file as a whole
	Text string // what is wrong, and what to do
}

// FileError says what is wrong with a file, as one line of text for each problem:
// `prices.csv:17: …`.
type FileError struct {
	File     string
	Problems []Problem // the first ones, in the order of their lines
	More     int       // further ones
}

// Error lists the problems, each with file and line.
func (e *FileError) Error() string {
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

// Problems are collected while a file is read.
type Problems []Problem

// Add adds what is wrong with a line.
func (p *Problems) Add(line int, format string, args ...any) {
	*p = append(*p, Problem{line, fmt.Sprintf(format, args...)})
}

// Of is what was collected of a file, the first most by their lines; nil: nothing is wrong.
func (p *Problems) Of(file string, most int) *FileError {
	all := *p
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	first := all[:min(len(all), most)]
	return &FileError{File: file, Problems: first, More: len(all) - len(first)}
}

// Quote shows what was read, cut to a length that fits a message.
func Quote[T ~string | ~[]byte](text T) string {
	const longest = 40
	if len(text) > longest {
		return strconv.Quote(string(text[:longest])) + "…"
	}
	return strconv.Quote(string(text))
}
