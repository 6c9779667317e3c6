package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestKeyLines(t *testing.T) {
	t.Parallel()
	got := keyLines(`# top
[site] # a comment with [brackets]
name = "a # b \" ="
long = """
[fake]
x = 1
"""""
[[partner]]
name = 'it''s'
list = [ # [
  "]",
  1,
]

[partner.users]
"*" = "guest"

[[partner]]
a.b = { c = 1 }
['quo.ted']
k = '''
[fake]'''
`, 5)
	want := map[string]int{
		"site": 2, "site.name": 3, "site.long": 4,
		"partner[5]": 8, "partner[5].name": 9, "partner[5].list": 10,
		"partner[5].users": 15, "partner[5].users.*": 16,
		"partner[6]": 18, "partner[6].a.b": 19,
		"quo.ted": 20, "quo.ted.k": 21,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestDurationsAndSizesSurviveAPrint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := protocol.Duration(rapid.Int64Range(0, int64(maxDuration)).Draw(t, "d"))
		if got, err := decodeDuration(formatDuration(d)); err != nil || got != d {
			t.Fatalf("%d becomes %q and then %d, %v", d, formatDuration(d), got, err)
		}
		m := Megabytes(rapid.Int64Range(0, 1<<50).Draw(t, "m"))
		if got, err := decodeMegabytes(formatMegabytes(m)); err != nil || got != m {
			t.Fatalf("%d becomes %q and then %d, %v", m, formatMegabytes(m), got, err)
		}
	})
}

func TestDurationsAndSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]protocol.Duration{
		"30s": 30 * protocol.Second, "2h": 2 * protocol.Hour, "7d": 7 * protocol.Day, "0": 0, "0d": 0, "0s": 0,
		"1d12h": 36 * protocol.Hour, "1.5s": 1500, "1ns": 1,
		"": -1, "d": -1, "30": -1, "-1d": -1, "1d-1h": -1, "1d1d": -1, "5 m": -1, "1w": -1, "99999999999d": -1, "36501d": -1,
	} {
		if got, err := decodeDuration(text); (err != nil) != (want < 0) || (want >= 0 && got != want) {
			t.Errorf("%q: got %v, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]Megabytes{
		"512MB": 512, "4GB": 4096, "1 TB": 1 << 20, "2G": 2048, "3MiB": 3, "0MB": 0,
		"": -1, "MB": -1, "5": -1, "-5MB": -1, "1.5GB": -1, "9999999999999TB": -1, "4KB": -1,
	} {
		if got, err := decodeMegabytes(text); (err != nil) != (want < 0) || (want >= 0 && got != want) {
			t.Errorf("%q: got %v, %v; want %d", text, got, err, want)
		}
	}
}

func TestNearestName(t *testing.T) {
	t.Parallel()
	names := []string{"listen", "url", "round_jobs", "max_jobs"}
	for name, want := range map[string]string{
		"listne": "listen", "Listen": "listen", "roundjobs": "round_jobs", "maxjobs": "max_jobs", "colour": "", "": "",
	} {
		if got, _ := nearest(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
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
		keyLines(text, 0)
		c, err := parseAll(text)
		var problems Problems
		switch {
		case errors.As(err, &problems):
			for _, p := range problems {
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
	r := newReport()
	r.parse("fuzz.toml", "/nowhere", text)
	return r.finish()
}
