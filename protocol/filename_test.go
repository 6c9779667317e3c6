package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestReplacePatterns: each pattern is replaced once, what replaces it is no pattern, and a name may end within one.
func TestReplacePatterns(t *testing.T) {
	t.Parallel()
	replace := func(p protocol.NamePattern) (string, error) {
		switch p.Letter {
		case 'n':
			return p.Padded("42"), nil
		case '%':
			return "%n", nil
		case 0:
			return "(" + p.Text + ")", nil
		}
		return "", p.Unknown("%n or %%")
	}
	for name, want := range map[string]string{
		"": "", "out": "out", "%n.%n": "42.42", "a%5n%1n": "a0004242", "%99n": "0000000042", "%" + strings.Repeat("9", 30) + "n": "0000000042",
		"%%n": "%nn", "%5%": "%n", "out%": "out(%)", "out%12": "out(%12)",
	} {
		if got, err := protocol.ReplacePatterns(name, replace); got != want || err != nil {
			t.Errorf("%q is %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"a%3q":   `the file name "a%3q": %q is unknown; use %n or %%`,
		"%\xff":  `the file name "%\xff": %? is unknown; use %n or %%`,
		"%n %Q ": `the file name "%n %Q ": %Q is unknown; use %n or %%`,
	} {
		if got, err := protocol.ReplacePatterns(name, replace); got != "" || fmt.Sprint(err) != want {
			t.Errorf("%q is %q, %v, want %q", name, got, err, want)
		}
	}
	if err := (protocol.NamePattern{}).Unknown("%n"); err.Error() != "it ends within a pattern; write %% for a per cent sign" {
		t.Error(err)
	}
}
