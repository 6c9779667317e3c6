package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// predictor names a way to estimate waits.
type predictor string

// The predictors.
const (
	byRuns  predictor = "runs"  // the outlook, with the times that jobs are likely to run
	byPlan  predictor = "plan"  // the outlook, with the limits of jobs
	bySlurm predictor = "slurm" // sbatch --test-only
)

// predictors are all of them, the one first that is taken where none is better.
func predictors() []predictor { return []predictor{byRuns, byPlan, bySlurm} }

// estimates are raw estimates of one job's wait.
type estimates map[predictor]protocol.Duration

const (
	observedFile    = "observed.json"
	observedVersion = 2
	pairsKept       = 200 // of waits of about the same length
	pairsNeeded     = 20  // fewer say nothing
	// softening is added to waits before they are compared, so that those of a few
	// seconds do not count as much as their ratios would.
	softening = protocol.Minute
)

// kind is what jobs have in common of which the waits are compared.
type kind struct {
	Like  uint64 `json:"like,omitempty"`   // as in [protocol.Request]
	CPUs  int    `json:"cpus_class"`       // log2
	Limit int    `json:"time_limit_class"` // as of classOf
}

func kindOf(r protocol.Request) kind {
	return kind{Like: r.PowerClass, CPUs: bits.Len(uint(max(0, r.CPUs))), Limit: classOf(r.WallTime)}
}

// pair is what was estimated for a job and what came.
type pair struct {
	kind

	Estimate protocol.Duration `json:"estimate_ms"`
	Actual   protocol.Duration `json:"actual_ms"`
}

// observed is how good the estimates have been at this site.
type observed struct {
	pairs map[predictor]pairs
	dirty bool // not saved yet
}

// pairs are the last pairs of one predictor, by the class of the estimate, in the order in
// which the jobs started.
type pairs map[int][]pair

// observedRecord is observed.json.
type observedRecord struct {
	Version int                  `json:"version"`
	Pairs   map[predictor][]pair `json:"pairs"`
}

// loadObserved reads what was observed. A file of another version is set aside: before 2 there
// were pairs of another plan, without kinds.
func loadObserved(dir string, log *slog.Logger) observed {
	o := observed{pairs: map[predictor]pairs{}}
	for _, p := range predictors() {
		o.pairs[p] = pairs{}
	}
	saved, err := spool.ReadRecord[observedRecord](dir, observedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return o
	}
	if err == nil && saved.Version != observedVersion {
		err = fmt.Errorf("%s is of version %d, not %d", filepath.Join(dir, observedFile), saved.Version, observedVersion)
	}
	if err != nil {
		aside := filepath.Join(dir, observedFile+".old")
		log.Warn("observed_waits_load_failed", "error", errors.Join(err, os.Rename(filepath.Join(dir, observedFile), aside)),
			"advice", "none: they are collected again; the file is kept as "+aside)
		return o
	}
	for p, known := range o.pairs {
		for _, one := range saved.Pairs[p] {
			known.add(one.sane())
		}
	}
	return o
}

// sane keeps what a damaged file may hold within bounds.
func (p pair) sane() pair {
	const most = 10_000 * protocol.Day
	p.Estimate, p.Actual = min(max(0, p.Estimate), most), min(max(0, p.Actual), most)
	return p
}

// add takes note of how long a job of a kind has really waited.
func (o *observed) add(k kind, guess estimates, actual protocol.Duration) {
	for p, known := range o.pairs {
		if estimate, ok := guess[p]; ok && estimate != protocol.Never {
			known.add(pair{kind: k, Estimate: estimate, Actual: actual}.sane())
			o.dirty = true
		}
	}
}

func (p pairs) add(one pair) {
	class := classOf(one.Estimate)
	p[class] = append(p[class], one)
	p[class] = p[class][max(0, len(p[class])-pairsKept):]
}

