package wait

import (
	"math"
	"slices"
)

// term is what one number adds to the square of a distance.
type term struct {
	feature int
	asked   float64 // the arrival's
	scale   float64
}

// distance is that of the jobs of a history from one arrival, squared: Σ w·d ÷ Σ w
// over the features. The CPUs' d is 0 if they are equal, else 1; for the others it is
// the difference over the running range, 0 if that is empty.
type distance struct {
	cpus    float64
	unequal float64 // what other CPUs add
	terms   []term
}

// distance is that from an arrival. An estimate range above 0, in seconds, replaces
// the running one. Terms are kept in the memory of an earlier distance.
func (h *History) distance(a *Arrival, w *Weights, estimateRange float64, earlier distance) distance {
	d := distance{cpus: a.Meets[FeatureCPUs], terms: earlier.terms[:0]}
	total := w.sum()
	if total == 0 {
		return d
	}
	d.unequal = w[FeatureCPUs] / total
	for f, weight := range w {
		if weight == 0 || f == FeatureCPUs {
			continue
		}
		width := h.width(f, a.Meets[f])
		if f == FeatureEstimate && estimateRange > 0 {
			width = estimateRange
		}
		if width > 0 {
			d.terms = append(d.terms, term{f, a.Meets[f], weight / total / width})
		}
	}
	return d
}

// square is the squared distance of a job. Once the sum has reached the limit the rest
// of its terms, none of which is below 0, is left out.
func (d *distance) square(met *Features, limit float64) (sum float64) {
	if met[FeatureCPUs] != d.cpus {
		sum = d.unequal
	}
	for i := range d.terms {
		if sum >= limit {
			return sum
		}
		t := &d.terms[i]
		sum += math.Abs(met[t.feature]-t.asked) * t.scale
	}
	return sum
}

// neighbour is a place in a history and its squared distance.
type neighbour struct {
	square float64
	place  int
}

// nearest are the count nearest jobs, nearest first; of equally near ones the
// newer is nearer. Square is the squared distance of the job at a place, or any
// number from the limit on if it is not below the limit.
func (h *History) nearest(count int, square func(place int, limit float64) float64, into []neighbour) []neighbour {
	near := into[:0]
	farthest := math.Inf(1)
	look := func(place int) {
		distance := square(place, farthest)
		if distance >= farthest {
			return
		}
		if len(near) == count {
			near = near[:count-1]
		}
		at := len(near)
		for at > 0 && near[at-1].square > distance {
			at--
		}
		near = slices.Insert(near, at, neighbour{distance, place})
		if len(near) == count {
			farthest = near[count-1].square
		}
	}
	for place := h.next - 1; place >= 0; place-- {
		look(place)
	}
	for place := h.Len() - 1; place >= h.next; place-- {
		look(place)
	}
	return near
}
