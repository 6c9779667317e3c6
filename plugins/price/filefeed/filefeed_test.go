package filefeed_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/filefeed"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/plugins/pricetest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	unit protocol.Micro = 1_000_000
	hour                = protocol.Instant(protocol.Hour)
)

// day is the beginning of the prices of these tests.
func day() protocol.Instant {
	return protocol.InstantOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
}

// csv has a price for each hour from the day's hour on.
func csv(area string, from int, prices ...string) string {
	var b strings.Builder
	b.WriteString("start,area,price_eur_per_mwh\n")
	for i, amount := range prices {
		at := day().Add(protocol.Duration(from+i) * protocol.Hour)
		b.WriteString(at.Time().Format(time.RFC3339) + "," + area + "," + amount + "\n")
	}
	return b.String()
}

// put writes a file, as if it were some minutes after the last time.
func put(t *testing.T, path string, text []byte, minutes int) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	at := day().Add(protocol.Duration(minutes) * protocol.Minute).Time()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func csvSource(path string) filefeed.Source {
	return filefeed.Source{Path: path, Format: priceformat.CSV}
}

// all are the prices of an area, in units.
func all(t *testing.T, feed price.Feed, area string) (prices []int) {
	t.Helper()
	s, err := feed.Prices(t.Context(), price.Query{Area: area, From: day(), Until: day() + 1000*hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, slot := range s.Slots {
		prices = append(prices, int(slot.Price/unit))
	}
	return prices
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want an error with %q", err, part)
		}
	}
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A file is read again when it has changed. While it is wrong or gone, what it said
// holds, and the error and the log say why.
func TestFileChanges(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	path := filepath.Join(t.TempDir(), "prices.csv")
	feed := filefeed.New([]filefeed.Source{csvSource(path)}, slog.New(slog.NewTextHandler(&log, nil)))

	refused(t, feed.Refresh(), path, "no such file")
	_, err := feed.Prices(t.Context(), price.Query{Area: "A", From: day(), Until: day() + hour})
	refused(t, err, path)
	if errors.Is(err, price.ErrUnknownArea) {
		t.Error("an area that may come is called unknown")
	}
	_, err = feed.Describe(t.Context())
	refused(t, err, path)

	steps := []struct {
		text  string // empty: the file is removed
		wrong string
		want  []int
	}{
		{csv("A", 0, "10", "11"), "", []int{10, 11}},
		{csv("A", 0, "20", "21"), "", []int{20, 21}},
		{csv("A", 0, "20", "x"), path + ":3: ", []int{20, 21}},
		{"", "no such file", []int{20, 21}},
		{csv("A", 0, "30", "-31", "32"), "", []int{30, -31, 32}},
		{csv("A", 1, "41", "42", "43"), "", []int{41, 42, 43}},
	}
	for i, step := range steps {
		if step.text == "" {
			if err = os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			put(t, path, []byte(step.text), i)
		}
		if step.want != nil {
			if got := all(t, feed, "A"); !slices.Equal(got, step.want) {
				t.Errorf("step %d: got %v, want %v", i, got, step.want)
			}
		}
		if err = feed.Refresh(); step.wrong == "" && err != nil {
			t.Errorf("step %d: %v", i, err)
		} else if step.wrong != "" {
			refused(t, err, step.wrong)
		}
	}
	// Each change is told once, however often prices are asked for.
	for part, want := range map[string]int{"prices_read": 4, "price_file_failed": 3, "instead=nothing": 1, "what it said before": 2} {
		if got := strings.Count(log.String(), part); got != want {
			t.Errorf("%q is logged %d times, want %d:\n%s", part, got, want, log.String())
		}
	}
}

// TestFilesThatKnowLess: what looks like a part of a file does not replace the whole, until there
// is one that knows as much.
func TestFilesThatKnowLess(t *testing.T) {
	t.Parallel()
	whole := csv("A", 0, "10", "11", "60.89")
	both := whole + strings.TrimPrefix(csv("B", 0, "5"), "start,area,price_eur_per_mwh\n")
	for name, tt := range map[string]struct {
		first, second string
		wrong         string // empty: the second is taken
	}{
		"cut in a number":      {whole, strings.TrimSuffix(whole, ".89\n"), "its last line has no end, as it had before"},
		"half a file":          {whole, csv("A", 0, "10", "11"), "it has prices of A until 2026-03-01T02:00:00Z, and before until 2026-03-01T03:00:00Z"},
		"an area is lost":      {both, whole, "it has no prices of B any more"},
		"never had an end":     {strings.TrimSpace(whole), strings.TrimSpace(csv("A", 0, "1", "2", "3", "4")), ""},
		"the past is left off": {whole, csv("A", 2, "12", "13"), ""},
		"other prices":         {whole, csv("A", 0, "7", "8", "9"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "prices.csv")
			feed := filefeed.New([]filefeed.Source{csvSource(path)}, quiet())
			put(t, path, []byte(tt.first), 1)
			before := all(t, feed, "A")
			put(t, path, []byte(tt.second), 2)
			err, after := feed.Refresh(), all(t, feed, "A")
			if tt.wrong == "" {
				if err != nil || slices.Equal(after, before) {
					t.Fatalf("not taken: %v, %v", err, after)
				}
				return
			}
			if refused(t, err, path+": "+tt.wrong); !slices.Equal(after, before) {
				t.Errorf("it says %v, and %v before", after, before)
			}
			put(t, path, []byte(tt.first+"\n"), 3)
			if err = feed.Refresh(); err != nil {
				t.Errorf("whole again: %v", err)
			}
		})
	}
}

