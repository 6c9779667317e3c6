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
	learner

	params  LearningParams
	terms   []term // the numbers that instances are compared by
	near    []neighbour
	similar []float64
}

// NewIBL returns a predictor that has seen nothing, or says which parameter is
// wrong.
func NewIBL(p LearningParams) (*IBL, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	l := &IBL{learner: newLearner(p.History, p.Recent), params: p}
	l.find = l.answer
	return l, nil
}

// Name implements [Predictor].
func (l *IBL) Name() string { return "ibl" }

// answer is the wait as published, and the spread of the neighbours.
func (l *IBL) answer(a *Arrival) answer {
	h := l.history
	if h.Len() < l.params.Neighbours {
		return answer{arrival: *a, by: ByNothing}
	}
	if l.known(a) {
		return l.last
	}
	l.compare(a)
	l.near = h.nearest(l.params.Neighbours, func(place int, limit float64) float64 {
		return l.square(&a.Job, place, limit)
	}, l.near)
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
	return answer{arrival: *a, seen: h.seen, wait: weighted / weights, similar: quantilesOf(l.similar), by: ByKernel}
}

// attributes are the features that instances are compared by, as numbers.
func attributes() []int {
	return []int{
		FeatureCPUs, FeatureEstimate, FeatureFree, FeatureUserWaiting, FeatureUserRunning,
		FeatureWaitingEstimate, FeatureWaitingCPUs, FeatureWaitingElapsed,
		FeatureRunningEstimate, FeatureRunningCPUs, FeatureRunningElapsed,
	}
}

// compare prepares the distances from an arrival: the scale of a term is the range of
// its numbers. A range that is empty adds nothing.
func (l *IBL) compare(a *Arrival) {
	l.terms = l.terms[:0]
	for _, f := range attributes() {
		if width := l.history.width(f, a.Meets[f]); width > 0 {
			l.terms = append(l.terms, term{f, a.Meets[f], width})
		}
	}
}

// square is the squared distance of the job at a place from the one that is compared.
// Once the sum has reached the limit the rest, which is not below 0, is left out.
func (l *IBL) square(asked *Job, place int, limit float64) (sum float64) {
	h := l.history
	if h.users[place] != asked.User {
		sum++
	}
	if h.queues[place] != asked.Queue {
		sum++
	}
	met := &h.meets[place]
	for i := range l.terms {
		if sum >= limit {
			return sum
		}
		t := &l.terms[i]
		apart := (met[t.feature] - t.asked) / t.scale
		sum += apart * apart
	}
	return sum
}
