package main

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/view"
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

func TestAmount(t *testing.T) {
	t.Parallel()
	for a, want := range map[protocol.Micro]string{
		0: "0.00 EUR", 1: "0.000001 EUR", 1_500_000: "1.50 EUR", 1_234_500: "1.2345 EUR", -250_000: "-0.25 EUR",
		math.MinInt64: "-9223372036854.775808 EUR", math.MaxInt64: "9223372036854.775807 EUR",
	} {
		if got := amount(a, "EUR"); got != want {
			t.Errorf("amount(%d) = %q, want %q", int64(a), got, want)
		}
	}
}

func TestRatio(t *testing.T) {
	t.Parallel()
	for ppm, want := range map[int]string{0: "-", 1: "0.00x", 1_254_999: "1.25x", 995_000: "1.00x", 12_000_000: "12.00x"} {
		if got := ratio(ppm); got != want {
			t.Errorf("ratio(%d) = %q, want %q", ppm, got, want)
		}
	}
}

func TestFlowed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     "",
		"short":                "short",
		"one two three":        "one two\n  three",
		"größe σ one":          "größe σ\n  one",
		"a-word-longer-than x": "a-word-longer-than\n  x",
	} {
		if got := flowed(text, 2, 8); got != want {
			t.Errorf("flowed(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestPlainKeepsTerminalsSafe(t *testing.T) {
	t.Parallel()
	if got := plain("a\x1b[31mb\n\u202ec\u009bd größe"); got != `a\u001b[31mb\u000a\u202ec\u009bd größe` {
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

// A job that did not end by itself has no exit code to show.
func TestEnding(t *testing.T) {
	t.Parallel()
	for want, job := range map[string]view.Job{
		"exit code 0":            {State: protocol.Completed},
		"exit code 3":            {State: protocol.Failed, ExitCode: 3},
		"signal 15":              {State: protocol.Cancelled, Signal: 15},
		"exit code 1":            {State: protocol.Cancelled, ExitCode: 1},
		"":                       {State: protocol.Cancelled},
		"NODE_FAIL, went away":   {State: protocol.NodeFail, Reason: "went away"},
		"COMPLETED, exit code 0": {State: protocol.Completed},
	} {
		got := ending(job)
		if strings.Contains(want, "_") || strings.Contains(want, ",") {
			got = stateText(job)
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestVersionAsAnOption(t *testing.T) {
	t.Parallel()
	want := command(t, "", "", "version")
	if got := command(t, "", "", "--version"); got != want || !strings.HasPrefix(got.stdout, "switchyard ") {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