// Several files make one feed; the first one that knows an hour counts.
func TestSeveralFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	put(t, path("first"), []byte(csv("A", 2, "12", "13")), 0)
	put(t, path("second.gz"), packed(t, csv("A", 0, "20", "21", "22", "23", "24")), 0)
	put(t, path("third"), []byte(csv("B", 0, "30")), 0)
	sources := []filefeed.Source{csvSource(path("first")), csvSource(path("second.gz")), csvSource(path("third")), csvSource(path("later"))}
	feed := filefeed.New(sources, quiet())
	if got := all(t, feed, "A"); !slices.Equal(got, []int{20, 21, 12, 13, 24}) {
		t.Errorf("got %v", got)
	}
	d, err := feed.Describe(t.Context())
	if err != nil || !slices.Equal(d.Areas, []string{"A", "B"}) || d.Currency != "EUR" {
		t.Errorf("got %+v, %v", d, err)
	}
	refused(t, feed.Refresh(), path("later"))
	_, err = feed.Prices(t.Context(), price.Query{Area: "C"})
	refused(t, err, path("later"))

	put(t, path("later"), []byte(strings.ReplaceAll(csv("C", 0, "40"), "_eur_", "_sek_")), 0)
	refused(t, feed.Refresh(), path("later")+": its prices are in SEK, those of the files before it in EUR")
	if got := all(t, feed, "B"); !slices.Equal(got, []int{30}) {
		t.Errorf("got %v", got)
	}
}

// Areas that are not asked for keep nobody from the others, and are told where one asks
// for what is not there.
func TestOnlyAskedAreas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	put(t, path("both"), []byte(csv("A", 0, "10", "11")+strings.Join(strings.SplitAfter(csv("B", 0, "x"), "\n")[1:], "")), 0)
	put(t, path("other"), []byte(strings.ReplaceAll(csv("C", 0, "40"), "_eur_", "_sek_")), 0)
	open := func(areas ...string) *filefeed.Feed {
		both, other := csvSource(path("both")), csvSource(path("other"))
		both.Options.Areas, other.Options.Areas = areas, areas
		return filefeed.New([]filefeed.Source{both, other}, quiet())
	}
	feed := open("A")
	if err := feed.Refresh(); err != nil {
		t.Error(err)
	}
	if got := all(t, feed, "A"); !slices.Equal(got, []int{10, 11}) {
		t.Errorf("got %v", got)
	}
	if d, err := feed.Describe(t.Context()); err != nil || !slices.Equal(d.Areas, []string{"A"}) || d.Currency != "EUR" {
		t.Errorf("got %+v, %v", d, err)
	}
	for _, err := range []error{second(feed.Prices(t.Context(), price.Query{Area: "B"})), second(open("D").Describe(t.Context()))} {
		refused(t, err, `"; there are A`)
		if !errors.Is(err, price.ErrUnknownArea) {
			t.Errorf("got %v", err)
		}
	}
	refused(t, second(open("D").Describe(t.Context())), `the feed does not know this area: "D"; there are A, B, C`)
	refused(t, open("A", "B").Refresh(), path("both")+":4: ")
}

// second is the error of what returns two values.
func second[T any](_ T, err error) error { return err }

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "prices.gz")
	whole := packed(t, csv("A", 0, "1"))
	put(t, path, whole[:len(whole)-4], 0)
	_, err := filefeed.Read(csvSource(path))
	refused(t, err, path, "unexpected EOF")
	const parts = 64 // of gzip, which follow each other
	put(t, path, bytes.Repeat(packed(t, strings.Repeat("\n", filefeed.MaxSize/parts)), parts+1), 1)
	_, err = filefeed.Read(csvSource(path))
	refused(t, err, path, "has more than 64 MiB")
	refused(t, filefeed.New([]filefeed.Source{csvSource(dir)}, quiet()).Refresh(), dir+" is no regular file")
}

func TestConformance(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prices.csv")
	text := csv("A", -30, slices.Repeat([]string{"10", "-3", "25.5"}, 30)...)
	put(t, path, []byte(text), 0)
	pricetest.Test(t, pricetest.Target{
		Open: func(context.Context) (price.Feed, error) {
			return filefeed.New([]filefeed.Source{csvSource(path)}, quiet()), nil
		},
		Known: day(),
	})
}

// BenchmarkPrices asks for two days of a year that has not changed.
func BenchmarkPrices(b *testing.B) {
	path := filepath.Join(b.TempDir(), "prices.csv")
	if err := os.WriteFile(path, []byte(csv("A", 0, slices.Repeat([]string{"10"}, 8760)...)), 0o600); err != nil {
		b.Fatal(err)
	}
	feed := filefeed.New([]filefeed.Source{csvSource(path)}, quiet())
	for b.Loop() {
		if _, err := feed.Prices(b.Context(), price.Query{Area: "A", From: day(), Until: day() + 48*hour}); err != nil {
			b.Fatal(err)
		}
	}
}
