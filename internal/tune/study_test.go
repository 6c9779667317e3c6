package tune_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/tune"
)

// pair is a grid of a dear site that is busy and a cheap, slow one, with machines to buy.
const pair = `
scheme = "sender"
currency = "CHF"
seeds = 2

[policy]
name = "iss"

[[waiting_cost]]
name = "boss"
kind = "salary"
rate = 50.0
hours = "00:00-24:00"
days = "mon-sun"

[default_weights]
wait_weight = 0.0
waiting_cost = "boss"

[[site]]
name = "busy"
[site.localsched]
cpus = 8
nodes = 8
mhz = 2000
[site.power]
watts_per_cpu = 100
[site.cost.cpu]
price = 1.0
[site.cost.eco]
price = 100.0

[[site]]
name = "slow"
[site.localsched]
cpus = 8
nodes = 8
mhz = 500
[site.power]
watts_per_cpu = 100
[site.cost.cpu]
price = 0.1
[site.cost.eco]
price = 100.0

[[workload]]
site = "busy"
trace = "jobs.swf"

[tune]
[tune.goal]
response = 1.0
cost = 0.5
[[tune.axis]]
key = "default_weights.wait_weight"
values = [0, 1, 100]
[[tune.axis]]
key = "site.slow.cost.cpu.price"
values = [0.1, 2]

[[candidate]]
name = "a pebble"
price = 900000.0
[candidate.site]
name = "pebble"
[candidate.site.localsched]
cpus = 1
mhz = 100
[candidate.site.power]
watts_per_cpu = 100
[candidate.site.cost.cpu]
price = 9.0
[candidate.site.cost.eco]
price = 100.0

[[candidate]]
name = "no busy one"
retire = ["busy"]

[[candidate]]
name = "its twin"
price = 1000.0
[candidate.site]
name = "twin"
[candidate.site.localsched]
cpus = 8
nodes = 8
mhz = 2000
[candidate.site.power]
watts_per_cpu = 100
[candidate.site.cost.cpu]
price = 0.5
[candidate.site.cost.eco]
price = 100.0
`

// trace has four times as much work as the busy site can do while it comes.
func trace() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "%d %d -1 %d 4 -1 -1 4 4000 -1 1 1 1 1 1 1 -1 -1\n", i+1, 100+225*i, 1500+13*i)
	}
	return b.String()
}

