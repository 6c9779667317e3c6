package slurm

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"math/bits"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// predictor names a way to estimate waits.
type predictor string

// The predictors.
const (
	byPlan  predictor = "plan"  // the outlook
	bySlurm predictor = "slurm" // sbatch --test-only
)

// estimates are raw estimates of one job's wait.
type estimates map[predictor]protocol.Duration

const (
	observedFile = "observed.json"
	pairsKept    = 300
	pairsNeeded  = 20 // fewer say nothing
	// softening is added to waits before they are compared, so that those of a few
	// seconds do not count as much as their ratios would.
	softening = protocol.Minute
)

// pair is what was estimated for a job and what came.
type pair struct {
	Estimate protocol.Duration `json:"estimate_ms"`
	Actual   protocol.Duration `json:"actual_ms"`
}

// observed is how good the estimates have been at this site.
type observed struct {
	pairs map[predictor]*sample
	dirty bool // not saved yet
}

// sample is the last pairs of one predictor.
type sample struct {
	latest []pair // in the order in which the jobs started
	sorted []pair // by actual/estimate
}

func loadObserved(dir string, log *slog.Logger) observed {
	o := observed{pairs: map[predictor]*sample{byPlan: {}, bySlurm: {}}}
	saved, err := spool.ReadRecord[map[predictor][]pair](dir, observedFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("observed_waits_not_read", "error", err, "advice", "none: they are collected anew")
	}
	for p, sample := range o.pairs {
		for _, pair := range saved[p] {
			sample.latest = append(sample.latest, pair.sane())
		}
		sample.sort()
	}
	return o
}

// sane keeps what a damaged file may hold within bounds.
func (p pair) sane() pair {
	const most = 10_000 * protocol.Day
	return pair{Estimate: min(max(0, p.Estimate), most), Actual: min(max(0, p.Actual), most)}
}

// add takes note of how long a job has really waited.
func (o *observed) add(guess estimates, actual protocol.Duration) {
	for p, sample := range o.pairs {
		estimate, ok := guess[p]
		if !ok || estimate == protocol.Never {
			continue
		}
		sample.latest = append(sample.latest, pair{Estimate: estimate, Actual: actual}.sane())
		sample.sort()
		o.dirty = true
	}
}

func (s *sample) sort() {
	s.latest = s.latest[max(0, len(s.latest)-pairsKept):]
	s.sorted = append(s.sorted[:0], s.latest...)
	slices.SortFunc(s.sorted, func(a, b pair) int { return compareRatios(a, b) })
}

// compareRatios compares actual/estimate.
func compareRatios(a, b pair) int {
	ah, al := bits.Mul64(uint64(a.Actual+softening), uint64(b.Estimate+softening)) //nolint:gosec // they are sane
	bh, bl := bits.Mul64(uint64(b.Actual+softening), uint64(a.Estimate+softening)) //nolint:gosec // they are sane
	return cmp.Or(cmp.Compare(ah, bh), cmp.Compare(al, bl))
}

// at corrects an estimate by the pair that stands so many percent from below.
func (s *sample) at(percent int, estimate protocol.Duration) protocol.Duration {
	if len(s.sorted) < pairsNeeded || estimate == protocol.Never {
		return estimate
	}
	p := s.sorted[(len(s.sorted)-1)*percent/100]
	return max(0, (estimate+softening).Rescale(int(p.Actual+softening), int(p.Estimate+softening))-softening)
}

// failing is the mean error of corrected estimates; Never while too few are known.
func (s *sample) failing() protocol.Duration {
	if len(s.sorted) < pairsNeeded {
		return protocol.Never
	}
	var sum protocol.Duration
	for _, p := range s.sorted {
		sum += max(p.Actual-s.at(50, p.Estimate), s.at(50, p.Estimate)-p.Actual)
	}
	return sum / protocol.Duration(len(s.sorted))
}

// waits are P10, P50 and P90 of a wait: by the predictor that has done better so
// far, of those that have an estimate; by the plan while that is not known.
func (o *observed) waits(guess estimates) (low, middle, high protocol.Duration) {
	best := byPlan
	estimate := guess[byPlan]
	if other, ok := guess[bySlurm]; ok && o.pairs[bySlurm].failing() < o.pairs[byPlan].failing() {
		best, estimate = bySlurm, other
	}
	s := o.pairs[best]
	return s.at(10, estimate), s.at(50, estimate), s.at(90, estimate)
}

// saveObserved writes down what was observed since the last time.
func (s *Scheduler) saveObserved() error {
	s.mu.Lock()
	saved := map[predictor][]pair{}
	for p, sample := range s.record.pairs {
		saved[p] = slices.Clone(sample.latest)
	}
	dirty := s.record.dirty
	s.record.dirty = false
	s.mu.Unlock()
	if !dirty {
		return nil
	}
	return spool.ExplainFull(spool.ReplaceRecord(s.config.Dir, observedFile, saved))
}
