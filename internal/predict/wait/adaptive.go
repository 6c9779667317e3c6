package wait

import "slices"

// Adaptive is the predictor of [MC 3.1]: waits of similar jobs, clustered without
// their outliers where they are alike, else a ridge regression over the jobs
// around, else the nearest job. It adds intervals, which the paper does not have.
type Adaptive struct {
	params  Params
	history *History
	weights Weights
	asked   int // predictions since the weights were calculated; below 0: never
	learned int // jobs ever in the history at that time

	last      answer
	intervals *calibration
	room      adaptiveRoom
}

// adaptiveRoom is what a prediction works on, kept for the next.
type adaptiveRoom struct {
	ranker  ranker
	squares []float64
	near    []neighbour
	circle  circle
	ridge   ridge
	similar []float64
}

// answer is a prediction before it is calibrated.
type answer struct {
	arrival Arrival
	wait    float64 // seconds
	similar quantiles
	by      Method
}

// NewAdaptive returns a predictor that has seen nothing, or says which parameter
// is wrong.
func NewAdaptive(p Params) (*Adaptive, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Adaptive{
		params: p, history: NewHistory(p.History), asked: -1,
		intervals: newCalibration(p.Recent),
	}, nil
}

// Name implements [Predictor].
func (d *Adaptive) Name() string { return "adaptive" }

// Predict implements [Predictor].
func (d *Adaptive) Predict(a Arrival) Prediction {
	found := d.answer(&a)
	d.last = found
	if found.by == ByNothing {
		return unknown()
	}
	d.intervals.elapse(a.At)
	p := Prediction{Wait: duration(found.wait), By: found.by}
	return d.intervals.correct(found.similar, p)
}

// Observe implements [Predictor]. It makes a prediction of its own for a
// submission that it was not just asked about, so that the intervals are
// calibrated with all jobs.
func (d *Adaptive) Observe(e Event) {
	id := e.Arrival.Job.ID
	switch e.Kind {
	case Submitted:
		if d.last.arrival != e.Arrival {
			d.last = d.answer(&e.Arrival)
		}
		if d.last.by != ByNothing {
			d.intervals.submitted(id, e.At, d.last.similar)
		}
	case Started:
		d.intervals.started(id, e.At, seconds(e.Wait))
		d.history.Add(e)
	case Withdrawn:
		d.intervals.withdrawn(id)
	case Ended:
	}
}

// answer finds the wait as tabled, and the spread of similar jobs.
func (d *Adaptive) answer(a *Arrival) answer {
	h, r := d.history, &d.room
	if h.Len() < d.params.Least {
		return answer{arrival: *a, by: ByNothing}
	}
	d.refresh()
	r.squares = h.squares(a, &d.weights, seconds(d.params.EstimateRange), r.squares)
	r.near = h.nearest(r.squares, min(int(d.params.Share*float64(h.Len()))+1, h.Len()), r.near)
	r.similar = r.similar[:0]
	for _, n := range r.near {
		r.similar = append(r.similar, h.waits[n.place])
	}
	slices.Sort(r.similar)
	found := answer{arrival: *a, similar: quantilesOf(r.similar)}
	found.wait, found.by = d.choose(a)
	return found
}

// choose takes the first method that has an answer.
func (d *Adaptive) choose(a *Arrival) (wait float64, by Method) {
	h, r := d.history, &d.room
	if a.Empty {
		return 0, ByEmpty
	}
	waitRange := seconds(d.params.WaitRange)
	if waitRange == 0 {
		waitRange = h.waitRange.width()
	}
	r.circle = circleOf(h, r.near, waitRange, d.params.Density, r.circle)
	if r.circle.alike(&d.params) {
		if steady, ok := r.circle.steadiest(&d.params); ok {
			return steady, ByCluster
		}
	}
	if fitted, ok := r.ridge.predict(h, r.squares, &d.weights, a, &d.params.Ridge); ok && fitted > 0 {
		return fitted, ByRidge
	}
	nearest := r.near[:min(d.params.Neighbour, len(r.near))]
	for _, n := range nearest {
		wait += h.waits[n.place] / float64(len(nearest))
	}
	return wait, ByNearest
}

// refresh calculates the weights when they are due and jobs have started since.
func (d *Adaptive) refresh() {
	due := d.asked < 0 || d.asked >= d.params.Refresh
	if due && (d.asked < 0 || d.learned != d.history.seen) {
		d.weights = d.room.ranker.weights(d.history)
		d.asked, d.learned = 0, d.history.seen
	}
	d.asked++
}
