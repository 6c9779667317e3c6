package wait

import "math"

// Weights say how much each feature counts in a distance.
type Weights [FeatureCount]float64

// userShare is how near a feature of the same user must come to the best of them
// to keep its weight: they say nearly the same.
const userShare = 0.9

// weights are those by a history: the size of Spearman's rank correlation
// of each feature with the wait. One that is not defined is 0. Without any
// correlation all weigh 1. Of the features of the same user only those within
// 0.9 of the largest keep their weight.
func (r *ranker) weights(h *History) (w Weights) {
	if h.Len() == 0 {
		return flat()
	}
	waits := r.ranks(h.waits, nil)
	var column, ranks []float64
	sum := 0.0
	for f := range w {
		if !weighs(f) {
			continue
		}
		if column = h.column(f, column); constant(column) {
			continue
		}
		ranks = r.ranks(column, ranks)
		w[f] = math.Abs(rankCorrelation(ranks, waits))
		sum += w[f]
	}
	if sum == 0 {
		return flat()
	}
	return w.bestOfUser()
}

// flat lets every feature weigh the same that may weigh.
func flat() (w Weights) {
	for f := range w {
		if weighs(f) {
			w[f] = 1
		}
	}
	return w
}

func (w Weights) bestOfUser() Weights {
	best := 0.0
	for f, weight := range w {
		if ofUser(f) {
			best = max(best, weight)
		}
	}
	for f, weight := range w {
		if ofUser(f) && weight < userShare*best {
			w[f] = 0
		}
	}
	return w
}

func (w Weights) sum() (sum float64) {
	for _, weight := range w {
		sum += weight
	}
	return sum
}

// rankCorrelation is Pearson's of two rankings, 0 where it is not defined.
func rankCorrelation(a, b []float64) float64 {
	mean := float64(len(a)+1) / 2
	var ab, aa, bb float64
	for i := range a {
		x, y := a[i]-mean, b[i]-mean
		ab += x * y
		aa += x * x
		bb += y * y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

func constant(values []float64) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}
