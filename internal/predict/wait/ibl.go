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

	// Recent is how many of the last starts the intervals of each magnitude are
	// calibrated with.
	Recent int
}

// DefaultLearningParams remembers as many jobs as [Adaptive].
func DefaultLearningParams() LearningParams {
	return LearningParams{History: 4000, Neighbours: 20, Recent: 1000}
}

// Validate reports the first invalid number, by name.
func (p LearningParams) Validate() error {
	switch {
	case p.History < 1:
		return fmt.Errorf("history: %d, at least 1 is needed", p.History)
	case p.Neighbours < 1:
		return fmt.Errorf("neighbours: %d, at least 1 is needed", p.Neighbours)
	case p.Recent < 1:
		return fmt.Errorf("recent: %d, at least 1 is needed", p.Recent)
	}
	return nil
}

// IBL is instance-based learning (Li, Chen, Tao, Groep and Wolters, CCGrid 2006):
// the waits of the nearest jobs, weighted by a Gaussian kernel as wide as the
// farthest of them is away. Jobs are compared by their own attributes and by the
// state of the system under the heterogeneous Euclidean-overlap distance: users
// and queues are equal or not, numbers are apart by their share of the range. All
// attributes weigh the same; the paper's genetic search for weights is left out.
// Its quantiles are those of the neighbours, calibrated like those of [Adaptive];
// the paper has none.
type IBL struct {
	params    LearningParams
	history   *History
	last      answer
	intervals *calibration

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
	return &IBL{params: p, history: NewHistory(p.History), intervals: newCalibration(p.Recent)}, nil
}

// Name implements [Predictor].
func (l *IBL) Name() string { return "ibl" }

// Predict implements [Predictor].
func (l *IBL) Predict(a Arrival) Prediction {
	l.last = l.answer(&a)
	if l.last.by == ByNothing {
		return unknown()
	}
	l.intervals.elapse(a.At)
	return l.intervals.correct(l.last.similar, Prediction{Wait: duration(l.last.wait), By: l.last.by})
}

// Observe implements [Predictor]. It makes a prediction of its own for a submission
// that it was not just asked about.
func (l *IBL) Observe(e Event) {
	id := e.Arrival.Job.ID
	switch e.Kind {
	case Submitted:
		if l.last.arrival != e.Arrival {
			l.last = l.answer(&e.Arrival)
		}
		if l.last.by != ByNothing {
			l.intervals.submitted(id, e.At, l.last.similar)
		}
	case Started:
		l.intervals.started(id, e.At, seconds(e.Wait))
		l.history.Add(e)
	case Withdrawn:
		l.intervals.withdrawn(id)
	case Ended:
	}
}

// answer is the wait as published, and the spread of the neighbours.
func (l *IBL) answer(a *Arrival) answer {
	h := l.history
	if h.Len() < l.params.Neighbours {
		return answer{arrival: *a, by: ByNothing}
	}
	l.compare(a)
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
	return answer{arrival: *a, wait: weighted / weights, similar: quantilesOf(l.similar), by: ByKernel}
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
