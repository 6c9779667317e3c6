package batchscript

import (
	"fmt"
	"slices"
	"strings"
)

// Error lists all that is wrong with a script and its options.
type Error struct{ Problems []Problem }

// Problem is one thing that is wrong, and what to do about it.
type Problem struct {
	Place string // "job.sh:3", "job.sh", "command line" or "app.toml:7: component[mesh].time"
	Text  string
}

// String prints "place: text".
func (p Problem) String() string { return p.Place + ": " + p.Text }

// Error prints one problem a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, problem := range e.Problems {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// report gathers problems and notices while a script is read.
type report struct {
	problems []Problem
	notices  []string
}

func (r *report) wrong(place, format string, args ...any) {
	r.problems = appendNew(r.problems, Problem{Place: place, Text: fmt.Sprintf(format, args...)})
}

func (r *report) notice(place, format string, args ...any) {
	r.notices = appendNew(r.notices, place+": "+fmt.Sprintf(format, args...))
}

// appendNew leaves out what is in the list: components share options.
func appendNew[T comparable](list []T, one T) []T {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &Error{Problems: r.problems}
}
