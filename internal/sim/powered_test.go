package sim_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// halves are prices of 1 and 3 a MWh in turn, for a minute each.
func halves(minutes int) (series price.Series) {
	for i := range minutes {
		series.Slots = append(series.Slots, price.Slot{
			Start: protocol.Instant(i) * protocol.Instant(protocol.Minute), Length: protocol.Minute, Price: protocol.Unit * protocol.Micro(1+i%2*2),
		})
	}
	return series
}

// TestPoweredMeasuresByHand: second by second, for random schedules on whole nodes of 4 CPUs of
// which some jobs never start.
func TestPoweredMeasuresByHand(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const minutes = 30
		n := rapid.IntRange(1, 6).Draw(t, "jobs")
		p := sim.Powered{
			Jobs:    make([]workload.Job, n),
			Machine: engine.WholeNode(protocol.Capacity{CPUs: 64, Nodes: 16, WholeNode: true}),
			Rates:   power.Rates{Busy: 1_000_000_000_000, Idle: 400_000_000_000}, // 1 MW and 400 kW
			Paid:    price.NewMeter(halves(minutes)),
		}
		seconds := rapid.IntRange(1, 200)
		draw := func(i int, label string) protocol.Instant {
			if rapid.IntRange(0, 5).Draw(t, "never") == 0 {
				return sim.NeverStarts
			}
			return p.Jobs[i].Submit.Add(protocol.Duration(seconds.Draw(t, label)) * protocol.Second)
		}
		usual, starts := make([]protocol.Instant, n), make([]protocol.Instant, n)
		for i := range p.Jobs {
			p.Jobs[i] = workload.Job{
				ID: int64(i), Submit: protocol.Instant(1000 * i), CPUs: rapid.IntRange(1, 9).Draw(t, "cpus"),
				Power: rapid.SampledFrom([]int{0, 500_000}).Draw(t, "power"),
			}
			p.Jobs[i].Run = protocol.Duration(seconds.Draw(t, "run")) * protocol.Second
			p.Jobs[i].Estimate = p.Jobs[i].Run
			usual[i], starts[i] = draw(i, "usual"), draw(i, "start")
		}
		got := p.Measure(p.Uses(usual), p.Uses(starts))
		all := byHand(&p, starts, nil, math.MaxInt64)
		near(t, "cost", got.Cost, all.cost)
		near(t, "energy", got.MWh, all.mwh)
		both, before := byHand(&p, starts, usual, math.MaxInt64), byHand(&p, usual, starts, math.MaxInt64)
		if before.cost > 0.05 { // else the millionths show
			near(t, "what is not saved", 1-got.Saving, both.cost/before.cost) // the same jobs, the same CPU-hours
		}
		_, end := spanByHand(&p, usual)
		if paid := byHand(&p, usual, nil, end).cost; paid > 0.05 {
			near(t, "what is not saved raw", 1-got.RawSaving, byHand(&p, starts, nil, end).cost/paid)
		}
		if first, last := spanByHand(&p, starts); last > first {
			hours := float64(last-first) / float64(protocol.Hour)
			near(t, "mean power", got.MeanPower, 1000*all.mwh/hours)
			machine := []sim.Machine{{Nodes: 16, CPUsPerNode: 4, WholeNode: true}}
			near(t, "allocated", sim.Measure(machine, p.Jobs, sim.Placed(p.Jobs, starts)).Allocated, all.held/64/hours)
		}
	})
}

func near(t *rapid.T, what string, got, want float64) {
	if math.Abs(got-want) > 1e-5+2e-3*math.Abs(want) { // each cost is rounded to a millionth
		t.Errorf("%s is %g, by hand %g", what, got, want)
	}
}

type tallied struct{ cost, mwh, held float64 }

// byHand adds up the seconds of jobs that start in both schedules.
func byHand(p *sim.Powered, starts, other []protocol.Instant, until protocol.Instant) (sum tallied) {
	for i, job := range p.Jobs {
		if starts[i] == sim.NeverStarts || other != nil && other[i] == sim.NeverStarts {
			continue
		}
		nodes := (job.CPUs + 3) / 4
		megawatts := float64(job.CPUs) + 0.4*float64(4*nodes-job.CPUs)
		if job.Power > 0 {
			megawatts -= float64(job.CPUs) / 2
		}
		for at := starts[i]; at < min(starts[i].Add(job.Run), until); at = at.Add(protocol.Second) {
			mwh := megawatts / 3600
			sum.mwh += mwh
			sum.cost += mwh * float64(1+int64(at)/60_000%2*2)
			sum.held += float64(4*nodes) / 3600
		}
	}
	return sum
}

