package wait

import (
	"container/heap"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
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

// point are the quantiles of a predictor that has only one number for a job.
func point(seconds float64) quantiles { return quantiles{seconds, seconds, seconds} }

// calibration corrects quantiles by how far the recent ones were off: split
// conformal prediction of quantiles (Romano, Patterson and Candès, 2019), each
// quantile by itself, on a logarithmic scale, and apart for each magnitude of what
// is corrected (Mondrian). For each job that started it keeps the score
// ln((wait + 60 s) ÷ (quantile + 60 s)); a corrected P90 is the quantile times the
// ratio that 90 % of the recent scores did not exceed. With jobs that are
// exchangeable these hold with at least their probability. Real ones come in
// bursts, so that the bound has a level of its own, see [Nominal].
type calibration struct {
	low, median, high magnitudes

	keepsMedian bool // the median is right as it is; only the others are corrected

	level   float64            // the share of the scores that the bound covers
	pending map[int64]*promise // job ID to what was predicted at its submission
	due     dueBounds          // bounds of pending jobs that time has not passed
}

// promise is a prediction for a job that has not started.
type promise struct {
	quantiles quantiles
	id        int64
	bound     float64 // in seconds; below 0: there is none
	due       float64 // the instant that the bound names, in seconds
	judged    bool    // the bound has been counted as held or missed
}

// Nominal is the share of jobs that are to start within [Prediction.Bound]. The
// level of the scores that the bound covers begins there and follows the
// outcomes (adaptive conformal inference, Gibbs and Candès, 2021): each bound
// that holds lowers it by 0.05 steps, each that is missed raises it by 0.95, so
// that over many jobs the share that holds is Nominal whatever the sequence of
// the jobs. A bound counts as missed as soon as it is: a job that waits for days
// tells of a burst before it starts.
const Nominal = 0.95

// How the level follows the outcomes. Where most jobs do not wait the bound of most
// is 0 and holds for more than Nominal; without a least level the others would pay
// for all of these. Above 1 the bound is beyond the largest of the recent scores, by
// a factor of e for each fifth of a level: in a burst waits exceed all that came
// before.
const (
	levelStep  = 0.005
	leastLevel = 0.7
	mostLevel  = 1.5
	beyond     = 5
)

func newCalibration(recent int) *calibration {
	return &calibration{
		low: newMagnitudes(recent), median: newMagnitudes(recent), high: newMagnitudes(recent),
		level: Nominal, pending: map[int64]*promise{},
	}
}

// submitted notes what is predicted for a job that has just been submitted.
func (c *calibration) submitted(id int64, now protocol.Instant, q quantiles) {
	p := &promise{quantiles: q, id: id, bound: -1}
	if bound, ok := c.bound(q); ok {
		p.bound, p.due = bound, seconds(protocol.Duration(now))+bound
		heap.Push(&c.due, p)
	}
	c.pending[id] = p
}

// started learns from the wait of a job.
func (c *calibration) started(id int64, now protocol.Instant, waited float64) {
	p, ok := c.pending[id]
	if !ok {
		return
	}
	c.elapse(now)
	delete(c.pending, id)
	if !p.judged && p.bound >= 0 {
		c.judge(p, waited <= p.bound)
	}
	q := p.quantiles
	c.low.of(q.low).add(score(q.low, waited))
	c.median.of(q.median).add(score(q.median, waited))
	c.high.of(q.high).add(score(q.high, waited))
}

// withdrawn forgets a job that will not start.
func (c *calibration) withdrawn(id int64) {
	if p, ok := c.pending[id]; ok {
		p.judged = true
		delete(c.pending, id)
	}
}

// elapse counts the bounds that pending jobs have missed by now.
func (c *calibration) elapse(now protocol.Instant) {
	for len(c.due) > 0 && c.due[0].due < seconds(protocol.Duration(now)) {
		if p, _ := heap.Pop(&c.due).(*promise); !p.judged {
			c.judge(p, false)
		}
	}
}

func (c *calibration) judge(p *promise, held bool) {
	p.judged = true
	c.level += levelStep * Nominal
	if held {
		c.level -= levelStep
	}
	c.level = min(max(c.level, leastLevel), mostLevel)
}

// bound is the corrected wait that a job exceeds with the probability 1 − Nominal. It
// is no less than the corrected median, which stands beside it.
func (c *calibration) bound(q quantiles) (waited float64, ok bool) {
	scores := c.high.of(q.high)
	if _, enough := scores.above(Nominal); !enough {
		return 0, false
	}
	ratio, ok := scores.above(c.level)
	if !ok {
		ratio = scores.sorted[len(scores.sorted)-1] + beyond*max(c.level-1, 0)
	}
	low, median := c.center(q)
	return max(scaled(q.high, ratio), low, median, 0), true
}

// center are the corrected P10 and P50. The P10 is 0 until enough jobs have started.
func (c *calibration) center(q quantiles) (low, median float64) {
	median = q.median
	if ratio, ok := c.median.of(q.median).above(0.5); ok && !c.keepsMedian {
		median = scaled(q.median, ratio)
	}
	if ratio, ok := c.low.of(q.low).below(0.1); ok {
		low = scaled(q.low, ratio)
	}
	if c.keepsMedian {
		low = min(low, median)
	}
	return low, median
}

// correct writes calibrated quantiles into a prediction. The P90 is at most the bound:
// that holds for 95 % of all jobs, so that for some of them it may be below the P90 of
// their magnitude.
func (c *calibration) correct(q quantiles, p Prediction) Prediction {
	low, median := c.center(q)
	p.Low, p.Median, p.High, p.Bound = duration(low), duration(median), protocol.Never, protocol.Never
	p.Mean = p.Median
	if s := c.median.of(q.median); len(s.sorted) > 0 {
		p.Mean = duration((q.median+slack)*s.ratios/float64(len(s.sorted)) - slack)
	}
	if ratio, ok := c.high.of(q.high).above(0.9); ok {
		p.High = duration(scaled(q.high, ratio))
	}
	if bound, ok := c.bound(q); ok {
		p.Bound = duration(bound)
		p.High = min(p.High, p.Bound)
	}
	return p.ordered()
}

// dueBounds is a heap of promises by the instants that their bounds name.
type dueBounds []*promise

func (d *dueBounds) Len() int { return len(*d) }
func (d *dueBounds) Less(i, j int) bool {
	a, b := (*d)[i], (*d)[j]
	return a.due < b.due || a.due == b.due && a.id < b.id
}
func (d *dueBounds) Swap(i, j int) { (*d)[i], (*d)[j] = (*d)[j], (*d)[i] }

// Push implements [heap.Interface].
func (d *dueBounds) Push(x any) {
	p, _ := x.(*promise)
	*d = append(*d, p)
}

// Pop implements [heap.Interface].
func (d *dueBounds) Pop() any {
	last := (*d)[len(*d)-1]
	(*d)[len(*d)-1] = nil
	*d = (*d)[:len(*d)-1]
	return last
}

// magnitudes are the scores of a quantile by its size: up to a minute, a quarter of
// an hour, two hours, half a day, two days, and more. An hour off is much where no
// job waits and little where all wait for days.
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

// scores are the last ones.
type scores struct {
	window

	ratios float64 // the sum of exp(score)
}

func (s *scores) add(score float64) {
	s.ratios += math.Exp(score)
	if oldest, full := s.window.add(score); full {
		s.ratios -= math.Exp(oldest)
	}
}

// above is the score that a new one stays at or below with that probability, if
// all come in any order alike: of n the ⌈share·(n+1)⌉-th. ok is false if there are fewer.
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
