package workload

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// batch is jobs of one kind that come one soon after the other.
type batch struct {
	jobs   []Job
	work   float64 // CPU·ms
	widest int     // CPUs
	period int
}

func batchOf(jobs []Job) batch {
	b := batch{jobs: jobs}
	for i := range jobs {
		b.work += float64(jobs[i].Work())
		b.widest = max(b.widest, jobs[i].CPUs)
	}
	return b
}

// draw draws the batches of a kind. Each part of the kind's times and sizes has its
// share of the jobs, so that no draw has more long or wide jobs than another. Jobs in
// the order of their times make batches of like jobs; as many of them change places at
// random as the correlation asks for.
func (k *PeriodKind) draw(alike float64, rng *rand.Rand) []batch {
	jobs := make([]Job, k.Jobs)
	spread := k.spread()
	for i := range jobs {
		part := i * len(k.Runs) / k.Jobs
		run := float64(k.Runs[part]) + spread[part]*(2*rng.Float64()-1)
		jobs[i] = Job{
			User: -1, Run: protocol.Duration(max(1, math.Round(run))) * protocol.Second,
			Estimate: protocol.Duration(k.Estimates[part]) * protocol.Second,
		}
	}
	var moved []int
	for i := range jobs {
		if rng.Float64() >= math.Sqrt(alike) {
			moved = append(moved, i)
		}
	}
	rng.Shuffle(len(moved), func(a, b int) { jobs[moved[a]], jobs[moved[b]] = jobs[moved[b]], jobs[moved[a]] })
	lengths := k.lengths(rng)
	batches := make([]batch, len(lengths))
	at := 0
	for i, length := range lengths {
		batches[i].jobs = jobs[at : at+length : at+length]
		at += length
	}
	at = 0
	for _, i := range rng.Perm(len(batches)) {
		for n := range batches[i].jobs {
			batches[i].jobs[n].CPUs = k.CPUs[at*len(k.CPUs)/k.Jobs]
			at++
		}
		batches[i] = batchOf(batches[i].jobs)
	}
	return batches
}

// spread is how far run times lie around the means of the parts: as far as half the way
// to the nearest other mean, and not beyond the estimate, so that the mean stays.
func (k *PeriodKind) spread() []float64 {
	rising := slices.Clone(k.Runs)
	slices.Sort(rising)
	spread := make([]float64, len(k.Runs))
	for i, run := range k.Runs {
		at, _ := slices.BinarySearch(rising, run)
		far := run - 1
		if at > 0 {
			far = min(far, run-rising[at-1])
		}
		if at+1 < len(rising) {
			far = min(far, rising[at+1]-run)
		}
		spread[i] = min(float64(far)/2, float64(k.Estimates[i]-run))
	}
	return spread
}

// lengths draws those of the batches, in random order: even between the bounds of each
// level, but for what makes the sum that of the jobs.
func (k *PeriodKind) lengths(rng *rand.Rand) []int {
	var lengths, room []int // room up to the end of the level
	fewest, _ := k.batched()
	extra := k.Jobs - fewest
	drawn, free := 0, 0
	for level, count := range k.Batches {
		for range count {
			more := rng.IntN(1 << level)
			lengths, room = append(lengths, 1<<level+more), append(room, 1<<level-1-more)
			drawn += more
			free += 1<<level - 1 - more
		}
	}
	for i, length := range lengths {
		switch over := length - 1<<batchLevel(length); {
		case drawn > extra:
			lengths[i] -= over - over*extra/drawn
		case free > 0:
			lengths[i] += room[i] * (extra - drawn) / free
		}
	}
	rng.Shuffle(len(lengths), func(a, b int) { lengths[a], lengths[b] = lengths[b], lengths[a] })
	left := k.Jobs
	for _, length := range lengths {
		left -= length
	}
	for i := 0; left > 0; i = (i + 1) % len(lengths) {
		if batchLevel(lengths[i]+1) == batchLevel(lengths[i]) {
			lengths[i]++
			left--
		}
	}
	return lengths
}
