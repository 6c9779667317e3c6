package slurm_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// waits are estimates, by predictor.
type waits = map[string]protocol.Duration

func newObserved(t *testing.T) *slurm.Observed {
	t.Helper()
	return slurm.LoadObserved(t.TempDir(), slog.New(slog.DiscardHandler))
}

func expectWaits(t *testing.T, what string, o *slurm.Observed, r protocol.Request, guess waits, want [3]protocol.Duration) {
	t.Helper()
	if low, middle, high := o.Waits(r, guess); [3]protocol.Duration{low, middle, high} != want {
		t.Errorf("%s: %v %v %v, want %v", what, low, middle, high, want)
	}
}

// TestWaits feeds waits that are a fixed share of what was estimated.
func TestWaits(t *testing.T) {
	t.Parallel()
	const hour, minute = protocol.Hour, protocol.Minute
	one := protocol.Request{CPUs: 4, WallTime: hour, PowerClass: 7}
	other := protocol.Request{CPUs: 64, WallTime: 24 * hour, PowerClass: 8}

	o := newObserved(t)
	expectWaits(t, "nothing known", o, one, waits{"plan": hour}, [3]protocol.Duration{hour / 4, hour, hour})
	expectWaits(t, "they disagree", o, one, waits{"runs": minute, "plan": hour, "slurm": 2 * hour}, [3]protocol.Duration{minute / 4, minute, 2 * hour})
	expectWaits(t, "never", o, one, waits{"runs": protocol.Never, "plan": protocol.Never},
		[3]protocol.Duration{protocol.Never, protocol.Never, protocol.Never})
	o.Add(19, one, waits{"plan": hour}, 0)
	expectWaits(t, "too little known", o, one, waits{"plan": hour}, [3]protocol.Duration{hour / 4, hour, hour})

	o = newObserved(t)
	o.Add(30, one, waits{"plan": 59 * minute, "slurm": 59 * minute}, 29*minute)
	expectWaits(t, "half as long", o, one, waits{"plan": 59 * minute}, [3]protocol.Duration{29 * minute, 29 * minute, 29 * minute})
	expectWaits(t, "of another kind, perhaps not", o, other, waits{"plan": 59 * minute}, [3]protocol.Duration{29 * minute, 29 * minute, 59 * minute})
	expectWaits(t, "much shorter waits say nothing of this", o, one, waits{"plan": 5 * hour}, [3]protocol.Duration{5 * hour / 4, 5 * hour, 5 * hour})

	o = newObserved(t)
	o.Add(5, one, waits{"plan": 59 * minute}, 29*minute)
	o.Add(20, one, waits{"plan": 59 * minute}, 59*minute)
	o.Add(5, one, waits{"plan": 59 * minute}, 119*minute)
	expectWaits(t, "spread", o, one, waits{"plan": 59 * minute}, [3]protocol.Duration{29 * minute, 59 * minute, 119 * minute})
	o.Add(30, one, waits{"slurm": 59 * minute}, 59*minute)
	expectWaits(t, "the other has been right", o, one, waits{"plan": 59 * minute, "slurm": 49 * minute},
		[3]protocol.Duration{49 * minute, 49 * minute, 49 * minute})

	o = newObserved(t)
	o.Add(30, one, waits{"plan": 59 * minute}, 29*minute)
	o.Add(30, protocol.Request{CPUs: 4, WallTime: hour, PowerClass: 9}, waits{"plan": 59 * minute}, 119*minute)
	expectWaits(t, "other users' jobs", o, one, waits{"plan": 59 * minute}, [3]protocol.Duration{29 * minute, 29 * minute, 29 * minute})
	o.Add(300, one, waits{"plan": 59 * minute}, 59*minute)
	expectWaits(t, "the last ones count", o, one, waits{"plan": 59 * minute}, [3]protocol.Duration{59 * minute, 59 * minute, 59 * minute})
}

// TestObservedIsKept: what was observed is there again, and a file that cannot be read is set
// aside, not overwritten.
func TestObservedIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var said strings.Builder
	log := slog.New(slog.NewTextHandler(&said, nil))
	r := protocol.Request{CPUs: 4, WallTime: protocol.Hour, PowerClass: 7}
	o := slurm.LoadObserved(dir, log)
	o.Add(30, r, waits{"plan": 59 * protocol.Minute}, 29*protocol.Minute)
	if err := o.Save(); err != nil {
		t.Fatal(err)
	}
	again := slurm.LoadObserved(dir, log)
	expectWaits(t, "after a restart", again, r, waits{"plan": 59 * protocol.Minute},
		[3]protocol.Duration{29 * protocol.Minute, 29 * protocol.Minute, 29 * protocol.Minute})
	if said.Len() > 0 {
		t.Error(said.String())
	}
	file := filepath.Join(dir, "observed.json")
	for _, text := range []string{`{"plan":[{"estimate_ms":1,"actual_ms":2}]}`, `{"version":3,"pairs":[]}`, `{"version":3,"pairs":{}}`, "x"} {
		said.Reset()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		slurm.LoadObserved(dir, log)
		aside, err := os.ReadFile(file + ".old")
		if err != nil || string(aside) != text || !strings.Contains(said.String(), "observed_waits_load_failed") {
			t.Errorf("%s: set aside as %s, %v; the log: %s", text, aside, err, said.String())
		}
		if _, err = os.Stat(file); err == nil {
			t.Errorf("%s is still there", text)
		}
	}
}

func TestWaitsAreOrdered(t *testing.T) {
	t.Parallel()
	span := rapid.Int64Range(0, int64(protocol.Never))
	rapid.Check(t, func(t *rapid.T) {
		o := slurm.LoadObserved("/nowhere", slog.New(slog.DiscardHandler))
		draw := func(what string) waits {
			w := waits{}
			for _, name := range []string{"runs", "plan", "slurm"} {
				if rapid.Bool().Draw(t, what+" by "+name) {
					w[name] = protocol.Duration(span.Draw(t, what))
				}
			}
			return w
		}
		r := protocol.Request{CPUs: 1, WallTime: 1, PowerClass: 1}
		for range rapid.IntRange(0, 4).Draw(t, "kinds") {
			r.CPUs = rapid.IntRange(1, 2).Draw(t, "cpus")
			o.Add(rapid.IntRange(1, 30).Draw(t, "pairs"), r, draw("estimate"), protocol.Duration(span.Draw(t, "actual")))
		}
		low, middle, high := o.Waits(r, draw("wait"))
		if low < 0 || low > middle || middle > high {
			t.Fatalf("%d %d %d", low, middle, high)
		}
	})
}
