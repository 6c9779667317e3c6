// Package problems collects what is wrong with a text, such as a configuration, a script or a file of data, so that all
// of it is reported at once, each problem with its place and the remedy. It is a package of its own because the readers
// of all of these share it, and some are pure.
package problems

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Place is where something is wrong.
type Place struct {
	File string // or the name of a source that is no file, as "command line"; empty: not known
	Line int    // from 1; 0: not known, or of no single line
	Key  string // dotted, as "nats.listen" or "partner[south].url"; empty: none
}

// String prints "file:line: key", in one line and without what is not known.
func (p Place) String() string {
	text := p.File
	if p.File != "" && p.Line > 0 {
		text += ":" + strconv.Itoa(p.Line)
	}
	if text != "" && p.Key != "" {
		text += ": "
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, text+p.Key)
}

// Problem is an error or a warning about one place.
type Problem struct {
	Place

	Text string // what is wrong; what is allowed, or the remedy
}

// String prints "place: text".
func (p Problem) String() string {
	if place := p.Place.String(); place != "" {
		return place + ": " + p.Text
	}
	return p.Text
}

// List is an error: all that is wrong.
type List []Problem //nolint:errname,recvcheck // it is a list of them; Add extends it

// Error prints one problem a line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, problem := range l {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Add adds a problem.
func (l *List) Add(at Place, format string, args ...any) {
	*l = append(*l, Problem{at, fmt.Sprintf(format, args...)})
}

// Of lists the problems within an error: those of a [List] or of a [FileError], also where another type has these
// embedded; nil: it is another error.
func Of(err error) List {
	if e, ok := errors.AsType[interface {
		error
		Problems() List
	}](err); ok {
		return e.Problems()
	}
	return nil
}

// Problems is the list itself. Types that have it embedded are found by [Of].
func (l List) Problems() List { return l }

// Err is the list, or nil if it is empty.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// Sort puts the problems in the order of files, lines and keys.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key, b.Key))
	})
}

// FileError is what is wrong with a file of data, such as a trace. Its type tells it from the [List] of a configuration
// that names the file.
type FileError struct {
	List // the first ones, in the order of their lines

	More int // further ones
}

// Error lists the problems, and says how many there are beyond the list.
func (e *FileError) Error() string {
	if e.More == 0 {
		return e.List.Error()
	}
	return fmt.Sprintf("%s\n%s: and %d more", e.List.Error(), e.List[0].File, e.More)
}

// OfFile is a list of problems of one file, cut to the first most by their lines; nil: nothing is wrong.
func (l List) OfFile(most int) *FileError {
	if len(l) == 0 {
		return nil
	}
	l.Sort()
	first := l[:min(len(l), most)]
	return &FileError{List: first, More: len(l) - len(first)}
}

// Quote shows what was read, cut to a length that fits a message.
func Quote[T ~string | ~[]byte](text T) string {
	const longest = 40
	if len(text) > longest {
		return strconv.Quote(string(text[:longest])) + "…"
	}
	return strconv.Quote(string(text))
}
