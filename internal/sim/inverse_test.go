package sim_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/sim"
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
