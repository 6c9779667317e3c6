package wait

import (
	"fmt"
	"math"
	"slices"
)

// LearningParams are the numbers of [IBL].
type LearningParams struct {
	History    int // jobs that started last
	Neighbours int // the nearest that count
}

// DefaultLearningParams remembers as many jobs as [Adaptive].
func DefaultLearningParams() LearningParams { return LearningParams{History: 4000, Neighbours: 20} }

// Validate reports the first number that makes no sense, by name.
func (p LearningParams) Validate() error {
	switch {
	case p.History < 1:
		return fmt.Errorf("history: %d, at least 1 is needed", p.History)
	case p.Neighbours < 1:
		return fmt.Errorf("neighbours: %d, at least 1 is needed", p.Neighbours)
	}
	return nil
}

// IBL is instance-based learning (Li, Chen, Tao, Groep and Wolters, CCGrid 2006):
// the waits of the nearest jobs, weighted by a Gaussian kernel as wide as the
// farthest of them is away. Jobs are compared by their own attributes and by the
// state of the system under the heterogeneous Euclidean-overlap distance: users
// and queues are equal or not, numbers are apart by their share of the range. All
// attributes weigh the same; the paper's genetic search for weights is left out.
// Its quantiles are those of the neighbours, uncorrected.
type IBL struct {
	params  LearningParams
	history *History
	squares []float64
	near    []neighbour
	similar []float64
}

// NewIBL returns a predictor that has seen nothing, or says which parameter is
// wrong.
func NewIBL(p LearningParams) (*IBL, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &IBL{params: p, history: NewHistory(p.History)}, nil
}

// Name implements [Predictor].
func (l *IBL) Name() string { return "ibl" }

// Observe implements [Predictor].
func (l *IBL) Observe(e Event) {
	if e.Kind == Started {
		l.history.Add(e)
	}
}

// Predict implements [Predictor].
func (l *IBL) Predict(a Arrival) Prediction {
	h := l.history
	if h.Len() < l.params.Neighbours {
		return unknown()
	}
	l.compare(&a)
	l.near = h.nearest(l.squares, l.params.Neighbours, l.near)
	width := l.near[len(l.near)-1].square
	l.similar = l.similar[:0]
	var weights, weighted float64
	for _, n := range l.near {
		weight := 1.0
		if width > 0 {
			weight = math.Exp(-n.square / width)
		}
		weights += weight
		weighted += weight * h.waits[n.place]
		l.similar = append(l.similar, h.waits[n.place])
	}
	slices.Sort(l.similar)
	spread := quantilesOf(l.similar)
	p := Prediction{
		Wait: duration(weighted / weights), By: ByKernel,
		Low: duration(spread.low), Median: duration(spread.median), High: duration(spread.high),
		Bound: duration(l.similar[len(l.similar)*95/100]),
	}
	return p.ordered()
}

// attributes are the features that instances are compared by, as numbers.
func attributes() []int {
	return []int{
		FeatureCPUs, FeatureEstimate, FeatureFree, FeatureUserWaiting, FeatureUserRunning,
		FeatureWaitingEstimate, FeatureWaitingCPUs, FeatureWaitingElapsed,
		FeatureRunningEstimate, FeatureRunningCPUs, FeatureRunningElapsed,
	}
}

// compare finds the squared distances from an arrival.
func (l *IBL) compare(a *Arrival) {
	h := l.history
	l.squares = slices.Grow(l.squares[:0], h.Len())[:h.Len()]
	for i := range l.squares {
		l.squares[i] = 0
		if h.users[i] != a.Job.User {
			l.squares[i]++
		}
		if h.queues[i] != a.Job.Queue {
			l.squares[i]++
		}
	}
	for _, f := range attributes() {
		asked := a.Meets[f]
		width := h.width(f, asked)
		if width == 0 {
			continue
		}
		column := h.meets[f][:len(l.squares)]
		for i, v := range column {
			apart := (v - asked) / width
			l.squares[i] += apart * apart
		}
	}
}
