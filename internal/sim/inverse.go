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

// InverseReadings are local readings of the inverse pairs of two schedules. [BG 4.2] defines the pairs over
// all jobs, but its numbers are those of a local count.
type InverseReadings struct {
	OnePass   int64 // that one pass of the second schedule chose between: it started the later job and left the earlier
	Neighbors int64 // at most [NeighborPlaces] places apart in the order of the first schedule
	Near      int64 // whose starts in the first schedule are at most [NearStarts] apart
	Adjacent  int64 // next to each other in the order of the first schedule
	Moved     int64 // jobs, not pairs: those that start at another time
}

// What counts as near.
const (
	NeighborPlaces = 5
	NearStarts     = 5 * protocol.Minute
)

// ReadInversePairs counts the inverse pairs of two schedules by each local reading. The choices are those of
// the second schedule, see [ScheduleChoices]. Jobs that start together in the first schedule are ordered as
// they are listed.
func ReadInversePairs(first, second []protocol.Instant, choices []Choice) (r InverseReadings) {
	var order []int
	for i := range first {
		if first[i] == NeverStarts || second[i] == NeverStarts {
			continue
		}
		order = append(order, i)
		if first[i] != second[i] {
			r.Moved++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(first[a], first[b]) })
	for place, i := range order {
		for far, j := range order[place+1:] {
			far++ // places from i to j
			near := first[j].Sub(first[i]) <= NearStarts
			if !near && far > NeighborPlaces {
				break
			}
			if first[i] >= first[j] || second[i] <= second[j] {
				continue
			}
			r.Near += count(near)
			r.Neighbors += count(far <= NeighborPlaces)
			r.Adjacent += count(far == 1)
		}
	}
	r.OnePass = onePass(first, second, choices)
	return r
}

// onePass counts the inverse pairs that one pass made.
func onePass(first, second []protocol.Instant, choices []Choice) (pairs int64) {
	for _, c := range choices {
		for _, left := range c.From {
			for _, started := range c.From {
				inverse := first[left] != NeverStarts && first[left] < first[started] && second[left] > second[started]
				pairs += count(inverse && second[started] == c.At)
			}
		}
	}
	return pairs
}

func count(holds bool) int64 {
	if holds {
		return 1
	}
	return 0
}
