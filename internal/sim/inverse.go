package sim

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// InversePairs counts how much another schedule disturbs the order of starts [BG 4.2]: the
// pairs of jobs of which one starts before the other in the first schedule and after it in
// the second. Jobs that start together in either are in no order there and make no pair, as
// the facts on [BG] have it; neither do jobs that never start in one of them. Both list the
// starts of the same jobs, as [Schedule] does. It takes n·log n steps.
func InversePairs(first, second []protocol.Instant) int64 {
	type job struct{ first, second protocol.Instant }
	jobs := make([]job, 0, len(first))
	for i := range first {
		if first[i] != NeverStarts && second[i] != NeverStarts {
			jobs = append(jobs, job{first[i], second[i]})
		}
	}
	// Of jobs that start together in the first, none comes before one that it would invert.
	slices.SortFunc(jobs, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second))
	})
	starts := make([]protocol.Instant, len(jobs))
	for i := range jobs {
		starts[i] = jobs[i].second
	}
	return sortCounting(starts, make([]protocol.Instant, len(starts)))
}

// sortCounting sorts by merging, and counts the pairs that stood in the wrong order.
func sortCounting(starts, spare []protocol.Instant) (pairs int64) {
	if len(starts) < 2 {
		return 0
	}
	half := len(starts) / 2
	low, high := starts[:half], starts[half:]
	pairs = sortCounting(low, spare) + sortCounting(high, spare)
	merged := spare[:0]
	for len(low) > 0 && len(high) > 0 {
		if low[0] <= high[0] {
			merged, low = append(merged, low[0]), low[1:]
			continue
		}
		pairs += int64(len(low)) // all that is left of the lower half comes after this one
		merged, high = append(merged, high[0]), high[1:]
	}
	copy(starts[len(merged):], low) // what is left of the higher half stands there already
	copy(starts, merged)
	return pairs
}
