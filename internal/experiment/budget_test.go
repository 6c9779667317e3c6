package experiment_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// within is a site under a power budget by day, whose jobs come all the time and would
// fill it, and an idle one. The trace is at TRACE.
const within = `
scheme = "sender"
compare = ["local"]

[electricity]
start = "2026-01-05 00:00"
zone = "Europe/Oslo"

[[site]]
name = "day"

[site.localsched]
cpus = 16
nodes = 16

[site.power]
watts_per_cpu = 100
budget_kw = 0.8
on_peak = "09:00-21:00"

[[site]]
name = "free"

[site.localsched]
cpus = 16
nodes = 16

[[workload]]
site = "day"
trace = "TRACE"
`

// steady writes a trace of these days: every quarter of an hour a job with these CPUs
// comes, for half an hour.
func steady(t *testing.T, days, cpus int) string {
	t.Helper()
	var b strings.Builder
	for i := range days * 96 {
		fmt.Fprintf(&b, "%d %d -1 1790 %d -1 -1 %d 1800 -1 1 1 1 1 1 1 -1 -1\n", i+1, i*900, cpus, cpus)
	}
	return write(t, "steady.swf", b.String())
}

func budgeted(t *testing.T, text string, changes ...string) *experiment.Plan {
	t.Helper()
	text = strings.NewReplacer(changes...).Replace(text)
	return opened(t, strings.ReplaceAll(text, "TRACE", steady(t, 3, 8)))
}

// peak says whether the budget of the plan within holds.
func peak(at protocol.Instant) bool {
	hour := protocol.Duration(at) % protocol.Day / protocol.Hour
	return hour >= 9 && hour < 21
}

// moved counts the jobs of a site that run elsewhere and at home, by whether they come
// on-peak.
func moved(o *experiment.Outcome, home int) (away, here map[bool]int) {
	away, here = map[bool]int{}, map[bool]int{}
	for i, job := range o.Jobs {
		switch p := o.Result.Placements[i]; {
		case p.Site == home:
			here[peak(job.Submit)]++
		case p.Site >= 0:
			away[peak(job.Submit)]++
		}
	}
	return away, here
}

// TestJobsMoveAwayFromABudget: on-peak half of the jobs that fill the site go to the other
// one; when the budget ends they stay. The same seed gives the same bytes.
func TestJobsMoveAwayFromABudget(t *testing.T) {
	t.Parallel()
	plan := budgeted(t, within)
	got := run(t, plan, experiment.Sender, 1)
	if got.Unplaced != 0 {
		t.Errorf("%d jobs are not placed", got.Unplaced)
	}
	away, here := moved(got, 0)
	if away[true] < here[true]/2 || away[false] > here[false]/10 {
		t.Errorf("on-peak %d jobs leave and %d stay, off-peak %d and %d", away[true], here[true], away[false], here[false])
	}
	if again := run(t, plan, experiment.Sender, 1); again.Hash != got.Hash {
		t.Errorf("the same seed gives %s and %s", got.Hash, again.Hash)
	}
	free := run(t, budgeted(t, within, "budget_kw", "# budget_kw", "on_peak", "# on_peak"), experiment.Sender, 1)
	if away, _ = moved(free, 0); away[true] > 3 || free.Hash == got.Hash {
		t.Errorf("without a budget %d jobs leave on-peak", away[true])
	}
	wide := run(t, set(t, plan, experiment.Setting{Key: "budget_kw", Value: "1.6"}), experiment.Sender, 1)
	if away, _ = moved(wide, 0); away[true] > 3 {
		t.Errorf("within a budget that is enough for all %d jobs leave on-peak", away[true])
	}
}

