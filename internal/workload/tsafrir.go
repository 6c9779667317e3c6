package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tsafrir is the model of users' estimates of run times by Tsafrir, Etsion and
// Feitelson, "Modeling user runtime estimates" (JSSPP 2005): few values are
// asked for, the twenty most popular by 89 % of the jobs, and these are the
// largest value and round ones.
type Tsafrir struct {
	Max protocol.Duration // the largest estimate, at least an hour
	// Least is below all estimates but those in Bins; 0 as in the paper, whose
	// popular values begin at five minutes. A workload without short jobs needs it.
	Least protocol.Duration
	// Bins are the popular estimates, where they are known, with their shares of
	// the jobs. They stand for the model's twenty and their 89 %; what their shares
	// leave is the tail's.
	Bins []EstimateBin
	// Draws is how often more the values are drawn where they are too short for the
	// jobs; 0: they are drawn once, as in the paper.
	Draws int
}

// EstimateBin is an estimate with the share of the jobs that ask for it.
type EstimateBin struct {
	Time  protocol.Duration // whole seconds
	Share float64
}

// EstimateCount is an estimate with how many jobs ask for it.
type EstimateCount struct {
	Time protocol.Duration
	Jobs int
}

const (
	tsafrirHead      = 20   // popular values
	tsafrirHeadShare = 0.89 // of the jobs
	tsafrirFewest    = 200  // jobs: of fewer the model has not even its popular values
	tsafrirMostDraws = 10_000
)

// Validate reports the first parameter that no model can have.
func (t Tsafrir) Validate() error {
	switch {
	case t.Max < protocol.Hour || t.Max > 10*365*protocol.Day || t.Max%protocol.Second != 0:
		return fmt.Errorf("max: %d ms is not in whole seconds from an hour to ten years", int64(t.Max))
	case t.Draws < 0 || t.Draws > tsafrirMostDraws:
		return fmt.Errorf("draws: %d are not from 0 to %d", t.Draws, tsafrirMostDraws)
	case t.Least < 0 || t.Least > t.Max/2:
		return fmt.Errorf("least: %d ms is not from 0 to half of the largest estimate, %d ms", int64(t.Least), int64(t.Max))
	}
	return t.validateBins()
}

func (t Tsafrir) validateBins() error {
	sum := 0.0
	for i, bin := range t.Bins {
		switch {
		case bin.Time <= 0 || bin.Time > t.Max || bin.Time%protocol.Second != 0:
			return fmt.Errorf("bins[%d].time: %d ms is not in whole seconds up to the largest estimate, %d ms",
				i, int64(bin.Time), int64(t.Max))
		case !(bin.Share > 0 && bin.Share <= 1):
			return fmt.Errorf("bins[%d].share: %v is not above 0 and at most 1", i, bin.Share)
		case slices.ContainsFunc(t.Bins[:i], func(other EstimateBin) bool { return other.Time == bin.Time }):
			return fmt.Errorf("bins[%d].time: %d ms has a bin before this one", i, int64(bin.Time))
		}
		sum += bin.Share
	}
	if sum > 1+shareTolerance {
		return fmt.Errorf("bins: the shares sum to %.4g, more than 1", sum)
	}
	return nil
}

// The streams of random numbers of the model.
const (
	estimateRanks  = iota // which values are how popular
	estimateTail          // which of the others
	estimateAssign        // who asks for which
	estimateStreams
)

func (t Tsafrir) check(jobs int) error {
	err := t.Validate()
	switch {
	case err != nil:
		return fmt.Errorf("estimates: %w", err)
	case jobs > maxModelJobs:
		return fmt.Errorf("estimates: jobs: %d are more than %d", jobs, maxModelJobs)
	case len(t.Bins) == 0 && jobs < tsafrirFewest:
		return fmt.Errorf("estimates: jobs: %d, without bins the model is one of at least %d; draw more jobs", jobs, tsafrirFewest)
	case len(t.Bins) > jobs:
		return fmt.Errorf("estimates: bins: %d are more than the %d jobs; draw more jobs", len(t.Bins), jobs)
	}
	return nil
}

func (t Tsafrir) counts(jobs int, seed uint64, draw int) []EstimateCount {
	stream := func(purpose int) *rand.Rand { return randomStream(seed, draw*estimateStreams+purpose) }
	bins := t.head(stream(estimateRanks))
	bins = append(bins, t.tail(bins, jobs, stream(estimateTail))...)
	slices.SortFunc(bins, func(a, b EstimateBin) int { return cmp.Compare(b.Time, a.Time) })
	return countsOf(bins, jobs)
}