func spanByHand(p *sim.Powered, starts []protocol.Instant) (first, last protocol.Instant) {
	first = math.MaxInt64
	for i, start := range starts {
		if start != sim.NeverStarts {
			first, last = min(first, p.Jobs[i].Submit), max(last, start.Add(p.Jobs[i].Run))
		}
	}
	return first, last
}

// TestLater: a budget is what it was so much before, and one that always holds does.
func TestLater(t *testing.T) {
	t.Parallel()
	signal, err := power.NewSignal([]power.Step{{At: 10, Limit: 5}, {At: 20, Limit: power.Unlimited}, {At: 30, Limit: 7}})
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []protocol.Duration{-100, -7, 0, 7, 1 << 40} {
		moved := sim.Later(signal, by)
		for at := range protocol.Instant(40) {
			was, _ := signal.At(at)
			if is, _ := moved.At(at.Add(by)); is != was {
				t.Errorf("by %d: at %d the budget is %d, was %d", by, at, is, was)
			}
		}
	}
	for _, by := range []protocol.Duration{-1 << 50, 1 << 50} {
		if limit, _ := sim.Later(power.Always(9), by).At(0); limit != 9 {
			t.Errorf("by %d: what always holds is %d", by, limit)
		}
	}
}

// TestBudgetsAreChecked before anything is simulated.
func TestBudgetsAreChecked(t *testing.T) {
	t.Parallel()
	layout, err := partition.Generate(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	good := engine.Budget{Signal: power.Always(1), Rates: power.Rates{Busy: 1}}
	for name, c := range map[string]struct {
		site sim.Site
		want string
	}{
		"rates":  {sim.Site{Budget: engine.Budget{Rates: power.Rates{Idle: 3}}}, "its power budget: a CPU that works"},
		"engine": {sim.Site{Budget: good, Engine: func(protocol.Capacity) (localsched.Engine, error) { return nil, nil }}, "an engine of its own keeps no power budget"},
		"nodes":  {sim.Site{Machine: sim.Machine{Partitions: &sim.Partitions{Layout: layout}}}, "the machine has 8 nodes, but the cards"},
	} {
		c.site.Name, c.site.Nodes, c.site.CPUsPerNode, c.site.Local = "a", 8, 1, engine.EASY()
		cfg := sim.Config{Sites: []sim.Site{c.site}, Scheme: sim.Distributed, Policy: tc.New(tc.Config{})}
		if _, err := sim.Run(t.Context(), cfg, nil, nil); err == nil || !strings.Contains(err.Error(), "site a: "+c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPartitionsInTheGrid: jobs on partitions of a rack, which the check of the machine's
// nodes sees too.
func TestPartitionsInTheGrid(t *testing.T) {
	t.Parallel()
	layout, err := partition.Generate(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	jobs := make([]workload.Job, 6)
	for i := range jobs {
		jobs[i] = workload.Job{ID: int64(i + 1), Submit: protocol.Instant(i), Run: protocol.Hour, Estimate: protocol.Hour, CPUs: 4}
	}
	cfg := sim.Config{
		Sites: []sim.Site{{
			Machine: sim.Machine{Name: "a", Nodes: 1024, CPUsPerNode: 4, Partitions: &sim.Partitions{Layout: layout, Enabled: engine.Enabled{Smallest: 512}}},
			Local:   engine.EASY(),
		}},
		Scheme: sim.Distributed, Policy: tc.New(tc.Config{}), Check: 1,
	}
	result, err := sim.Run(t.Context(), cfg, jobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	var hours []int
	for _, p := range result.Placements {
		hours = append(hours, int(protocol.Duration(p.Start)/protocol.Hour))
	}
	if want := []int{0, 0, 1, 1, 2, 2}; !slices.Equal(hours, want) {
		t.Errorf("the jobs start in the hours %v, not %v", hours, want)
	}
}
