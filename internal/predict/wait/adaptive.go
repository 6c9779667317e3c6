package wait

import "slices"

// Adaptive is the predictor of [MC 3.1]: waits of similar jobs, clustered without
// their outliers where they are alike, else a ridge regression over the jobs
// around, else the nearest job. It adds intervals, which the paper does not have.
type Adaptive struct {
	learner

	params  Params
	weights Weights
	asked   int // predictions since the weights were calculated; below 0: never
	learned int // jobs ever in the history at that time
	room    adaptiveRoom
}

// adaptiveRoom is what a prediction works on, kept for the next.
type adaptiveRoom struct {
	ranker   ranker
	distance distance
	near     []neighbour
	circle   circle
	ridge    ridge
	similar  []float64
}

// NewAdaptive returns a predictor that has seen nothing, or says which parameter
// is wrong.
func NewAdaptive(p Params) (*Adaptive, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	d := &Adaptive{learner: newLearner(p.History, p.Recent), params: p, asked: -1}
	d.find = d.answer
	return d, nil
}

// Name implements [Predictor].
func (d *Adaptive) Name() string { return "adaptive" }

// answer finds the wait as tabled, and the spread of similar jobs.
func (d *Adaptive) answer(a *Arrival) answer {
	h, r := d.history, &d.room
	if h.Len() < d.params.Least {
		return answer{arrival: *a, by: ByNothing}
	}
	if weighed := d.refresh(); !weighed && d.known(a) {
		return d.last
	}
	r.distance = h.distance(a, &d.weights, seconds(d.params.EstimateRange), r.distance)
	r.near = h.nearest(min(int(d.params.Share*float64(h.Len()))+1, h.Len()), func(place int, limit float64) float64 {
		return r.distance.square(&h.meets[place], limit)
	}, r.near)
	r.similar = r.similar[:0]
	for _, n := range r.near {
		r.similar = append(r.similar, h.waits[n.place])
	}
	slices.Sort(r.similar)
	found := answer{arrival: *a, seen: h.seen, similar: quantilesOf(r.similar)}
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
	if fitted, ok := r.ridge.predict(h, &r.distance, &d.weights, a, &d.params.Ridge); ok && fitted > 0 {
		return fitted, ByRidge
	}
	nearest := r.near[:min(d.params.Neighbour, len(r.near))]
	for _, n := range nearest {
		wait += h.waits[n.place] / float64(len(nearest))
	}
	return wait, ByNearest
}

// refresh calculates the weights when they are due and jobs have started since, and
// reports whether it has.
func (d *Adaptive) refresh() (weighed bool) {
	due := d.asked < 0 || d.asked >= d.params.Refresh
	if due && (d.asked < 0 || d.learned != d.history.seen) {
		d.weights = d.room.ranker.weights(d.history)
		d.asked, d.learned = 0, d.history.seen
		weighed = true
	}
	d.asked++
	return weighed
}
