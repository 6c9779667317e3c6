package curve

import (
	"fmt"
	"strconv"
	"strings"
)

// maxProblems bounds how many problems of one file are told.
const maxProblems = 20

// Problem is what is wrong with one line of a file.
type Problem struct {
	Line int    // from 1; 0: the file as a whole
	Text string // what is wrong, and what to do
}

// MalformedError says what is wrong with a file, as one line of text for each problem:
// `prices.csv:17: …`.
type MalformedError struct {
	File     string
	Problems []Problem // the first ones, in the order of their lines
	More     int       // further lines that are wrong
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

// quote shows what was read, cut to a length that fits a message.
func quote(text string) string {
	const longest = 40
	if len(text) > longest {
		return strconv.Quote(text[:longest]) + "…"
	}
	return strconv.Quote(text)
}