// Assign returns the jobs with estimates drawn from a seed. A job's is random
// among those that are no shorter than its run time. It fails if for some k fewer
// than k estimates are as long as the k-th longest job.
func (t Tsafrir) Assign(jobs []Job, seed uint64) ([]Job, error) {
	if err := t.check(len(jobs)); err != nil {
		return nil, err
	}
	order := make([]int, len(jobs)) // of falling run times
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[b].Run, jobs[a].Run) })
	var first error
	for draw := 0; draw <= t.Draws; draw++ {
		estimates := expand(t.counts(len(jobs), seed, draw))
		err := deals(estimates, jobs, order, randomStream(seed, draw*estimateStreams+estimateAssign))
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		assigned := slices.Clone(jobs)
		for k, i := range order {
			assigned[i].Estimate = estimates[k]
		}
		return assigned, nil
	}
	return nil, first
}

// expand has each estimate as often as it is asked for.
func expand(counts []EstimateCount) []protocol.Duration {
	var estimates []protocol.Duration
	for _, c := range counts {
		estimates = append(estimates, slices.Repeat([]protocol.Duration{c.Time}, c.Jobs)...)
	}
	return estimates
}

// deals puts falling estimates into the order of the jobs that get them.
func deals(estimates []protocol.Duration, jobs []Job, order []int, rng *rand.Rand) error {
	end := 0 // of the estimates that are long enough; drawing leaves their set as it is
	for k, i := range order {
		for end < len(estimates) && estimates[end] >= jobs[i].Run {
			end++
		}
		if end <= k {
			return tooShort(k, end, jobs[i].Run)
		}
		drawn := k + rng.IntN(end-k)
		estimates[k], estimates[drawn] = estimates[drawn], estimates[k]
	}
	return nil
}

// errEstimatesTooShort is what [Tsafrir.Assign] fails with where no estimates
// would fit these jobs.
var errEstimatesTooShort = errors.New("raise max, or give popular estimates that are long enough as bins")

func tooShort(k, enough int, run protocol.Duration) error {
	return fmt.Errorf("estimates: %d jobs run for %.3f h or longer and only %d estimates are as long: %w",
		k+1, float64(run)/float64(protocol.Hour), enough, errEstimatesTooShort)
}

// head returns the popular values.
func (t Tsafrir) head(rng *rand.Rand) []EstimateBin {
	if len(t.Bins) > 0 {
		return slices.Clone(t.Bins)
	}
	times := t.headTimes()
	ranks := popularity(rng)
	head := make([]EstimateBin, len(times))
	for i, at := range times {
		head[i] = EstimateBin{Time: at, Share: headShare(ranks[i])}
	}
	return head
}

// headShare is the share of the jobs that the value of a popularity rank from 1
// to 20 has. The first has what the others leave of the 89 %.
func headShare(rank int) float64 {
	if rank == 1 {
		share := tsafrirHeadShare
		for other := 2; other <= tsafrirHead; other++ {
			share -= headShare(other)
		}
		return share
	}
	return (14.0491*math.Exp(-0.177531*float64(rank)) + 0.462513) / 100
}

// distinct is how many values a number of jobs ask for: linear between the points
// that the paper has from logs.
func distinct(jobs int) int {
	points := [...][2]float64{{0, 0}, {20, 10}, {200, 20}, {1000, 35}, {10_000, 90}, {70_000, 340}, {250_000, 565}}
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		if x := float64(jobs); x <= to[0] {
			return int(math.Round(from[1] + (to[1]-from[1])*(x-from[0])/(to[0]-from[0])))
		}
	}
	return int(points[len(points)-1][1])
}

// countsOf makes whole jobs of shares, at least one for each value. What rounding
// leaves over or short is taken from the largest, in proportion and then one by
// one. The bins are no more than the jobs.
func countsOf(bins []EstimateBin, jobs int) []EstimateCount {
	sum := 0.0
	for _, bin := range bins {
		sum += bin.Share
	}
	counts := make([]EstimateCount, len(bins))
	left := jobs
	for i, bin := range bins {
		n := max(int(math.Round(bin.Share/sum*float64(jobs))), 1)
		counts[i] = EstimateCount{Time: bin.Time, Jobs: n}
		left -= n
	}
	order := make([]int, len(bins))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b].Jobs, counts[a].Jobs) })
	for at := 0; left != 0; at = (at + 1) % len(order) {
		c := &counts[order[at]]
		switch {
		case left > 0:
			c.Jobs++
			left--
		case c.Jobs > 1:
			c.Jobs--
			left++
		}
	}
	return counts
}
