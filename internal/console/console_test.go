package console_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/console"
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
		if got := console.Span(d); got != want {
			t.Errorf("console.Span(%d) = %q, want %q", int64(d), got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()
	for ppm, want := range map[int]string{0: "0 %", 4999: "0 %", 5000: "1 %", 333_333: "33 %", protocol.PPM: "100 %"} {
		if got := console.Percent(ppm); got != want {
			t.Errorf("console.Percent(%d) = %q, want %q", ppm, got, want)
		}
	}
}

func TestAmount(t *testing.T) {
	t.Parallel()
	for a, want := range map[protocol.Micro]string{
		0: "0.00 EUR", 1: "0.000001 EUR", 1_500_000: "1.50 EUR", 1_234_500: "1.2345 EUR", -250_000: "-0.25 EUR",
		math.MinInt64: "-9223372036854.775808 EUR", math.MaxInt64: "9223372036854.775807 EUR",
	} {
		if got := console.Amount(a, "EUR"); got != want {
			t.Errorf("console.Amount(%d) = %q, want %q", int64(a), got, want)
		}
	}
}

func TestRatio(t *testing.T) {
	t.Parallel()
	for ppm, want := range map[int]string{0: "-", 1: "0.00x", 1_254_999: "1.25x", 995_000: "1.00x", 12_000_000: "12.00x"} {
		if got := console.Ratio(ppm); got != want {
			t.Errorf("console.Ratio(%d) = %q, want %q", ppm, got, want)
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
		if got := console.Flowed(text, 2, 8); got != want {
			t.Errorf("console.Flowed(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestPlainKeepsTerminalsSafe(t *testing.T) {
	t.Parallel()
	if got := console.Plain("a\x1b[31mb\n\u202ec\u009bd größe"); got != `a\u001b[31mb\u000a\u202ec\u009bd größe` {
		t.Errorf("got %q", got)
	}
}

// The columns of a table begin at the same place in every line, whatever is in
// its cells.
func TestTablesAreAligned(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tbl := console.NewTable("A", " B", "C")
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching(`[a-zäöü€]{1,12}`), 3, 3), 1, 8).Draw(t, "rows")
		for _, row := range rows {
			tbl.Add(row...)
		}
		var out strings.Builder
		if err := tbl.Write(&out, "", true); err != nil {
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

func TestEnergyText(t *testing.T) {
	t.Parallel()
	for want, millijoules := range map[string]int64{
		"0 kWh": 0, "1.50 kWh": 5_400_000_000, "0.100 kWh": 360_000_000, "0.0250 kWh": 90_000_000,
		"1234 kWh": 4_442_400_000_000, "0.000000278 kWh": 1000,
	} {
		if got := console.Energy(millijoules); got != want {
			t.Errorf("%d mJ are %q, want %q", millijoules, got, want)
		}
	}
}
