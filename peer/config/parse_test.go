package config

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

func TestSizesSurviveAPrint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := Megabytes(rapid.Int64Range(0, 1<<50).Draw(t, "m"))
		var got Megabytes
		if err := got.UnmarshalTOML(strings.Trim(m.TOML(), `"`)); err != nil || got != m {
			t.Fatalf("%d becomes %s and then %d, %v", m, m.TOML(), got, err)
		}
	})
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Megabytes{
		"512MB": 512, "4GB": 4096, "1 TB": 1 << 20, "2G": 2048, "3MiB": 3, "0MB": 0,
		"": -1, "MB": -1, "5": -1, "-5MB": -1, "1.5GB": -1, "9999999999999TB": -1, "4KB": -1,
	} {
		var got Megabytes
		if err := got.UnmarshalTOML(text); (err != nil) != (want < 0) || (want >= 0 && got != want) {
			t.Errorf("%q: got %v, %v; want %d", text, got, err, want)
		}
	}
}

// A number of megabytes has the bound of a size with a unit, so that what is printed can be read.
func TestMegabytesAreBounded(t *testing.T) {
	t.Parallel()
	var m Megabytes
	if err := m.UnmarshalTOML(int64(1)<<50 + 1); err == nil || !strings.Contains(err.Error(), "is more than 1048576PB") {
		t.Error(err)
	}
}

func TestPowersSurviveAPrint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := Watts(rapid.Int64Range(0, maxWatts*1_000_000).Draw(t, "w"))
		number, err := strconv.ParseFloat(w.TOML(), 64)
		if err != nil {
			t.Fatal(err)
		}
		var got Watts
		if err := got.UnmarshalTOML(number); err != nil || got != w {
			t.Fatalf("%d becomes %s and then %d, %v", w, w.TOML(), got, err)
		}
		if off := int64(got) - 1000*got.Milliwatts(); off < -500 || off >= 500 {
			t.Fatalf("%d is %d mW", got, got.Milliwatts())
		}
	})
}

func TestBandwidthsSurviveAPrint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := Bandwidth(rapid.Int64Range(1, maxBandwidth).Draw(t, "b"))
		var got Bandwidth
		if err := got.UnmarshalTOML(strings.Trim(b.TOML(), `"`)); err != nil || got != b {
			t.Fatalf("%d becomes %s and then %d, %v", b, b.TOML(), got, err)
		}
	})
}

func TestBandwidths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Bandwidth{
		"125MB/s": 125_000_000, "1Gbit/s": 125_000_000, "1 GB/s": 1e9, "7B/s": 7, "8kbit/s": 1000, "1000000GB/s": maxBandwidth,
		"": -1, "MB/s": -1, "125": -1, "125MB": -1, "0MB/s": -1, "-1MB/s": -1, "1.5GB/s": -1, "125mb/s": -1, "1000001GB/s": -1,
		"99999999999999999999B/s": -1,
	} {
		var got Bandwidth
		if err := got.UnmarshalTOML(text); (err != nil) != (want < 0) || (want >= 0 && got != want) {
			t.Errorf("%q: got %v, %v; want %d", text, got, err, want)
		}
	}
}

// Whatever the bytes: no panic, problems are problems of the file and in one
// line, and what is accepted can be shown and read again.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.toml"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(Sample())
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseAll(text)
		var list problems.List
		switch {
		case errors.As(err, &list):
			for _, p := range list {
				if p.File != "fuzz.toml" || p.Text == "" || p.Line < 0 || p.Line > strings.Count(text, "\n")+1 {
					t.Fatalf("%+v", p)
				}
			}
		case err != nil:
			t.Fatalf("not problems: %v", err)
		default:
			var shown strings.Builder
			if err := c.Show(&shown, true); err != nil {
				t.Fatal(err)
			}
			if _, err := parseAll(shown.String()); err != nil {
				t.Fatalf("%v, of\n%s", err, shown.String())
			}
		}
	})
}

func parseAll(text string) (*Config, error) {
	r := newChecker()
	r.Text("fuzz.toml", "/nowhere", text)
	return r.finish()
}

// FuzzUnits: sizes and bandwidths are within bounds, and read back as they are printed.
func FuzzUnits(f *testing.F) {
	for _, text := range []string{"512MB", "4 GiB", "9223372036854775807MB", "8796093022207TB", "125MB/s", "1Gbit/s", "7kbit/s", "1000000GB/s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var size, sizeAgain Megabytes
		if err := size.UnmarshalTOML(text); err == nil {
			if err := sizeAgain.UnmarshalTOML(strings.Trim(size.TOML(), `"`)); err != nil || sizeAgain != size || size < 0 {
				t.Errorf("%q is %d MB, prints as %s and reads back as %d, %v", text, size, size.TOML(), sizeAgain, err)
			}
		}
		var rate, rateAgain Bandwidth
		if err := rate.UnmarshalTOML(text); err == nil {
			if err := rateAgain.UnmarshalTOML(strings.Trim(rate.TOML(), `"`)); err != nil || rateAgain != rate || rate <= 0 {
				t.Errorf("%q is %d B/s, prints as %s and reads back as %d, %v", text, rate, rate.TOML(), rateAgain, err)
			}
		}
	})
}
