package tune_test

import (
	"math"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/tune"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// pastRuns is a history: a memory-bound component on the opteron of the park, and one run cut off at its limit.
const pastRuns = `{"components": [{"user": "ada", "name": "mesh", "behavior": {}, "sites": [{"site": "opteron", "runs": [
	{"at_ms": 1772500000000, "cpus": 128, "ran_ms": 36000000},
	{"at_ms": 1772600000000, "cpus": 128, "ran_ms": 3600000, "censored": true}]}]}]}`

func history(t *testing.T, text string) *view.RunHistory {
	t.Helper()
	h, err := tune.ReadHistory(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return &h
}

// TestPriceHistory: a run of 10 h on 128 CPUs costs 128·10·(0.80 + 0.14·1.3·0.15) CHF on the opteron, where it was. Machines
// with too few CPUs are left out, and the run is cheapest at a site that charges less.
func TestPriceHistory(t *testing.T) {
	t.Parallel()
	plan := example(t, "iss/buy.toml")
	e, err := tune.PriceHistory(plan, history(t, pastRuns))
	if err != nil {
		t.Fatal(err)
	}
	if e.Runs != 1 || e.LeftOut != 1 || math.Abs(e.Actual-1280*(0.8+0.14*1.3*0.15)) > 1e-4 {
		t.Errorf("%d runs, %d left out, cost %.4f", e.Runs, e.LeftOut, e.Actual)
	}
	cheapest := 0
	for _, s := range e.Sites {
		cheapest += s.Best
		switch s.Site {
		case "opteron":
			if s.Ran != 1 || s.Fit != 1 || s.Here != s.Actual || s.Longer != 1 {
				t.Errorf("where it was: %+v", s)
			}
		case "smp":
			if s.Fit != 0 || s.Here != 0 {
				t.Errorf("32 CPUs for 128: %+v", s)
			}
		case "xeon":
			if s.Fit != 1 || s.Here >= s.Actual || s.Longer <= 0 {
				t.Errorf("a CPU for 0.27 in place of 0.80 CHF: %+v", s)
			}
		}
	}
	if cheapest != 1 || e.Cheapest >= e.Actual {
		t.Errorf("cheapest at %d sites, for %.2f of %.2f", cheapest, e.Cheapest, e.Actual)
	}
}

// TestCandidatesByHistory: a candidate that charges less than all sites saves the difference, and comes before one that
// saves nothing.
func TestCandidatesByHistory(t *testing.T) {
	t.Parallel()
	plan := example(t, "iss/buy.toml")
	h := history(t, pastRuns)
	before, err := tune.PriceHistory(plan, h)
	if err != nil {
		t.Fatal(err)
	}
	plan.Sites = plan.Sites[3:4] // only the opteron is left
	e, err := tune.PriceHistory(plan, h)
	if err != nil {
		t.Fatal(err)
	}
	first := e.Candidates[0]
	if first.Name != "a second cluster of Xeons" || first.Runs != 1 || first.Saved <= 0 || first.PerYear == nil {
		t.Errorf("the first candidate is %+v", first)
	}
	if e.Cheapest != e.Actual || e.Actual != before.Actual {
		t.Errorf("one site: %.2f at the cheapest of %.2f, before %.2f", e.Cheapest, e.Actual, before.Actual)
	}
}

func TestHistoryMistakes(t *testing.T) {
	t.Parallel()
	if _, err := tune.ReadHistory(strings.NewReader(`{"jobs": []}`)); err == nil || !strings.Contains(err.Error(), "switchyard runs --all --json") {
		t.Error(err)
	}
	plan := example(t, "iss/buy.toml")
	for text, want := range map[string]string{
		strings.ReplaceAll(pastRuns, `"opteron"`, `"cray"`): "runs at site cray, which the experiment does not have",
		`{"components": []}`: "no run that ended by itself",
	} {
		if _, err := tune.PriceHistory(plan, history(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	small := example(t, "iss/buy.toml")
	small.Sites[3].LocalSched.CPUs = 1 // the site of the run does not have the CPUs it ran on
	if _, err := tune.PriceHistory(small, history(t, pastRuns)); err == nil || !strings.Contains(err.Error(), "which has 1 CPUs in the experiment") {
		t.Error(err)
	}
	for _, damage := range []func(*view.PastRun){func(r *view.PastRun) { r.Ran = 0 }, func(r *view.PastRun) { r.Ran = -1 }, func(r *view.PastRun) { r.CPUs = 0 }} {
		h := history(t, pastRuns)
		damage(&h.Components[0].Sites[0].Runs[0])
		if _, err := tune.PriceHistory(plan, h); err == nil || !strings.Contains(err.Error(), "the run history has a run of") {
			t.Error(err)
		}
	}
}
