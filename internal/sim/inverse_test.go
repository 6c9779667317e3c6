package sim_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// inverse is the definition.
func inverse(first, second []protocol.Instant) (pairs int64) {
	for i := range first {
		for j := range first {
			never := min(first[i], first[j], second[i], second[j]) == sim.NeverStarts
			if !never && first[i] < first[j] && second[i] > second[j] {
				pairs++
			}
		}
	}
	return pairs
}

func TestInversePairs(t *testing.T) {
	t.Parallel()
	const never = sim.NeverStarts
	for name, test := range map[string]struct {
		first, second []protocol.Instant
		want          int64
	}{
		"none":                       {nil, nil, 0},
		"one":                        {[]protocol.Instant{1}, []protocol.Instant{2}, 0},
		"the same order":             {[]protocol.Instant{1, 2, 3}, []protocol.Instant{5, 7, 9}, 0},
		"turned round":               {[]protocol.Instant{1, 2, 3, 4}, []protocol.Instant{4, 3, 2, 1}, 6},
		"listed in another order":    {[]protocol.Instant{3, 1, 2}, []protocol.Instant{30, 10, 20}, 0},
		"together in the first":      {[]protocol.Instant{1, 1, 1}, []protocol.Instant{3, 2, 1}, 0},
		"together in the second":     {[]protocol.Instant{1, 2, 3}, []protocol.Instant{1, 1, 1}, 0},
		"one that is late":           {[]protocol.Instant{0, 1, 2, 3}, []protocol.Instant{9, 1, 2, 3}, 3},
		"never in either":            {[]protocol.Instant{never, 1, 5, 6}, []protocol.Instant{9, never, 3, 2}, 1},
		"before the beginning is no": {[]protocol.Instant{0, 1}, []protocol.Instant{1, 0}, 1},
	} {
		if got := sim.InversePairs(test.first, test.second); got != test.want {
			t.Errorf("%s: %d pairs, want %d", name, got, test.want)
		}
	}
}

// TestInversePairsByDefinition: equal to looking at all pairs, with many equal starts.
func TestInversePairsByDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "jobs")
		starts := rapid.SliceOfN(rapid.Map(rapid.Int64Range(-1, 20), func(ms int64) protocol.Instant { return protocol.Instant(ms) }), n, n)
		first, second := starts.Draw(t, "first"), starts.Draw(t, "second")
		if got, want := sim.InversePairs(first, second), inverse(first, second); got != want {
			t.Fatalf("%d pairs, want %d", got, want)
		}
	})
}

// TestReadInversePairsByDefinition: equal to looking at all pairs of the order of the first schedule.
func TestReadInversePairsByDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "jobs")
		starts := rapid.SliceOfN(rapid.Map(rapid.Int64Range(-1, 20), func(minute int64) protocol.Instant {
			return max(sim.NeverStarts, protocol.Instant(minute*int64(protocol.Minute)))
		}), n, n)
		first, second := starts.Draw(t, "first"), starts.Draw(t, "second")
		var choices []sim.Choice
		if n > 0 {
			choices = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sim.Choice {
				from := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, min(n, 6), rapid.ID[int]).Draw(t, "from")
				return sim.Choice{At: max(0, rapid.SampledFrom(second).Draw(t, "at")), From: from}
			}), 0, 5).Draw(t, "choices")
		}
		if got, want := sim.ReadInversePairs(first, second, choices), readings(first, second, choices); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// readings are the definitions, over all pairs.
func readings(first, second []protocol.Instant, choices []sim.Choice) (r sim.InverseReadings) {
	runs := func(i int) bool { return first[i] >= 0 && second[i] >= 0 }
	before := func(i, j int) bool { return first[i] < first[j] || first[i] == first[j] && i < j }
	places := func(i, j int) (n int) {
		for k := range first {
			if runs(k) && before(i, k) && !before(j, k) {
				n++
			}
		}
		return n
	}
	for i := range first {
		if runs(i) && first[i] != second[i] {
			r.Moved++
		}
		for j := range first {
			if !runs(i) || !runs(j) || first[i] >= first[j] || second[i] <= second[j] {
				continue
			}
			if first[j]-first[i] <= protocol.Instant(5*protocol.Minute) {
				r.Near++
			}
			if places(i, j) <= 5 {
				r.Neighbors++
			}
			if places(i, j) == 1 {
				r.Adjacent++
			}
			for _, c := range choices {
				if second[j] == c.At && slices.Contains(c.From, i) && slices.Contains(c.From, j) {
					r.OnePass++
				}
			}
		}
	}
	return r
}

// TestOnePass: a pass within a budget had three jobs to choose from and left the first of them.
func TestOnePass(t *testing.T) {
	t.Parallel()
	jobs := []workload.Job{
		{ID: 1, CPUs: 4, Run: 100, Estimate: 100, Power: 100_000},
		{ID: 2, CPUs: 1, Submit: 10, Run: 100, Estimate: 100, Power: 800_000},
		{ID: 3, CPUs: 2, Submit: 20, Run: 100, Estimate: 100, Power: 400_000},
		{ID: 4, CPUs: 1, Submit: 30, Run: 100, Estimate: 100, Power: 50_000},
	}
	machine := engine.PerCPU(protocol.Capacity{CPUs: 4, Nodes: 4})
	budget := engine.Budget{Signal: power.Always(1000), Rates: power.Rates{Busy: 1_000_000}} // a CPU draws 1 W, all may draw 1 W
	usual, none, err := sim.ScheduleChoices(jobs, machine, engine.FCFS(), sim.TieBatch)
	if err != nil || len(none) != 0 {
		t.Fatalf("%v, chosen without a budget: %v", err, none)
	}
	starts, choices, err := sim.ScheduleChoices(jobs, machine, engine.Within(budget, engine.FCFS()), sim.TieBatch)
	if err != nil {
		t.Fatal(err)
	}
	if want := []protocol.Instant{0, 200, 100, 100}; !slices.Equal(starts, want) {
		t.Fatalf("the jobs start at %v, want %v", starts, want)
	}
	at := slices.IndexFunc(choices, func(c sim.Choice) bool { return c.At == 100 })
	if at < 0 || !slices.Equal(choices[at].From, []int{1, 2, 3}) {
		t.Errorf("the choices were %v, want one of jobs 1, 2, 3 at 100 ms", choices)
	}
	if r := sim.ReadInversePairs(usual, starts, choices); r.OnePass != 0 || r.Moved != 1 {
		t.Errorf("%+v: by default all three start together, which is no order", r)
	}
	usual[2], usual[3] = 150, 160
	if r := sim.ReadInversePairs(usual, starts, choices); r.OnePass != 2 {
		t.Errorf("%d pairs of one pass, want 2: it left job 1 behind and started 2 and 3", r.OnePass)
	}
}

// BenchmarkInversePairs has the jobs of Intrepid's log, in schedules that are a day apart.
func BenchmarkInversePairs(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	first := make([]protocol.Instant, 68_936)
	second := make([]protocol.Instant, len(first))
	for i := range first {
		first[i] = protocol.Instant(random.Int64N(int64(240 * protocol.Day)))
		second[i] = first[i].Add(protocol.Duration(random.Int64N(int64(protocol.Day))))
	}
	for b.Loop() {
		sim.InversePairs(first, second)
	}
}
