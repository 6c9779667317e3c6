package wait

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Auto answers with the one of several estimates that was best lately: the least
// mean absolute error over the last starts. The estimates are, of each of some
// predictors, the corrected median and the answer as published; of equal ones the
// earlier is taken. The errors are those of all estimates on the same jobs, so that
// the choice is a backtest. It calibrates the interval again, since the choice
// changes what an error is.
type Auto struct {
	predictors []Predictor
	estimates  []estimate
	recent     int
	last       choice
	waiting    map[int64][]protocol.Duration // job ID to each estimate at its submission; below 0: there was none
	intervals  *calibration
}

// estimate is one number of a predictor's answer, with its errors over the last starts.
type estimate struct {
	predictor int
	median    bool      // its median, else its answer as published
	errors    []float64 // in seconds; a ring
	next      int
	sum       float64
}

func (e *estimate) of(p Prediction) protocol.Duration {
	if e.median {
		return p.Median
	}
	return p.Wait
}

// choice is what the best estimate that there is predicts for an arrival.
type choice struct {
	arrival    Arrival
	prediction Prediction
	ok         bool // there is an estimate
}

// NewAuto chooses among the estimates of predictors by their errors over the last
// recent starts, at least one.
func NewAuto(recent int, predictors ...Predictor) *Auto {
	recent = max(recent, 1)
	u := &Auto{
		predictors: predictors, recent: recent,
		waiting: map[int64][]protocol.Duration{}, intervals: newCalibration(recent),
	}
	u.intervals.keepsMedian = true
	for i := range predictors {
		u.estimates = append(u.estimates, estimate{predictor: i, median: true}, estimate{predictor: i})
	}
	return u
}

// DefaultAuto chooses among the estimates of the plan, of [Adaptive] and [IBL] with
// the parameters that are best on the first halves of three logs
// (docs/reproduction.md), and of the baselines.
func DefaultAuto() (*Auto, error) {
	const recent = 1000
	adaptive, err := NewAdaptive(EarlierParams())
	if err != nil {
		return nil, err
	}
	near := DefaultLearningParams()
	near.Neighbours = 5
	instances, err := NewIBL(near)
	if err != nil {
		return nil, err
	}
	return NewAuto(recent, append([]Predictor{NewPlan(recent), adaptive, instances}, Baselines(recent)...)...), nil
}

// Name implements [Predictor].
func (u *Auto) Name() string { return "auto" }

// Predict implements [Predictor]. It asks only the predictor of the best estimate. Its
// Wait is its Median.
func (u *Auto) Predict(a Arrival) Prediction {
	c := u.choose(a)
	u.last = c
	if !c.ok {
		return unknown()
	}
	u.intervals.elapse(a.At)
	p := u.intervals.correct(spreadOf(c.prediction), c.prediction)
	p.Mean = c.prediction.Mean
	return p
}

// spreadOf are the quantiles that a prediction states.
func spreadOf(p Prediction) quantiles {
	q := quantiles{min(seconds(p.Low), seconds(p.Wait)), seconds(p.Wait), seconds(p.Wait)}
	if p.High != protocol.Never {
		q.high = max(seconds(p.High), q.high)
	}
	return q
}

// choose asks for the estimates from the best on until there is one.
func (u *Auto) choose(a Arrival) choice {
	asked := make([]bool, len(u.estimates))
	for range u.estimates {
		best := -1
		for i := range u.estimates {
			if !asked[i] && (best < 0 || u.estimates[i].mean() < u.estimates[best].mean()) {
				best = i
			}
		}
		asked[best] = true
		e := &u.estimates[best]
		if p := u.predictors[e.predictor].Predict(a); p.By != ByNothing {
			p.Wait = e.of(p)
			return choice{a, p, true}
		}
	}
	return choice{arrival: a}
}

// ByPlan reports whether the answer for an arrival that has a plan would be an estimate
// of the plan.
func (u *Auto) ByPlan() bool {
	best := 0
	for i := range u.estimates {
		if u.estimates[i].mean() < u.estimates[best].mean() {
			best = i
		}
	}
	_, ok := u.predictors[u.estimates[best].predictor].(*Plan)
	return ok
}

// Observe implements [Predictor]. Of a submission it asks all predictors.
func (u *Auto) Observe(e Event) {
	id := e.Arrival.Job.ID
	switch e.Kind {
	case Submitted:
		if u.last.arrival != e.Arrival {
			u.last = u.choose(e.Arrival)
		}
		if u.last.ok {
			u.intervals.submitted(id, e.At, spreadOf(u.last.prediction))
		}
		u.waiting[id] = u.answers(e.Arrival)
	case Started:
		for i, answer := range u.waiting[id] {
			if answer >= 0 {
				u.estimates[i].add(seconds(apart(answer, e.Wait)), u.recent)
			}
		}
		delete(u.waiting, id)
		u.intervals.started(id, e.At, seconds(e.Wait))
	case Withdrawn:
		delete(u.waiting, id)
		u.intervals.withdrawn(id)
	case Ended:
	}
	for _, p := range u.predictors {
		p.Observe(e)
	}
}

// answers are all estimates for an arrival, −1 where there is none.
func (u *Auto) answers(a Arrival) []protocol.Duration {
	answers := make([]protocol.Duration, len(u.estimates))
	predictions := make([]Prediction, len(u.predictors))
	for i, p := range u.predictors {
		predictions[i] = p.Predict(a)
	}
	for i := range u.estimates {
		e := &u.estimates[i]
		if answers[i] = e.of(predictions[e.predictor]); predictions[e.predictor].By == ByNothing {
			answers[i] = -1
		}
	}
	return answers
}

// proven is how many starts an estimate's mean error needs to be compared.
const proven = 30

// mean is the estimate's mean error, infinite before it is proven.
func (e *estimate) mean() float64 {
	if len(e.errors) < proven {
		return math.Inf(1)
	}
	return e.sum / float64(len(e.errors))
}

func (e *estimate) add(off float64, limit int) {
	e.sum += off
	if len(e.errors) < limit {
		e.errors = append(e.errors, off)
		return
	}
	e.sum -= e.errors[e.next]
	e.errors[e.next] = off
	e.next = (e.next + 1) % limit
}

// Calibrated answers with the corrected median of a predictor instead of its answer
// as published.
type Calibrated struct{ Predictor }

// Name implements [Predictor].
func (c Calibrated) Name() string { return c.Predictor.Name() + ", median" }

// Predict implements [Predictor].
func (c Calibrated) Predict(a Arrival) Prediction {
	p := c.Predictor.Predict(a)
	p.Wait = p.Median
	return p
}

// Expected answers with the corrected mean of a predictor instead of its answer as
// published.
type Expected struct{ Predictor }

// Name implements [Predictor].
func (x Expected) Name() string { return x.Predictor.Name() + ", mean" }

// Predict implements [Predictor].
func (x Expected) Predict(a Arrival) Prediction {
	p := x.Predictor.Predict(a)
	p.Wait = p.Mean
	return p
}
