package batchscript

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// Error is all that is wrong with a script and its options. Its type tells it from the list of a configuration.
type Error struct{ problems.List }

// report gathers problems and notices while a script is read.
type report struct {
	problems problems.List
	notices  []string
}

func (r *report) wrong(at problems.Place, format string, args ...any) {
	r.problems = appendNew(r.problems, problems.Problem{Place: at, Text: fmt.Sprintf(format, args...)})
}

func (r *report) notice(at problems.Place, format string, args ...any) {
	r.notices = appendNew(r.notices, problems.Problem{Place: at, Text: fmt.Sprintf(format, args...)}.String())
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
	return &Error{r.problems}
}
