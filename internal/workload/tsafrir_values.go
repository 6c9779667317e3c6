package workload

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// headTimes returns the twenty popular values: Max, then the others in rising
// order. Those that people take first are tabled; multiples of round steps below
// Max fill up.
func (t Tsafrir) headTimes() []protocol.Duration {
	const minute, hour = protocol.Minute, protocol.Hour
	times := []protocol.Duration{t.Max}
	take := func(at protocol.Duration) {
		if len(times) < tsafrirHead && at >= max(t.Least, minute) && !slices.Contains(times, at) {
			times = append(times, at)
		}
	}
	for _, usual := range [...]protocol.Duration{
		5 * minute, 10 * minute, 15 * minute, 20 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour,
		6 * hour, 8 * hour, 10 * hour, 12 * hour, 18 * hour,
	} {
		if usual < t.Max {
			take(usual)
		}
	}
	// The last step is not the reference's: five minutes do not fill an hour.
	for _, step := range [...]protocol.Duration{
		200 * hour, 100 * hour, 50 * hour, 10 * hour, 5 * hour, 2 * hour, hour,
		20 * minute, 10 * minute, 5 * minute, minute,
	} {
		for at := (t.Max - 1) / step * step; at > 0 && len(times) < tsafrirHead; at -= step {
			take(at)
		}
	}
	slices.Sort(times[1:])
	return times
}

// tsafrirLogs is how many logs the popularity of values is known from.
const tsafrirLogs = 4

// popularityColumns are the popularity ranks of the twenty most popular estimates
// in four logs: row 0 is the largest estimate, the others follow in rising order.
func popularityColumns() [tsafrirLogs][tsafrirHead]int {
	return [tsafrirLogs][tsafrirHead]int{
		{3, 1, 4, 17, 13, 7, 8, 18, 2, 6, 16, 10, 5, 15, 14, 19, 11, 12, 9, 20}, // SDSC SP2
		{1, 3, 4, 2, 12, 9, 8, 18, 6, 7, 11, 20, 16, 5, 14, 13, 10, 15, 17, 19}, // CTC SP2
		{1, 4, 10, 14, 20, 2, 3, 7, 12, 6, 19, 5, 18, 16, 9, 17, 15, 13, 8, 11}, // KTH SP2, largest 4 h
		{1, 6, 5, 3, 7, 2, 18, 19, 4, 11, 20, 9, 10, 14, 13, 16, 15, 17, 8, 12}, // SDSC Blue Horizon
	}
}

// popularity draws a rank for each of the popular values. The largest is the most
// popular. For each of the others in turn the more popular of two ranks is taken,
// drawn from what the logs have there or had before and is not yet used; a rank
// that no log has further on is used at once.
func popularity(rng *rand.Rand) [tsafrirHead]int {
	columns := popularityColumns()
	var ranks [tsafrirHead]int
	var passed [tsafrirHead + 1]int // how often each rank stands in the rows so far
	var pool []int
	for row := range ranks {
		for _, column := range columns {
			passed[column[row]]++
			if !slices.Contains(ranks[:row], column[row]) {
				pool = append(pool, column[row])
			}
		}
		ranks[row] = 1
		if row > 0 {
			ranks[row] = chooseRank(rng, pool, passed)
		}
		pool = slices.DeleteFunc(pool, func(rank int) bool { return rank == ranks[row] })
	}
	return ranks
}

func chooseRank(rng *rand.Rand, pool []int, passed [tsafrirHead + 1]int) int {
	first, second := pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]
	chosen := min(first, second)
	overdue := false
	for _, rank := range pool {
		switch {
		case passed[rank] < tsafrirLogs:
		case !overdue:
			chosen, overdue = rank, true
		default:
			chosen = min(chosen, rank)
		}
	}
	return chosen
}

// tail returns the values that are not popular, for a number of jobs. Their times lie
// on a curve between Least and Max, and which of them have which share is random.
func (t Tsafrir) tail(head []EstimateBin, jobs int, rng *rand.Rand) []EstimateBin {
	share := 1.0
	taken := make(map[protocol.Duration]bool, len(head))
	for _, bin := range head {
		share -= bin.Share
		taken[bin.Time] = true
	}
	values := distinct(jobs) - len(head)
	if values < 1 || share < leastMass {
		return nil
	}
	a := 1 + 12.1039*math.Pow(float64(values+len(head)), -0.6026)
	tail := make([]EstimateBin, 0, values)
	sum := 0.0
	for i := 1; i <= values; i++ {
		x := float64(i) / float64(values)
		y := (a - 1) * x / (a - x)
		at, free := t.freeTime(t.Least+protocol.Duration(y*float64(t.Max-t.Least)), taken)
		if !free {
			break // so short a range has no room for more
		}
		taken[at] = true
		size := 795.6 * math.Pow(float64(tsafrirHead+i), -2.267)
		tail = append(tail, EstimateBin{Time: at, Share: size})
		sum += size
	}
	times := make([]protocol.Duration, len(tail))
	for i := range tail {
		times[i] = tail[i].Time
	}
	rng.Shuffle(len(times), func(i, j int) { times[i], times[j] = times[j], times[i] })
	for i := range tail {
		tail[i] = EstimateBin{Time: times[i], Share: tail[i].Share * share / sum}
	}
	return tail
}

// freeTime returns a time that no value has yet, above Least and below Max: the
// nearest minute, else that offset by half a minute, 20 or 10 s as in the reference,
// else the nearest ten seconds that are free.
func (t Tsafrir) freeTime(near protocol.Duration, taken map[protocol.Duration]bool) (at protocol.Duration, free bool) {
	const slot = 10 * protocol.Second
	minute := (near + protocol.Minute/2) / protocol.Minute * protocol.Minute
	fits := func(offset protocol.Duration) bool {
		at = minute + offset
		return at > t.Least && at < t.Max && !taken[at]
	}
	for _, offset := range [...]protocol.Duration{0, 3 * slot, -3 * slot, 2 * slot, -2 * slot, slot, -slot} {
		if fits(offset) {
			return at, true
		}
	}
	for offset := 4 * slot; offset <= t.Max; offset += slot {
		if fits(offset) || fits(-offset) {
			return at, true
		}
	}
	return 0, false
}