// TestBudgetHoldsInTheGrid: in neither mode more power is drawn on-peak than the budget has,
// but by jobs that have run since before; without partners the jobs wait.
func TestBudgetHoldsInTheGrid(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"window", "filter"} {
		plan := set(t, budgeted(t, within), experiment.Setting{Key: "budget_mode", Value: mode})
		for _, scheme := range []experiment.Scheme{experiment.Local, experiment.Sender} {
			got := run(t, plan, scheme, 1)
			started := 0
			for i, p := range got.Result.Placements {
				if p.Site != 0 || !peak(p.Start) {
					continue
				}
				started++
				draw := 0
				for k, q := range got.Result.Placements {
					if q.Site == 0 && q.Start <= p.Start && p.Start < q.End {
						draw += 100 * got.Jobs[k].CPUs
					}
				}
				if draw > 800 {
					t.Fatalf("%s, %s: %d W are drawn when job %d starts, of 800", mode, scheme, draw, i)
				}
			}
			if started < 30 {
				t.Errorf("%s, %s: %d jobs start on-peak", mode, scheme, started)
			}
		}
	}
}

// TestBudgetIsInTheDigest: an idle site whose budget keeps its CPUs from working does not
// volunteer; it does from the minute on at which the budget ends, though nothing happens
// there.
func TestBudgetIsInTheDigest(t *testing.T) {
	t.Parallel()
	plan := budgeted(t, within, "scheme = \"sender\"", "scheme = \"receiver\"", "budget_kw = 0.8", "budget_kw = 0.3",
		"site = \"day\"", "site = \"free\"", "cpus = 16\nnodes = 16\n\n[[workload]]", "cpus = 8\nnodes = 8\n\n[[workload]]")
	got := run(t, plan, experiment.Receiver, 1)
	var starts [24]int
	for _, p := range got.Result.Placements {
		if p.Site == 0 {
			starts[protocol.Duration(p.Start)%protocol.Day/protocol.Hour]++
		}
	}
	for hour, n := range starts {
		if dark := hour < 9 || hour >= 21; dark && n < 3 || !dark && n > 0 {
			t.Errorf("%d jobs of the busy site start at the idle one in the hour %d", n, hour)
		}
	}
}

// TestBudgetIsGossip: partners that ask the least busy site only ask it again from the hour on
// at which its budget ends, though nothing has happened there.
func TestBudgetIsGossip(t *testing.T) {
	t.Parallel()
	plan := set(t, budgeted(t, within+"\n[[site]]\nname = \"busy\"\n\n[site.localsched]\ncpus = 8\nnodes = 8\n", "budget_kw = 0.8", "budget_kw = 0.3",
		"site = \"day\"", "site = \"busy\""), experiment.Setting{Key: "partners_per_round", Value: "1"})
	got := run(t, plan, experiment.Sender, 1)
	var day, free [24]int
	for _, p := range got.Result.Placements {
		switch hour := protocol.Duration(p.Start) % protocol.Day / protocol.Hour; p.Site {
		case 0:
			day[hour]++
		case 1:
			free[hour]++
		}
	}
	for hour := range 24 {
		if dark := hour < 9 || hour >= 21; dark && day[hour] < 1 || !dark && (day[hour] > 0 || free[hour] < 3) {
			t.Errorf("in the hour %d %d jobs start at the site with a budget and %d at the other", hour, day[hour], free[hour])
		}
	}
}

// TestBudgetByPrice: it holds while a MWh costs more, and not around noon.
func TestBudgetByPrice(t *testing.T) {
	t.Parallel()
	const expensive = `
[[site.period]]
hours = "09:00-12:00,15:00-21:00"
price = 60
`
	plan := budgeted(t, "currency = \"EUR\"\n"+within, `on_peak = "09:00-21:00"`, "price = 50"+expensive, `name = "day"`, "name = \"day\"\nprice = 40",
		`name = "free"`, "name = \"free\"\nprice = 40\npower = { watts_per_cpu = 100 }")
	got := run(t, plan, experiment.Sender, 1)
	away := map[bool]int{}
	for i, job := range got.Jobs {
		if hour := protocol.Duration(job.Submit) % protocol.Day / protocol.Hour; got.Result.Placements[i].Site == 1 && hour >= 9 && hour < 21 {
			away[hour < 12 || hour >= 15]++
		}
	}
	if away[true] < 20 || away[false] > 3 {
		t.Errorf("%d jobs leave in dear hours, %d around noon", away[true], away[false])
	}
}

