package experiment_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
)

// tunable is an experiment with all that "sim tune" reads.
const tunable = `currency = "CHF"
load = 30
[[site]]
name = "a"
[site.localsched]
cpus = 4
nodes = 4
[site.tariff]
cpu_hour = 0.5
currency = "CHF"
[[site]]
name = "b"
[site.localsched]
cpus = 4
nodes = 4
[site.tariff]
currency = "CHF"
[[workload]]
site = "a"
model = "M1"
scale = true
span = "1d"
jobs = 20
[tune]
seeds = 2
[tune.goal]
cost = 1
[[tune.axis]]
key = "default_weights.wait_weight"
values = [0, 1, 2]
[[tune.axis]]
key = "site.a.tariff.cpu_hour"
values = [0.1, 0.2]
[[candidate]]
name = "more"
price = 1000
[candidate.site]
name = "c"
[candidate.site.localsched]
cpus = 8
nodes = 8
[[candidate]]
name = "less"
retire = ["b"]
`

func TestTuning(t *testing.T) {
	t.Parallel()
	plan, err := experiment.Read(write(t, "tune.toml", tunable))
	if err != nil {
		t.Fatal(err)
	}
	if plan.Tune.Method != experiment.GridSearch || plan.Tune.Runs != 100 || plan.Tune.Goal.Sum() != 1 {
		t.Errorf("%+v", plan.Tune)
	}
	at := plan.At(&plan.Tune.Axes[1], 0.2)
	changed, err := plan.With(at...)
	if err != nil || changed.Sites[0].Tariff.CPUHour != 200_000 || plan.Sites[0].Tariff.CPUHour != 500_000 {
		t.Errorf("with %+v: %v; the price is %v, and was %v", at, err, changed.Sites[0].Tariff.CPUHour, plan.Sites[0].Tariff.CPUHour)
	}
	all := plan.At(&experiment.TuneAxis{Key: "site.*.tariff.cpu_hour"}, 3)
	if changed, err = plan.With(all...); err != nil || changed.Sites[0].Tariff.CPUHour != 3_000_000 || changed.Sites[1].Tariff.CPUHour != 3_000_000 {
		t.Errorf("with %+v: %v", all, err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	more, err := plan.Buying(&plan.Candidates[0])
	if err != nil || len(more.Sites) != 3 || len(plan.Sites) != 2 || more.Sites[2].Name != "c" {
		t.Errorf("bought: %v; %d sites of %d", err, len(more.Sites), len(plan.Sites))
	}
	ran, err := more.Run(t.Context(), experiment.Sender, 1, nil)
	if err != nil || len(ran.Sites) != 3 || ran.Sites[2].Ran == 0 {
		t.Errorf("%v; nothing ran on the new machine: %+v", err, ran.Sites)
	}
	less, err := plan.Buying(&plan.Candidates[1])
	if err != nil {
		t.Fatal(err)
	}
	if ran, err = less.Run(t.Context(), experiment.Sender, 1, nil); err != nil || ran.Sites[1].Ran != 0 || ran.Unplaced != 0 {
		t.Errorf("%v; retired: %+v, %d unplaced", err, ran.Sites, ran.Unplaced)
	}
}

// TestWhatUsersPayForPlainJobs: their part of the data's way and the site's charge for it, and
// energy by the power that each job draws.
func TestWhatUsersPayForPlainJobs(t *testing.T) {
	t.Parallel()
	const text = `scheme = "sender"
currency = "CHF"
[policy]
name = "iss"
[electricity]
start = "2026-03-02 08:00"
[power]
low = 0.5
high = 0.5
[data]
size = "100GB"
bandwidth = "1GB/s"
per_gb = 0.5
[[site]]
name = "dear"
price = 100.0
[site.localsched]
cpus = 4
nodes = 4
mhz = 2000
[site.power]
watts_per_cpu = 100
[site.cost.cpu]
price = 2.0
[site.cost.eco]
cooling = 1.0
[[site]]
name = "slow"
price = 100.0
[site.localsched]
cpus = 4
nodes = 4
mhz = 1000
[site.power]
watts_per_cpu = 100
[site.cost.cpu]
price = 0.01
[site.cost.eco]
cooling = 1.0
[site.cost.data]
per_gb_in = 0.25
[[workload]]
site = "dear"
trace = "t.swf"
`
	file := write(t, "data.toml", text)
	swf := "1 0 -1 36000 4 -1 -1 4 36000 -1 1 1 1 1 1 1 -1 -1\n2 0 -1 36000 4 -1 -1 4 36000 -1 1 1 1 1 1 1 -1 -1\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "t.swf"), []byte(swf), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := experiment.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	ran, err := plan.Run(t.Context(), experiment.Sender, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	// 10 h at home; elsewhere 20 h and 100 s, in which the data come, whose way costs 50 CHF and their receipt 25.
	const guest = 20 + 100.0/3600
	kWh := 4 * 0.1 * 0.5 * (10 + guest)
	users := 4*10*2.0 + 4*guest*0.01 + kWh*0.1 + 50 + 25
	if got := ran.Drawn(); math.Abs(got-kWh) > 1e-9 || math.Abs(got-1000*ran.MWh) > 1e-9 {
		t.Errorf("drawn %v kWh, want %v; paid for %v MWh", got, kWh, ran.MWh)
	}
	got, sites := ran.Paid()
	if math.Abs(got-users) > 1e-5 || math.Abs(sites[0]+sites[1]+50-users) > 1e-5 {
		t.Errorf("users pay %v, sites earn %v, want %v in all", got, sites, users)
	}
}

// TestTuningThatCannotBe: all mistakes at once, each with its line.
func TestTuningThatCannotBe(t *testing.T) {
	t.Parallel()
	const text = `[[site]]
name = "a"
[site.localsched]
cpus = 4
nodes = 4
[[workload]]
site = "a"
model = "M1"
scale = true
[tune]
method = "guess"
runs = 0
seeds = -1
goals = 3
[tune.goal]
cost = -1
speed = 2
[[tune.axis]]
values = [1, 2]
[[tune.axis]]
key = "default_weights.betta"
values = [1, 2]
[[tune.axis]]
key = "rounds.volunteer_below"
values = [0.5, 7]
[[tune.axis]]
key = "default_weights.compute_weight"
values = [1]
[[tune.axis]]
key = "default_weights.compute_weight"
values = [1, 2]
[[tune.axis]]
key = "site.x.nodes"
values = [3, 3]
[[candidate]]
price = -5
lifetime = "1s"
[[candidate]]
name = "b"
retire = ["z", "a", "a"]
[candidate.site]
name = "a"
cpu_hours = 3
[candidate.site.localsched]
cpus = 0
nodes = 0
[candidate.site.cost.cpu]
price = -1
[[candidate]]
name = "b"
price = 7
[candidate.site]
name = "c"
[candidate.site.localsched]
cpus = 2
nodes = 2
[[candidate]]
name = "d"
retire = ["a"]
`
	_, err := experiment.Read(write(t, "bad.toml", text))
	at := func(line int, key string, words ...string) problemstest.Want {
		return problemstest.At("bad.toml", line, key, words...)
	}
	problemstest.Check(t, err,
		at(11, "tune.method", `"grid" or "nelder-mead"`),
		at(12, "tune.runs", "1 to 20000"),
		at(13, "tune.seeds", "0 or more"),
		at(14, "tune.goals", `mean "goal"`),
		at(16, "tune.goal.cost", "0 to 1000"),
		at(17, "tune.goal.speed", "unknown key"),
		at(18, "tune.axis[1].key", "missing"),
		at(20, "tune.axis[2]", "default_weights.betta = 1"),
		at(23, "tune.axis[3]", "0 to 1"),
		at(28, "tune.axis[4].values", "two numbers"),
		at(30, "tune.axis[5].key", "another axis"),
		at(34, "tune.axis[6].values", "twice"),
		at(32, "tune.axis[6]", `"x"`),
		at(35, "candidate[1].name", "missing"),
		at(36, "candidate[1].price", "negative"),
		at(37, "candidate[1].lifetime"),
		at(35, "candidate[1]", "nothing"),
		at(40, "candidate[b].retire", `"z"`),
		at(42, "candidate[b].site.name", "another site"),
		at(46, "candidate[b].site.localsched.nodes", "1 or more"),
		at(43, "candidate[b].site.cpu_hours", "unknown key"),
		at(0, "candidate[b].site.cost.cpu.price"),
		at(50, "candidate[b].name", "another candidate"),
		at(51, "candidate[b].price", "currency"),
		at(0, "candidate[d].retire", "no machine"))
}

func TestTuningAndTheRestOfTheFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ from, to, key, word string }{
		"no limits":   {"cost = 1\n", "cost = 1\nlimits = 1\n", "tune.goal.limits", "applications"},
		"no goal":     {"cost = 1\n", "", "tune.goal", "missing"},
		"no tune":     {tunable[strings.Index(tunable, "[tune]"):strings.Index(tunable, "[[candidate]]")], "", "candidate[more]", "goal"},
		"too fine":    {"seeds = 2", "runs = 5", "tune.runs", "5"},
		"by factors":  {"seeds = 2", "method = \"nelder-mead\"", "", ""},
		"no room":     {"[0, 1, 2]\n", "[0, 1]\n[[tune.axis]]\nkey = \"load\"\nvalues = [1, 2]\n", "", ""},
		"no factors":  {"seeds = 2\n[tune.goal]\ncost = 1\n[[tune.axis]]\nkey = \"default_weights.wait_weight\"\nvalues = [0, 1, 2]", "method = \"nelder-mead\"\n[tune.goal]\ncost = 1\n[[tune.axis]]\nkey = \"default_weights.wait_weight\"\nvalues = [0, 2]", "tune.axis[1].values", "factors"},
		"no such":     {"default_weights.wait_weight", "application.*.wait_weight", "tune.axis[1].key", "application.*.wait_weight"},
		"bad star":    {"default_weights.wait_weight", "site*", "tune.axis[1].key", "site*"},
		"no currency": {"currency = \"CHF\"\n", "", "candidate[more].price", "currency"},
		"half priced": {"retire = [\"b\"]\n", "[candidate.site]\nname = \"d\"\n\n[candidate.site.localsched]\ncpus = 1\n", "candidate[less].price", "all candidates"},
		"history":     {"currency", "history = 3\ncurrency", "candidate[less].retire", "history"},
	} {
		if !strings.Contains(tunable, test.from) {
			t.Fatalf("%s: nothing to replace", name)
		}
		_, err := experiment.Read(write(t, "x.toml", strings.Replace(tunable, test.from, test.to, 1)))
		var want []problemstest.Want
		if test.key != "" {
			want = append(want, problemstest.At("x.toml", 0, test.key, test.word))
		}
		if !problemstest.Check(t, err, want...) {
			t.Log(name)
		}
	}
}