func study(t testing.TB) *tune.Study {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"jobs.swf": trace(), "pair.toml": pair} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := experiment.Read(filepath.Join(dir, "pair.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	s, err := tune.New(plan)
	if err != nil {
		t.Fatal(err)
	}
	s.Workers = 2
	return s
}

func result(t testing.TB, s *tune.Study) *tune.Result {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWeightsByRealSimulation: β shifts work from the cheap machine to the fast one, as
// [IS 4.2] says, and a price of a site is a key like any other.
func TestWeightsByRealSimulation(t *testing.T) {
	t.Parallel()
	r := result(t, study(t))
	at := map[string]*tune.Tried{}
	for i := range r.Points {
		p := &r.Points[i]
		at[fmt.Sprint(p.At)] = p
	}
	patient, hasty, expensive := at["[0 0.1]"], at["[100 0.1]"], at["[0 2]"]
	if !(patient.Cost.Mean < hasty.Cost.Mean && patient.Response.Mean > hasty.Response.Mean) {
		t.Errorf("β = 0: %v CHF, %v s; β = 100: %v CHF, %v s",
			patient.Cost.Mean, patient.Response.Mean, hasty.Cost.Mean, hasty.Response.Mean)
	}
	if !(patient.Sites[1].Utilization.Mean > 0.9 && expensive.Sites[1].Utilization.Mean < 0.1) {
		t.Errorf("the slow site works %v while it is cheap, and %v while it is dear",
			patient.Sites[1].Utilization.Mean, expensive.Sites[1].Utilization.Mean)
	}
	if r.Best == nil || r.Points[*r.Best].At[0] == 0 {
		t.Fatalf("best is %v, and not a point where waiting counts", r.Best)
	}
	for i := range r.Points {
		if r.Points[i].Goal.Mean < r.Points[*r.Best].Goal.Mean {
			t.Errorf("%v does better than the best", r.Points[i].At)
		}
	}
}

// TestUsersCostIsWhatSitesEarn: nothing travels here, so nobody else is paid.
func TestUsersCostIsWhatSitesEarn(t *testing.T) {
	t.Parallel()
	for _, p := range result(t, study(t)).Points {
		sum := 0.0
		for _, site := range p.Sites {
			sum += site.Income.Mean
		}
		if sum == 0 || sum < p.Cost.Mean*0.999999 || sum > p.Cost.Mean*1.000001 {
			t.Errorf("%v: users pay %v, sites earn %v", p.At, p.Cost.Mean, sum)
		}
	}
}

// TestRankingByRealSimulation: a twin of the busy machine is worth its price, a pebble is
// not, and the busy machine itself is not what to give up.
func TestRankingByRealSimulation(t *testing.T) {
	t.Parallel()
	s := study(t)
	s.Buy = true
	r := result(t, s)
	names := make([]string, len(r.Candidates))
	for i := range r.Candidates {
		names[i] = r.Candidates[i].Name
	}
	if len(names) != 3 || names[0] != "its twin" || names[2] != "no busy one" {
		t.Fatalf("ranked %q", names)
	}
	twin, pebble, none := &r.Candidates[0], &r.Candidates[1], &r.Candidates[2]
	if twin.Gain.Mean < 0.1 || twin.GainPerPrice == nil || twin.Response.Mean > -0.1 {
		t.Errorf("the twin gains %v (for its price %v) and changes the response by %v", twin.Gain.Mean, twin.GainPerPrice, twin.Response.Mean)
	}
	if twin.PerYear != 250 {
		t.Errorf("1000 CHF over four years are %v a year", twin.PerYear)
	}
	if pebble.Gain.Mean > 0.01 || pebble.GainPerPrice != nil && *pebble.GainPerPrice > *twin.GainPerPrice/100 {
		t.Errorf("the pebble gains %v", pebble.Gain.Mean)
	}
	if none.Gain.Mean > -0.1 || none.Means.Undone.Mean != 0 || none.Means.Sites[0].Utilization.Mean != 0 || none.Means.Sites[0].CPUs != 0 {
		t.Errorf("without the busy machine: %+v", none)
	}
	if len(none.Gain.Values) != 2 {
		t.Errorf("gains of %d seeds", len(none.Gain.Values))
	}
}

// TestDemand: when waiting costs nothing all want the cheap machine.
func TestDemand(t *testing.T) {
	t.Parallel()
	s := study(t)
	s.Buy = true
	r := result(t, s)
	if len(r.Demands) != 2 || r.Demands[1].Site != "slow" || r.Demands[1].Ratio.Mean <= 1 || r.Demands[0].Ratio.Mean >= 1 {
		t.Errorf("demands %+v", r.Demands)
	}
}

// TestStudyHasTheSameBytes whatever the workers do, as JSON and as a page.
func TestStudyHasTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, method := range experiment.Methods() {
		var first []byte
		for _, workers := range []int{1, 3} {
			s := study(t)
			s.Buy, s.Workers, s.Method, s.Runs = true, workers, method, 8
			reported := 0
			s.Progress = func(done int) { reported = done }
			r := result(t, s)
			if most := s.Simulations(); reported > most || method == experiment.GridSearch && reported != most {
				t.Errorf("%s: %d simulations of %d", method, reported, most)
			}
			page, err := r.Page(report.Source{})
			if err != nil {
				t.Fatal(err)
			}
			html, err := page.HTML()
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, html...)
			if first == nil {
				first = text
			}
			if !bytes.Equal(text, first) {
				t.Errorf("%s: other bytes with %d workers", method, workers)
			}
		}
	}
}

// TestPageShowsWhatWasFound: every figure, and the best point in words.
func TestPageShowsWhatWasFound(t *testing.T) {
	t.Parallel()
	s := study(t)
	s.Buy = true
	r := result(t, s)
	page, err := r.Page(report.Source{Command: "switchyard sim tune pair.toml"})
	if err != nil {
		t.Fatal(err)
	}
	html, err := page.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`id="goal-1"`, `id="goal-2"`, `id="candidates"`, `id="used"`, "Of 6 points the best is default_weights.wait_weight = ",
		"its twin", "has no place on a logarithmic axis", "mean response (weight 1), each relative", "switchyard sim tune pair.toml", "2 seeds, from 1 on",
	} {
		if !bytes.Contains(html, []byte(want)) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

func TestStudiesThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*tune.Study)
		want   string
	}{
		"method":       {func(s *tune.Study) { s.Method = "guess" }, `invalid method "guess"; use grid or nelder-mead`},
		"runs":         {func(s *tune.Study) { s.Runs = 0 }, "0 runs; give 1 or more"},
		"too fine":     {func(s *tune.Study) { s.Runs = 5 }, "the grid has 6 points, and 5 runs are allowed"},
		"nothing":      {func(s *tune.Study) { s.Plan.Candidates, s.Buy = nil, true }, "no candidate to buy"},
		"no axes":      {func(s *tune.Study) { s.Plan.Tune.Axes = nil }, "nothing to tune"},
		"no room":      {func(s *tune.Study) { s.Method, s.Plan.Tune.Axes[0].Values = experiment.NelderMead, []float64{0, 1} }, "two values above 0"},
		"below factor": {func(s *tune.Study) { s.Method, s.Plan.Tune.Axes[0].Values = experiment.NelderMead, []float64{-1, 1, 2} }, "none below"},
	} {
		s := study(t)
		test.change(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	plan, err := experiment.Preset("light")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = tune.New(plan); err == nil || !strings.Contains(err.Error(), "no table [tune]") {
		t.Errorf("without [tune]: %v", err)
	}
}