// TestLongBudget: jobs that wait for a weekend are not given up.
func TestLongBudget(t *testing.T) {
	t.Parallel()
	plan := budgeted(t, within, `on_peak = "09:00-21:00"`, `on_peak = "mon-fri 00:00-24:00"`, "budget_kw = 0.8", "budget_kw = 0.3")
	for _, scheme := range []experiment.Scheme{experiment.Local, experiment.Receiver} {
		if got := run(t, set(t, plan, experiment.Setting{Key: "grid_share", Value: "0"}), scheme, 1); got.Unplaced > 0 {
			t.Errorf("%s: %d jobs are not placed", scheme, got.Unplaced)
		}
	}
}

// TestPowerBudgetExample: the smaller the budget of examples/experiments/power-budget.toml,
// the less is paid and the longer jobs wait alone, and a partner takes most of that wait.
func TestPowerBudgetExample(t *testing.T) {
	t.Parallel()
	plan, err := experiment.Read("../../examples/experiments/power-budget.toml")
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	var last *experiment.Outcome
	for _, kilowatts := range []string{"70", "20", "10"} {
		within := set(t, plan, experiment.Setting{Key: "budget_kw", Value: kilowatts})
		alone, joined := run(t, within, experiment.Local, 1), run(t, within, experiment.Sender, 1)
		if joined.MeanWait > alone.MeanWait/3 {
			t.Errorf("within %s kW jobs wait %g s alone and %g s with a partner", kilowatts, alone.MeanWait, joined.MeanWait)
		}
		if last != nil && (alone.Cost >= last.Cost || alone.MeanWait <= last.MeanWait) {
			t.Errorf("within %s kW jobs cost %g and wait %g s, with more power %g and %g", kilowatts, alone.Cost, alone.MeanWait, last.Cost, last.MeanWait)
		}
		last = alone
	}
}

// TestMachineOfPartitions: a job has a partition for itself, so that of the smallest jobs as
// many run as there are midplanes.
func TestMachineOfPartitions(t *testing.T) {
	t.Parallel()
	const text = `
[[site]]
name = "blue"
[site.localsched]
machine = "bgp"
cpus = 4096
[site.localsched.bgp]
partitions = "racks 1x1"
[[workload]]
site = "blue"
trace = "TRACE"
`
	plan := budgeted(t, text)
	if plan.Sites[0].LocalSched.Nodes != 1024 {
		t.Fatalf("the site has %d nodes", plan.Sites[0].LocalSched.Nodes)
	}
	got := run(t, plan, experiment.Local, 1)
	if most := mostAtOnce(got); most != 2 || got.Unplaced > 0 {
		t.Errorf("%d jobs run at once in two midplanes, %d do not run", most, got.Unplaced)
	}
	small := run(t, budgeted(t, text, "partitions", "smallest = 64\npartitions"), experiment.Local, 1)
	if small.MeanWait != 0 || got.MeanWait != 0 {
		t.Errorf("jobs wait %g and %g s, two at a time", got.MeanWait, small.MeanWait)
	}
}

func mostAtOnce(o *experiment.Outcome) (most int) {
	for _, p := range o.Result.Placements {
		beside := 0
		for _, q := range o.Result.Placements {
			if q.Start <= p.Start && p.Start < q.End {
				beside++
			}
		}
		most = max(most, beside)
	}
	return most
}

