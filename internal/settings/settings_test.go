package settings_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// plan has a field of every kind.
type plan struct {
	Title   string              `toml:"title"`
	Fast    bool                `toml:"fast"`
	Load    float64             `toml:"load"   within:"0,2"`
	Runs    int                 `toml:"runs"   within:"1,99"`
	Seed    uint64              `toml:"seed"`
	Small   int8                `toml:"small"`
	Length  protocol.Duration   `toml:"length"`
	Delta   settings.Share      `toml:"delta"`
	Trace   settings.Path       `toml:"trace"`
	Loads   []float64           `toml:"loads"`
	Phis    []protocol.Duration `toml:"phis"`
	Sizes   [][]int             `toml:"sizes"`
	Weight  map[string]float64  `toml:"weight"`
	Extra   *extra              `toml:"extra"`
	Groups  map[string]extra    `toml:"group"`
	Sites   []site              `toml:"site"`
	Channel chan int            `toml:"odd"`
	Hidden  int                 // not in files
}

type extra struct {
	Depth int `toml:"depth"`
	Width int `toml:"width"`
}

func (e *extra) SetDefaults() { e.Depth = 5 }

type site struct {
	Name string `toml:"name"`
	CPUs int    `toml:"cpus"`
	Nest []nest `toml:"nest"`
}

type nest struct {
	Label string `toml:"label"`
}

func read(texts ...string) (*plan, *settings.Reader) {
	p := &plan{Runs: 3}
	r := settings.NewReader(p)
	for i, text := range texts {
		r.Text(string(rune('a'+i))+".toml", "/base", text)
	}
	return p, r
}

