package wait

import "math"

// These let the tests see the parts that the adaptive predictor is made of.

// Ranks are those of values from 0 on.
func Ranks(values []float64) []float64 {
	var r ranker
	return r.ranks(values, nil)
}

// WeightsOf are the weights by a history.
func WeightsOf(h *History) Weights {
	var r ranker
	return r.weights(h)
}

// Squares are the squared distances of a history's jobs from an arrival.
func (h *History) Squares(a Arrival, w Weights) (squares []float64) {
	d := h.distance(&a, &w, 0, distance{})
	for i := range h.meets {
		squares = append(squares, d.square(&h.meets[i], math.Inf(1)))
	}
	return squares
}

// Nearest are the places of the nearest jobs.
func (h *History) Nearest(squares []float64, count int) (places []int) {
	for _, n := range h.nearest(count, func(place int, _ float64) float64 { return squares[place] }, nil) {
		places = append(places, n.place)
	}
	return places
}

// Fit is the wait that a ridge regression over a history gives an arrival.
func (h *History) Fit(a Arrival, w Weights, p Ridge) (wait float64, ok bool) {
	var r ridge
	d := h.distance(&a, &w, 0, distance{})
	return r.predict(h, &d, &w, &a, &p)
}

// Steadiest clusters points (distance, wait) in the order of their distances, and
// returns the wait of the steadiest window; ok is false if they are not alike.
func Steadiest(distances, waits []float64, waitRange float64, p Params) (wait float64, ok bool) {
	h := NewHistory(len(waits))
	near := make([]neighbour, len(waits))
	for i, d := range distances {
		h.waits = append(h.waits, waits[i])
		near[i] = neighbour{d * d, i}
	}
	c := circleOf(h, near, waitRange, p.Density, circle{})
	if !c.alike(&p) {
		return 0, false
	}
	return c.steadiest(&p)
}

// BoundRank and RareRun are parts of [QBETS].
func BoundRank(n int, quantile, confidence float64) (rank int, ok bool) {
	return boundRank(n, quantile, confidence)
}

func RareRun(correlation float64) int { return rareRun(correlation) }
