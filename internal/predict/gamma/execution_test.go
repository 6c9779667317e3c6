package gamma_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestMeasure reads runs whose r_a and b one reckons by hand.
func TestMeasure(t *testing.T) {
	t.Parallel()
	stated := protocol.Behavior{Mflop: 16_000_000, Mwords: 8_000_000, Sent: 2e9, Messages: 1e6, CPUs: 8, Scaling: protocol.Surface}
	run := gamma.Execution{Machine: machine(), CPUs: 8, Ran: 2_300_000}
	timed := run
	timed.Usage.CPU = 8 * 1_250_000
	counted := timed
	counted.Usage.Mflop, counted.Usage.Sent = 20_000_000, 5e9
	wider := gamma.Execution{ // 64 CPUs would each send a quarter of what 8 do
		Machine: machine(), CPUs: 64, Ran: 1_000_000, Usage: protocol.Usage{CPU: 64 * 700_000, Messages: 2e6},
	}
	alone := gamma.Execution{Machine: machine(), CPUs: 1, Ran: 10_000_000}
	for name, c := range map[string]struct {
		run          gamma.Execution
		ra, b, gamma float64
	}{
		"only the run time, twice the foreseen": {run, 1e9, 1e7, 10},
		"the CPU time":                          {timed, 1.6e9, 2e6, 1.25},
		"counters":                              {counted, 2e9, 5e6, 1.25},
		"counted on other CPUs":                 {wider, 16e12 / 64 / 700, 5e8 / 200, 3.5},
		"one CPU":                               {alone, 1.6e9, 2e7, gamma.Huge},
	} {
		p := gamma.Measure(stated, c.run)
		if math.Abs(p.Ra/c.ra-1) > 1e-9 || math.Abs(p.B/c.b-1) > 1e-9 || math.Abs(p.Gamma/c.gamma-1) > 1e-9 {
			t.Errorf("%s: r_a %g, b %g, Γ %g; want %g, %g, %g", name, p.Ra, p.B, p.Gamma, c.ra, c.b, c.gamma)
		}
		if p.Time != c.run.Ran {
			t.Errorf("%s: the parts of %v make %v", name, c.run.Ran, p.Time)
		}
	}
	if p := gamma.Measure(protocol.Behavior{}, run); p != (gamma.Prediction{}) {
		t.Errorf("reads %+v from a run of which nothing is known", p)
	}
}

// TestTrim: the latest of each site are kept, in order of time, and trimming again changes
// nothing.
func TestTrim(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var runs []gamma.Execution
		for i := range rapid.IntRange(0, 400).Draw(t, "runs") {
			site := rapid.SampledFrom([]protocol.SiteName{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}).Draw(t, "site")
			runs = append(runs, gamma.Execution{Site: site, CPUs: i, At: protocol.Instant(rapid.IntRange(0, 300).Draw(t, "at"))})
		}
		kept := gamma.Trim(runs)
		if len(kept) > gamma.KeepAll || !slices.IsSortedFunc(kept, func(a, b gamma.Execution) int { return cmp.Compare(a.At, b.At) }) {
			t.Fatalf("keeps %d, or not in order", len(kept))
		}
		if again := gamma.Trim(kept); !slices.Equal(again, kept) {
			t.Fatalf("trimmed again %d are %d, or others", len(kept), len(again))
		}
		ofSite := make(map[protocol.SiteName]int)
		for i := range kept {
			if ofSite[kept[i].Site]++; ofSite[kept[i].Site] > gamma.Keep {
				t.Fatalf("keeps more than %d of %s", gamma.Keep, kept[i].Site)
			}
		}
		for i := range runs {
			lost := !slices.Contains(kept, runs[i])
			if lost && ofSite[runs[i].Site] < gamma.Keep && len(kept) < gamma.KeepAll {
				t.Fatalf("loses %+v although there is room", runs[i])
			}
			older := func(k gamma.Execution) bool { return k.Site == runs[i].Site && k.At < runs[i].At }
			if lost && slices.ContainsFunc(kept, older) {
				t.Fatalf("loses %+v but keeps an older one of its site", runs[i])
			}
		}
	})
}