func TestEveryKind(t *testing.T) {
	t.Parallel()
	got, r := read(`
		title = "one"
		fast = true
		load = 1
		seed = 7
		small = -128
		length = "1h30m"
		delta = 0.7
		trace = "x/y.swf"
		loads = [0.5, 2]
		phis = ["30s", "0"]
		sizes = [[1, 2], []]
		weight = { a = 1, b = 0.25 }
		extra.width = 4
		[group.east]
		width = 1
		[[site]]
		name = "north"
		[[site.nest]]
		label = "in"
		[[site]]
		cpus = 3`,
		`title = "two"
		loads = [3]
		weight = { b = 9, c = 2 }
		[group.east]
		depth = 6
		[[site]]
		name = "last"`)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	want := &plan{
		Title: "two", Fast: true, Load: 1, Runs: 3, Seed: 7, Small: -128, Length: 90 * protocol.Minute, Delta: 700_000,
		Trace: "/base/x/y.swf", Loads: []float64{3}, Phis: []protocol.Duration{30 * protocol.Second, 0},
		Sizes: [][]int{{1, 2}, {}}, Weight: map[string]float64{"a": 1, "b": 9, "c": 2},
		Extra: &extra{Depth: 5, Width: 4}, Groups: map[string]extra{"east": {Depth: 6, Width: 1}},
		Sites: []site{{Name: "north", Nest: []nest{{Label: "in"}}}, {CPUs: 3}, {Name: "last"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if at := r.Places().Find("site[2].cpus"); at.String() != "b.toml:6" {
		t.Errorf("the last site is at %v", at)
	}
	if !r.Set("extra.width") || r.Set("extra.depth") || r.Set("runs") {
		t.Error("what is set is not what the files set")
	}
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, r := read(`titles = "x"
fast = 1
load = 2.5
runs = 0
seed = -1
small = 128
length = 30
delta = 1.5
trace = "-----BEGIN SECRET"
loads = [1, "x"]
sizes = [[1, "y"]]
weight = 3
odd = 1
cpus = 2
[extra]
depth = 1.5
[group.east]
depth = "deep"
[[site]]
name = "north"
cpus = "many"
[[site]]
cpu = 1
[[site.nest]]
label = 4
[[crash]]
[[crash]]
`)
	want := `a.toml:1: titles: unknown key; did you mean "title"?
a.toml:2: fast: is a number; write true or false
a.toml:3: load: 2.5 is outside 0 to 2
a.toml:4: runs: 0 is outside 1 to 99
a.toml:5: seed: -1 is outside 0 to 9223372036854775807
a.toml:6: small: 128 is outside -128 to 127
a.toml:7: length: is a number; write a duration in quotes, as "30s", "2h" or "7d"
a.toml:8: delta: 1.5 is outside 0 to 1
a.toml:9: trace: this is a secret itself; put it in a file with mode 0600 and write the file's path here
a.toml:10: loads: is a text; write a number, as 0.5
a.toml:11: sizes: is a text; write a whole number, as 12
a.toml:12: weight: is a number; write a table, [weight]
a.toml:13: odd: keys of type chan int cannot be read; this is a mistake in the program
a.toml:14: cpus: unknown key; it belongs to [[site]]
a.toml:16: extra.depth: is a number with a point; write a whole number, as 12
a.toml:18: group.east.depth: is a text; write a whole number, as 12
a.toml:21: site[north].cpus: is a text; write a whole number, as 12
a.toml:23: site[2].cpu: unknown key; did you mean "cpus"?
a.toml:25: site[2].nest[1].label: is a number; write a text in quotes
a.toml:26: crash: unknown key; allowed here: title, fast, load, runs, seed, small, length, delta, trace, loads, phis, sizes, weight, extra, group, site, odd`
	if err := r.Err(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if r.Broken() {
		t.Error("a file with mistakes in its keys counts as broken")
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	_, r := read("title = 3\nruns = 2\n")
	r.OneOf("title", "rings", "ring", "star") // already told
	r.OneOf("extra", "rings", "ring", "star")
	r.OneOf("seed", "x", "ring")
	r.OneOf("fast", "ring", "ring")
	r.AtLeast("runs", 2, 3)
	r.Positive("length", 0)
	r.Warn("runs", "is %d, which is few", 2)
	want := `a.toml: extra: "rings" is unknown; did you mean "ring"? Allowed are "ring", "star"
a.toml: length: is 0; use 1ms or more
a.toml: seed: "x" is unknown; use "ring"
a.toml:1: title: is a number; write a text in quotes
a.toml:2: runs: is 2; use 3 or more`
	if err := r.Err(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if warnings := r.Warnings(); len(warnings) != 1 || warnings[0].String() != "a.toml:2: runs: is 2, which is few" {
		t.Errorf("warnings: %v", warnings)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.toml")
	if err := os.WriteFile(bad, []byte("a = 1\nb = = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		bad:                             bad + ":2: not TOML: ",
		filepath.Join(dir, "none.toml"): filepath.Join(dir, "none.toml") + ": cannot be read: no such file or directory",
	} {
		r := settings.NewReader(&plan{})
		r.File(path)
		if err := r.Err(); err == nil || !strings.HasPrefix(err.Error(), want) || !r.Broken() {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]protocol.Duration{
		"30s": 30 * protocol.Second, "2h": 2 * protocol.Hour, "7d": 7 * protocol.Day, "0": 0, "0d": 0, "0s": 0,
		"1d12h": 36 * protocol.Hour, "1.5s": 1500, "1ns": 1,
		"": -1, "d": -1, "30": -1, "-1d": -1, "1d-1h": -1, "1d1d": -1, "5 m": -1, "1w": -1, "99999999999d": -1, "36501d": -1,
	} {
		if got, err := settings.ParseDuration(text); (err != nil) != (want < 0) || (want >= 0 && got != want) {
			t.Errorf("%q: got %v, %v; want %d", text, got, err, want)
		}
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	for raw, want := range map[float64]settings.Share{
		0: 0, 1: 1_000_000, 0.7: 700_000, 0.1: 100_000, 0.3: 300_000, 0.999999: 999_999, 0.000001: 1,
		0.0000001: -1, 1.000001: -1, -0.1: -1, math.Inf(1): -1, 1e300: -1,
	} {
		var got settings.Share
		if err := got.UnmarshalTOML(raw); (err != nil) != (want < 0) || (want >= 0 && got != want) {
			t.Errorf("%v: got %v, %v; want %d", raw, got, err, want)
		}
	}
	for _, raw := range []any{math.NaN(), int64(2), int64(-1), "0.7", true} {
		if err := new(settings.Share).UnmarshalTOML(raw); err == nil {
			t.Errorf("%v was taken for a share", raw)
		}
	}
}

// What is printed is read as the same value.
func TestValuesSurviveAPrint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := plan{
			Title:  rapid.String().Draw(t, "title"),
			Load:   rapid.Float64Range(0, 2).Draw(t, "load"),
			Length: protocol.Duration(rapid.Int64Range(0, int64(settings.MaxDuration)).Draw(t, "length")),
			Delta:  settings.Share(rapid.IntRange(0, int(settings.Whole)).Draw(t, "delta")),
			Loads:  append([]float64{}, rapid.SliceOf(rapid.Float64()).Draw(t, "loads")...),
			Weight: rapid.MapOfN(rapid.StringMatching(`[a-z."]{0,4}`), rapid.Float64(), 1, 3).Draw(t, "weight"),
			Runs:   3,
		}
		var text strings.Builder
		for _, name := range []string{"title", "load", "length", "delta", "loads", "weight"} {
			field, ok := settings.Field(reflect.ValueOf(want), name)
			if !ok {
				t.Fatalf("no key %s", name)
			}
			text.WriteString(name + " = " + settings.Format(field) + "\n")
		}
		got, r := read(text.String())
		if err := r.Err(); err != nil || !reflect.DeepEqual(got, &want) {
			t.Fatalf("%v\n%s\ngot  %+v\nwant %+v", err, text.String(), got, want)
		}
	})
}

// Whatever the bytes: no panic, and each problem has a line of the file.
func FuzzText(f *testing.F) {
	f.Add("title = \"x\"\n[[site]]\nname = \"n\"\n[[site.nest]]\n[group.'a.b']\ndepth = 1\n")
	f.Add("site = [{ nest = [{}] }]\nweight.\"[0]\" = 1\nextra = 3\nsizes = [[[1]]]\n")
	f.Add("'[' = 1\ngroup = { '[' = { x = 1 } }\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, r := read(text)
		list, _ := errors.AsType[problems.List](r.Err())
		for _, p := range list {
			if p.File != "a.toml" || p.Text == "" || p.Line < 0 || p.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%+v", p)
			}
		}
	})
}

// FuzzParseDuration: a duration is within bounds, and reads back as it is printed.
func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"0", "30s", "7d", "1d12h", "1h30m", "1.5h", "100us", "-1s", "0d", "36500d", "1d-1h", "9999999999d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := settings.ParseDuration(text)
		if err != nil {
			return
		}
		printed := settings.FormatDuration(d)
		if again, err := settings.ParseDuration(printed); err != nil || again != d || d < 0 || d > settings.MaxDuration {
			t.Errorf("%q is %d, prints as %s and reads back as %d, %v", text, d, printed, again, err)
		}
	})
}