// TestPartitionsOfAFile: relative to the experiment's; errors have their line.
func TestPartitionsOfAFile(t *testing.T) {
	t.Parallel()
	const site = "[[site]]\nname = \"blue\"\n[site.localsched]\nmachine = \"bgp\"\ncpus = 64\n[site.localsched.bgp]\nsmallest = 1\npartitions = \"cut.csv\"\n" +
		"[[workload]]\nsite = \"blue\"\nmodel = \"M1\"\n"
	const cards = "card,A-0,32\ncard,A-1,32\n"
	at := problemstest.At
	for _, c := range []struct {
		file, machine, bgp string
		want               []problemstest.Want
	}{
		{cards + "partition,ALL,64,torus,A\n", "", "", nil},
		{cards + "partition,ALL,96,torus,A\n", "", "", []problemstest.Want{at("cut.csv", 3, "", "64")}},
		{cards + "partition,ALL,64,torus,A\n", "nodes = 65\n", "", []problemstest.Want{at("plan.toml", 5, "site[blue].localsched.nodes", "64")}},
		{cards + "partition,ALL,64,torus,A\n", "", "mesh = false\n", nil},
		{cards + "partition,ALL,64,mesh,A\n", "", "mesh = false\n", []problemstest.Want{at("plan.toml", 8, "site[blue].localsched.bgp.smallest", "no partition")}},
	} {
		text := strings.Replace(strings.Replace(site, "cpus =", c.machine+"cpus =", 1), "smallest", c.bgp+"smallest", 1)
		plan := write(t, "plan.toml", text)
		if err := os.WriteFile(filepath.Join(filepath.Dir(plan), "cut.csv"), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := experiment.Read(plan)
		problemstest.Check(t, err, c.want...)
	}
	_, err := experiment.Read(write(t, "plan.toml", site))
	problemstest.Check(t, err, at("plan.toml", 8, "site[blue].localsched.bgp.partitions", "no such file"))
	missing := new(fs.PathError)
	if _, err := config.ReadLayout("none.csv"); !errors.As(err, &missing) || missing.Path != "none.csv" {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestBudgetMistakes: each with its line, all at once.
func TestBudgetMistakes(t *testing.T) {
	t.Parallel()
	const text = `[[workload]]
site = "a"
model = "M1"
[[site]]
name = "a"
[site.localsched]
cpus = 1
[site.power]
watts_per_cpu = 10
budget_kw = -1
[[site]]
name = "b"
[site.localsched]
machine = "bgp"
[site.localsched.bgp]
smallest = 0
[site.power]
idle_watts_per_cpu = 3
on_peak = "9-17"
price = 40
mode = "wide"
window = 0
watts = 3
[[site]]
name = "c"
[site.localsched]
machine = "cray"
[[site]]
name = "d"
[site.localsched]
machine = "bgp"
nodes = -3
[site.localsched.bgp]
partitions = "racks 2by8"
[[site]]
name = "e"
[site.localsched]
machine = "bgp"
[site.localsched.bgp]
partitions = "racks 0x0"
[[site]]
name = "f"
[site.localsched]
machine = "bgp"
cpus = 6144
[site.localsched.bgp]
partitions = "racks 2x3"
`
	path := write(t, "bad.toml", text)
	_, err := experiment.Read(path)
	if err == nil {
		t.Fatal("it is read")
	}
	got := strings.Split(strings.ReplaceAll(err.Error(), path, "bad.toml"), "\n")
	for _, want := range []string{
		"bad.toml:10: site[a].power.budget_kw: is outside 0 to 1000000",
		"bad.toml:13: site[b].localsched.cpus: is missing",
		"bad.toml:16: site[b].localsched.bgp.smallest: is 0; use 1 or more",
		`bad.toml:15: site[b].localsched.bgp.partitions: is missing; write "intrepid", racks as "racks 2x8", or the path`,
		"bad.toml:18: site[b].power.idle_watts_per_cpu: is more than watts_per_cpu",
		"bad.toml:19: site[b].power.on_peak: ",
		"bad.toml:20: site[b].power.price: needs prices",
		`bad.toml:21: site[b].power.mode: "wide" is unknown; allowed are "window", "filter"`,
		"bad.toml:22: site[b].power.window: is 0; use 1 to 10000 jobs",
		"bad.toml:23: site[b].power.watts: unknown key",
		`bad.toml:27: site[c].localsched.machine: "cray" is unknown; allowed are "per-cpu", "whole-node", "bgp"`,
		"bad.toml:26: site[c].localsched.cpus: is missing",
		`bad.toml:34: site[d].localsched.bgp.partitions: "racks 2by8" are no racks; write rows and columns, as "racks 2x8"`,
		"bad.toml:32: site[d].localsched.nodes: is -3; use 1 or more",
		"bad.toml:40: site[e].localsched.bgp.partitions: a machine of 0 rows of racks cannot be laid out; choose 1 to 10",
		"bad.toml:47: site[f].localsched.bgp.partitions: rows of 3 racks cannot be laid out; choose 1, 2, 4 or 8",
	} {
		if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("nothing says %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
}
