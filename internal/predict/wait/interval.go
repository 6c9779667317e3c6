package wait

import (
	"math"
	"slices"
)

// slack is the wait in seconds below which waits hardly differ: errors are
// measured as ratios of waits with this added to both.
const slack = 60

// quantiles are what a predictor takes from the waits of similar jobs, in seconds.
type quantiles struct{ low, median, high float64 }

// quantilesOf takes the P10, P50 and P90 of sorted waits.
func quantilesOf(sorted []float64) quantiles {
	at := func(share float64) float64 { return sorted[int(share*float64(len(sorted)-1)+0.5)] }
	return quantiles{at(0.1), at(0.5), at(0.9)}
}

// calibration corrects quantiles by how far the recent ones were off: split
// conformal prediction of quantiles (Romano, Patterson and Candès, 2019), each
// quantile by itself, on a logarithmic scale, and apart for each magnitude of what
// is corrected (Mondrian). For each job that started it keeps the score
// ln((wait + 60 s) ÷ (quantile + 60 s)); a corrected P90 is the quantile times the
// ratio that 90 % of the recent scores did not exceed, and the bound of 95 %
// likewise. With jobs that are exchangeable these hold with at least their
// probability; with real ones, which come in bursts, the evaluation tells.
type calibration struct{ low, median, high magnitudes }

func newCalibration(recent int) *calibration {
	return &calibration{newMagnitudes(recent), newMagnitudes(recent), newMagnitudes(recent)}
}

// learn notes what came of quantiles.
func (c *calibration) learn(q quantiles, waited float64) {
	c.low.of(q.low).add(score(q.low, waited))
	c.median.of(q.median).add(score(q.median, waited))
	c.high.of(q.high).add(score(q.high, waited))
}

// correct writes calibrated quantiles into a prediction.
func (c *calibration) correct(q quantiles, p Prediction) Prediction {
	open := unknown()
	p.Low, p.Median, p.High, p.Bound = open.Low, duration(q.median), open.High, open.Bound
	if ratio, ok := c.low.of(q.low).below(0.1); ok {
		p.Low = duration(scaled(q.low, ratio))
	}
	if ratio, ok := c.median.of(q.median).above(0.5); ok {
		p.Median = duration(scaled(q.median, ratio))
	}
	if ratio, ok := c.high.of(q.high).above(0.9); ok {
		p.High = duration(scaled(q.high, ratio))
	}
	if ratio, ok := c.high.of(q.high).above(0.95); ok {
		p.Bound = duration(scaled(q.high, ratio))
	}
	return p.ordered()
}

// magnitudes are the scores of a quantile by its size: up to a minute, a quarter,
// two hours, half a day, two days, and more. An hour off is much where nobody
// waits and little where all wait for days.
type magnitudes [6]scores

func newMagnitudes(recent int) (m magnitudes) {
	for i := range m {
		m[i].limit = recent
	}
	return m
}

func (m *magnitudes) of(quantile float64) *scores {
	ceilings := [len(m) - 1]float64{60, 900, 7200, 43_200, 172_800}
	at, _ := slices.BinarySearch(ceilings[:], quantile)
	return &m[at]
}

func score(quantile, waited float64) float64 { return math.Log((waited + slack) / (quantile + slack)) }

func scaled(quantile, score float64) float64 { return (quantile+slack)*math.Exp(score) - slack }

// scores are the last ones, in the order that they came and sorted.
type scores struct {
	limit  int
	recent []float64 // a ring
	next   int
	sorted []float64
}

func (s *scores) add(score float64) {
	if len(s.recent) < s.limit {
		s.recent = append(s.recent, score)
	} else {
		oldest, _ := slices.BinarySearch(s.sorted, s.recent[s.next])
		s.sorted = slices.Delete(s.sorted, oldest, oldest+1)
		s.recent[s.next] = score
		s.next = (s.next + 1) % s.limit
	}
	at, _ := slices.BinarySearch(s.sorted, score)
	s.sorted = slices.Insert(s.sorted, at, score)
}

// above is the score that a new one stays at or below with that probability, if
// all come in any order alike: of n the ⌈share·(n+1)⌉-th. There must be so many.
func (s *scores) above(share float64) (score float64, ok bool) {
	rank := int(math.Ceil(share * float64(len(s.sorted)+1)))
	if rank < 1 || rank > len(s.sorted) {
		return 0, false
	}
	return s.sorted[rank-1], true
}

// below is the score that a new one falls short of with at most that probability.
func (s *scores) below(share float64) (score float64, ok bool) {
	rank := int(math.Floor(share * float64(len(s.sorted)+1)))
	if rank < 1 {
		return 0, false
	}
	return s.sorted[rank-1], true
}
