package wait

import (
	"math"
	"slices"
)

// squares are the squared distances of the jobs of a history from an arrival:
// Σ w·d ÷ Σ w over the features. The CPUs' d is 0 if they are equal, else 1; for
// the others it is the difference over the running range, 0 if that is empty. An
// estimate range above 0 replaces the running one.
func (h *History) squares(a *Arrival, w *Weights, estimateRange float64, into []float64) []float64 {
	into = slices.Grow(into[:0], h.Len())[:h.Len()]
	clear(into)
	total := w.sum()
	if total == 0 {
		return into
	}
	for f, weight := range w {
		if weight == 0 {
			continue
		}
		asked, column := a.Meets[f], h.meets[f]
		if f == FeatureCPUs {
			addUnequal(into, column, asked, weight/total)
			continue
		}
		width := h.width(f, asked)
		if f == FeatureEstimate && estimateRange > 0 {
			width = estimateRange
		}
		if width > 0 {
			addApart(into, column, asked, weight/total/width)
		}
	}
	return into
}

// addUnequal adds a share where a value is not the one asked about.
func addUnequal(sums, values []float64, asked, share float64) {
	values = values[:len(sums)]
	for i := range sums {
		if values[i] != asked {
			sums[i] += share
		}
	}
}

// addApart adds what a value is apart from the one asked about, scaled.
func addApart(sums, values []float64, asked, scale float64) {
	values = values[:len(sums)]
	for i := range sums {
		sums[i] += math.Abs(values[i]-asked) * scale
	}
}

// neighbour is a place in a history and its squared distance.
type neighbour struct {
	square float64
	place  int
}

// nearest are the count nearest jobs, nearest first; of equally near ones the
// newer is nearer.
func (h *History) nearest(squares []float64, count int, into []neighbour) []neighbour {
	near := into[:0]
	farthest := math.Inf(1)
	look := func(place int) {
		if len(near) == count {
			near = near[:count-1]
		}
		square := squares[place]
		at := len(near)
		for at > 0 && near[at-1].square > square {
			at--
		}
		near = slices.Insert(near, at, neighbour{square, place})
		if len(near) == count {
			farthest = near[count-1].square
		}
	}
	for place := h.next - 1; place >= 0; place-- {
		if squares[place] < farthest {
			look(place)
		}
	}
	for place := h.Len() - 1; place >= h.next; place-- {
		if squares[place] < farthest {
			look(place)
		}
	}
	return near
}
