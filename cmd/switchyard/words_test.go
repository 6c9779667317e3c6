package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	cases := map[protocol.Duration]string{
		0: "0:00:00", 1: "0:00:01", 1000: "0:00:01", 1001: "0:00:02", protocol.Hour + 2*protocol.Minute + 3000: "1:02:03",
		23*protocol.Hour + 59*protocol.Minute + 59*protocol.Second: "23:59:59", protocol.Day: "1-00:00:00",
		100*protocol.Day + 1: "100-00:00:01", protocol.Never: "never", -1500: "-0:00:02",
	}
	for d, want := range cases {
		if got := span(d); got != want {
			t.Errorf("span(%d) = %q, want %q", int64(d), got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()
	for ppm, want := range map[int]string{0: "0 %", 4999: "0 %", 5000: "1 %", 333_333: "33 %", protocol.PPM: "100 %"} {
		if got := percent(ppm); got != want {
			t.Errorf("percent(%d) = %q, want %q", ppm, got, want)
		}
	}
}

func TestPlainKeepsTerminalsSafe(t *testing.T) {
	t.Parallel()
	if got := plain("a\x1b[31mb\n\u202ec\u009bd größe"); got != "a?[31mb??c?d größe" {
		t.Errorf("got %q", got)
	}
}

// The columns of a table begin at the same place in every line, whatever is in
// its cells.
func TestTablesAreAligned(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tbl := newTable("A", " B", "C")
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching(`[a-zäöü€]{1,12}`), 3, 3), 1, 8).Draw(t, "rows")
		for _, row := range rows {
			tbl.add(row...)
		}
		var out strings.Builder
		if err := tbl.write(&out, "", true); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != len(rows)+1 {
			t.Fatalf("%d lines for %d rows", len(lines), len(rows))
		}
		for i, row := range rows {
			last := utf8.RuneCountInString(lines[i+1]) - utf8.RuneCountInString(row[2])
			if first := utf8.RuneCountInString(lines[0]) - 1; last != first {
				t.Errorf("the last column begins at %d in %q, and at %d in %q", last, lines[i+1], first, lines[0])
			}
		}
	})
}
