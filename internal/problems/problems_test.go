package problems_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

func TestProblem(t *testing.T) {
	t.Parallel()
	for want, at := range map[string]problems.Place{
		"is wrong":                   {},
		"f: is wrong":                {File: "f"},
		"f:3: is wrong":              {File: "f", Line: 3},
		"f:3: a.b: is wrong":         {File: "f", Line: 3, Key: "a.b"},
		"a.b: is wrong":              {Key: "a.b", Line: 3},
		"command line: is wrong":     {File: "command line"},
		"f?g: a: is wrong":           {File: "f\ng", Key: "a"},
		"f: partner[x].y?: is wrong": {File: "f", Key: "partner[x].y\t"},
	} {
		if got := (problems.Problem{Place: at, Text: "is wrong"}).String(); got != want {
			t.Errorf("%+v: got %q, want %q", at, got, want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	var l problems.List
	if err := l.Err(); err != nil {
		t.Errorf("empty: %v", err)
	}
	l.Add(problems.Place{File: "g"}, "is %d", 1)
	l.Add(problems.Place{File: "f", Line: 2, Key: "b"}, "is 2")
	l.Add(problems.Place{File: "f", Line: 2, Key: "a"}, "is 3")
	l.Sort()
	if got, want := l.Err().Error(), "f:2: a: is 3\nf:2: b: is 2\ng: is 1"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOfFile(t *testing.T) {
	t.Parallel()
	if err := (problems.List{}).OfFile(2); err != nil {
		t.Errorf("got %v", err)
	}
	for most, want := range map[int]string{
		2: "f: there is no title\nf:3: too short\nf: and 1 more",
		3: "f: there is no title\nf:3: too short\nf:7: \"x\" is odd",
	} {
		var l problems.List
		l.Add(problems.Place{File: "f", Line: 7}, "%q is odd", "x")
		l.Add(problems.Place{File: "f"}, "there is no title")
		l.Add(problems.Place{File: "f", Line: 3}, "too short")
		if err := l.OfFile(most); err == nil || err.Error() != want {
			t.Errorf("%d: got %v", most, err)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	type malformed struct{ problems.FileError }
	at := problems.Place{File: "f", Line: 7}
	list := problems.List{{Place: at, Text: "is 1"}}
	for name, err := range map[string]error{
		"one": list, "wrapped": fmt.Errorf("read: %w", list), "of a file": list.OfFile(1),
		"embedded": &malformed{*list.OfFile(1)}, "joined": errors.Join(fs.ErrExist, list),
	} {
		if got := problems.Of(err); len(got) != 1 || got[0] != list[0] {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if got := problems.Of(fs.ErrExist); got != nil {
		t.Errorf("of another error: %v", got)
	}
	if got := problems.Of(nil); got != nil {
		t.Errorf("without an error: %v", got)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 41)
	if got := problems.Quote("a\n") + problems.Quote([]byte(long)); got != `"a\n"`+`"`+long[:40]+`"…` {
		t.Errorf("got %s", got)
	}
}
