package wait

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait/dbscan"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Params are the numbers of the adaptive predictor. Distances are from 0 to 1.
type Params struct {
	History int // jobs that started last: 4,000 in the authors' code, 2,000 in [MC 4.3.2]
	Least   int // with fewer the answer is [ByNothing]
	Refresh int // predictions between two reckonings of the weights

	Share     float64        // of the history that is clustered, the nearest, and one job more
	Density   dbscan.Density // over the plane of distance and wait ÷ range
	Near      float64        // a cluster is near below this mean distance; windows begin up to here
	Loose     float64        // without outliers this mean distance will do
	Outliers  float64        // up to this share of a mean cluster
	Window    float64        // width of a window of distances, and its step
	Ridge     Ridge
	Neighbour int // jobs whose mean wait is the fallback

	// The running ranges of estimates and waits are replaced by these unless they are
	// 0. The authors' code has those of one trace each.
	EstimateRange protocol.Duration
	WaitRange     protocol.Duration

	// Recent is how many of the last starts the intervals of each magnitude are
	// calibrated with.
	Recent int
}

// Ridge are the numbers of the regression.
type Ridge struct {
	From, Step, To float64 // jobs nearer than From, or a wider circle while there are too few
	Enough         int     // jobs for each feature
	Least          int     // jobs, the one asked about counted
	Lambda         float64 // penalty on squared coefficients of standardised features
}

// DefaultParams are the active values in the authors' code
// (facts/mcmf-experiments.md, section 7), with running ranges.
func DefaultParams() Params {
	return Params{
		History: 4000, Least: FeatureCount, Refresh: 100,
		Share: 0.01, Density: dbscan.Density{Reach: 0.04, MinPoints: 2},
		Near: 0.2, Loose: 0.3, Outliers: 0.3, Window: 0.04,
		Ridge:     Ridge{From: 0.6, Step: 0.1, To: 1, Enough: 10, Least: 10, Lambda: 0.1},
		Neighbour: 1, Recent: 1000,
	}
}

// EarlierParams are the values that stand beside those in comments of the authors' code, with
// running ranges.
func EarlierParams() Params {
	p := DefaultParams()
	p.Density = dbscan.Density{Reach: 0.1, MinPoints: 3}
	p.Near, p.Outliers, p.Window = 0.4, 0.8, 0.02
	p.Ridge.From, p.Ridge.Lambda = 0.5, 1
	p.Neighbour = 10
	return p
}

// IntrepidRanges replaces the running ranges by the constants that the authors
// left on for all systems: those of Intrepid's trace.
func (p Params) IntrepidRanges() Params {
	p.EstimateRange, p.WaitRange = 86_400*protocol.Second, (89_516-13)*protocol.Second
	return p
}

// Validate reports the first invalid number, by name.
func (p Params) Validate() error {
	for _, count := range []struct {
		name         string
		value, least int
	}{
		{"history", p.History, 1},
		{"least", p.Least, 1},
		{"refresh", p.Refresh, 1},
		{"density.min_points", p.Density.MinPoints, 1},
		{"neighbour", p.Neighbour, 1},
		{"recent", p.Recent, 1},
		{"ridge.enough", p.Ridge.Enough, 1},
		{"ridge.least", p.Ridge.Least, 3}, // two jobs and the one asked about
	} {
		if count.value < count.least {
			return fmt.Errorf("%s: %d, at least %d is needed", count.name, count.value, count.least)
		}
	}
	for _, number := range []struct {
		name                 string
		value, above, atMost float64
	}{
		{"share", p.Share, 0, 1},
		{"density.reach", p.Density.Reach, 0, 1},
		{"near", p.Near, 0, 1},
		{"loose", p.Loose, 0, 1},
		{"outliers", p.Outliers, 0, 1e6},
		{"window", p.Window, 1e-3, 1},
		{"ridge.from", p.Ridge.From, 0, 1e6},
		{"ridge.step", p.Ridge.Step, 1e-6, 1e6},
		{"ridge.to", p.Ridge.To, 0, 1e6},
		{"ridge.lambda", p.Ridge.Lambda, 0, 1e12},
	} {
		if !(number.value > number.above && number.value <= number.atMost) {
			return fmt.Errorf("%s: %v, it must be above %v and at most %v", number.name, number.value, number.above, number.atMost)
		}
	}
	if p.EstimateRange < 0 || p.WaitRange < 0 {
		return fmt.Errorf("estimate_range, wait_range: %v and %v; write 0 for the running range", p.EstimateRange, p.WaitRange)
	}
	if (p.Ridge.To-p.Ridge.From)/p.Ridge.Step > 1000 {
		return fmt.Errorf("ridge.step: %v needs more than 1000 steps from %v to %v", p.Ridge.Step, p.Ridge.From, p.Ridge.To)
	}
	return nil
}