// near are pairs of estimates of about the same length, by actual/estimate: of jobs of the same
// kind; where they are few, of jobs of all users of the same shape; where these are few, of all
// jobs, which are not alike. It is empty where these are few, too.
func (p pairs) near(k kind, estimate protocol.Duration) (found []pair, alike bool) {
	shape := func(other kind) bool { return other.CPUs == k.CPUs && other.Limit == k.Limit }
	all := p[classOf(estimate)]
	for _, c := range []struct {
		same  func(kind) bool
		alike bool
	}{
		{func(other kind) bool { return k.Like != 0 && other == k }, true},
		{shape, true},
		{func(kind) bool { return true }, false},
	} {
		found = slices.DeleteFunc(slices.Clone(all), func(one pair) bool { return !c.same(one.kind) })
		if len(found) >= pairsNeeded {
			slices.SortFunc(found, compareRatios)
			return found, c.alike
		}
	}
	return nil, false
}

// compareRatios compares actual/estimate.
func compareRatios(a, b pair) int {
	ah, al := bits.Mul64(uint64(a.Actual+softening), uint64(b.Estimate+softening)) //nolint:gosec // they are sane
	bh, bl := bits.Mul64(uint64(b.Actual+softening), uint64(a.Estimate+softening)) //nolint:gosec // they are sane
	return cmp.Or(cmp.Compare(ah, bh), cmp.Compare(al, bl))
}

// interval is P10, P50 and P90 of a wait.
type interval struct {
	low, middle, high protocol.Duration
}

// corrected is an estimate in the light of what came of others like it, and how far from that
// such estimates have been on average; [protocol.Never] where too little is known.
func (p pairs) corrected(k kind, estimate protocol.Duration) (i interval, wrong protocol.Duration) {
	if estimate == protocol.Never {
		return interval{low: estimate, middle: estimate, high: estimate}, protocol.Never
	}
	known, alike := p.near(k, estimate)
	if len(known) == 0 {
		// Jobs end before their limits, or are cancelled: rather earlier than later.
		return interval{low: estimate / 4, middle: estimate, high: estimate}, protocol.Never
	}
	i = interval{low: at(known, 10, estimate), middle: at(known, 50, estimate), high: at(known, 90, estimate)}
	if !alike {
		i.low, i.high = min(i.low, estimate), max(i.high, estimate)
	}
	for _, one := range known {
		was := at(known, 50, one.Estimate)
		wrong += max(one.Actual-was, was-one.Actual)
	}
	return i, wrong / protocol.Duration(len(known))
}

// at corrects an estimate by the pair at the given percentile.
func at(sorted []pair, percent int, estimate protocol.Duration) protocol.Duration {
	p := sorted[(len(sorted)-1)*percent/100]
	return max(0, (estimate+softening).Rescale(int(p.Actual+softening), int(p.Estimate+softening))-softening)
}

// waits are P10, P50 and P90 of a wait: by the predictor that has been less wrong with such
// jobs. As long as that is not known they cover what all of them say.
func (o *observed) waits(k kind, guess estimates) interval {
	var all, best interval
	least, first := protocol.Never, true
	for _, p := range predictors() {
		estimate, ok := guess[p]
		if !ok {
			continue
		}
		i, wrong := o.pairs[p].corrected(k, estimate)
		if first {
			all, first = i, false
		}
		all.low, all.high = min(all.low, i.low), max(all.high, i.high)
		if wrong < least {
			best, least = i, wrong
		}
	}
	if least == protocol.Never {
		return all
	}
	return best
}

// saveObserved writes down what was observed since the last time.
func (s *Scheduler) saveObserved() error {
	s.mu.Lock()
	saved := observedRecord{Version: observedVersion, Pairs: map[predictor][]pair{}}
	for p, known := range s.record.pairs {
		for _, class := range known {
			saved.Pairs[p] = append(saved.Pairs[p], class...)
		}
	}
	dirty := s.record.dirty
	s.record.dirty = false
	s.mu.Unlock()
	if !dirty {
		return nil
	}
	return spool.ExplainFull(spool.ReplaceRecord(s.config.Dir, observedFile, saved))
}
