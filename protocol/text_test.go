package protocol_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestCheckText(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "a b", "größe", "作业", "naïve-e\u0301", "✓ 🚀", "שלום"} {
		if err := protocol.CheckText(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"a\u202eb": "U+202E (byte 2)", "\u200bx": "U+200B (byte 1)", "a\u2066": "U+2066", "\ufeffa": "U+FEFF", "a\u00adb": "U+00AD",
		"a\u00a0b": "U+00A0", "a\u2003b": "U+2003", "a\u2028b": "U+2028", "\u3164": "U+3164", "\u115f": "U+115F", "\uffa0": "U+FFA0",
		"\u2800": "U+2800", "a\u034fb": "U+034F", "❤\ufe0f": "U+FE0F", "a\U000e0041": "U+E0041", "a\nb": "U+000A", "\x1b[2J": "U+001B",
		"a\u009bb": "U+009B", "\ufffd": "U+FFFD", "a\xffb": "byte 2 is not UTF-8",
	} {
		if err := protocol.CheckText(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+q: %v, want %s", bad, err, want)
		}
	}
}

func TestEscapeText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"größe":           "größe",
		"a\u202eb\u200bc": `a\u202eb\u200bc`,
		"\x1b[31m\n\t":    `\u001b[31m\u000a\u0009`,
		"a\U000e0041":     `a\U000e0041`,
		"a\xffb":          `a\ufffdb`,
	} {
		if got := protocol.EscapeText(text); got != want {
			t.Errorf("%+q: got %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if err := protocol.CheckText(protocol.EscapeText(text)); err != nil {
			t.Errorf("%+q: what is printed of it is refused: %v", text, err)
		}
	})
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 open jobs", 1: "1 open job", 2: "2 open jobs", 100: "100 open jobs"} {
		if got := protocol.Count(n, "open job"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
