// Package problemstest compares the problems within an error with those that a test expects, by their places.
package problemstest

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// Want is a problem that a test expects.
type Want struct {
	place problems.Place
	words []string
}

// At expects a problem at a place: the last elements of the file's path, the line, and the key. What is empty or 0 is not
// compared. The text of the problem must contain each of the words; without words the place alone counts.
func At(file string, line int, key string, words ...string) Want {
	return Want{problems.Place{File: file, Line: line, Key: key}, words}
}

// Key expects a problem of a key, wherever it is. The text must contain each of the words.
func Key(key string, words ...string) Want { return At("", 0, key, words...) }

// String prints the place and the words.
func (w Want) String() string {
	return strings.Join(append([]string{w.place.String()}, w.words...), ", ")
}

// meets reports whether the problem is the expected one.
func (w Want) meets(p problems.Problem) bool {
	return inFile(w.place.File, p.File) &&
		(w.place.Line == 0 || w.place.Line == p.Line) &&
		(w.place.Key == "" || w.place.Key == p.Key) &&
		!slices.ContainsFunc(w.words, func(word string) bool { return !strings.Contains(p.Text, word) })
}

// inFile reports whether the elements of one path are the last ones of another.
func inFile(last, whole string) bool {
	whole = filepath.ToSlash(whole)
	return last == "" || last == whole || strings.HasSuffix(whole, path.Join("/", last))
}

// Check reports an error of the test for each expected problem that the error does not have; without any, for an error.
// It returns whether all is as expected.
func Check(t testing.TB, err error, wants ...Want) bool {
	t.Helper()
	if len(wants) == 0 && err != nil {
		t.Errorf("got %v, want no error", err)
		return false
	}
	found, all := problems.Of(err), true
	for _, want := range wants {
		if !slices.ContainsFunc(found, want.meets) {
			t.Errorf("got %v, want a problem at %s", err, want)
			all = false
		}
	}
	return all
}
