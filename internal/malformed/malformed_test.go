package malformed_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/malformed"
)

func TestOf(t *testing.T) {
	t.Parallel()
	var p malformed.Problems
	if err := p.Of("f", 2); err != nil {
		t.Errorf("got %v", err)
	}
	p.Add(7, "%q is odd", "x")
	p.Add(0, "there is no title")
	p.Add(3, "too short")
	for most, want := range map[int]string{
		2: "f: there is no title\nf:3: too short\nf: and 1 more",
		3: "f: there is no title\nf:3: too short\nf:7: \"x\" is odd",
	} {
		if err := p.Of("f", most); err == nil || err.Error() != want {
			t.Errorf("%d: got %v", most, err)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 41)
	if got := malformed.Quote("a\n") + malformed.Quote([]byte(long)); got != `"a\n"`+`"`+long[:40]+`"…` {
		t.Errorf("got %s", got)
	}
}
