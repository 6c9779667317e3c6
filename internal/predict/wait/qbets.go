package wait

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// BoundParams are the numbers of [QBETS].
type BoundParams struct {
	Quantile   float64 // the share of jobs that start within the bound
	Confidence float64 // that they do
	Sizes      []int   // the most CPUs of each class but the last, rising
	History    int     // waits remembered for a class
}

// DefaultBoundParams are 95 % of the jobs with a confidence of 95 %, as published,
// and classes of up to 4, 16, 64 and more CPUs instead of the later paper's
// clustering of sizes.
func DefaultBoundParams() BoundParams {
	return BoundParams{Quantile: 0.95, Confidence: 0.95, Sizes: []int{4, 16, 64}, History: 4000}
}

// Validate reports the first invalid number, by name.
func (p BoundParams) Validate() error {
	switch {
	case !(p.Quantile > 0 && p.Quantile < 1):
		return fmt.Errorf("quantile: %v is not between 0 and 1", p.Quantile)
	case !(p.Confidence > 0 && p.Confidence < 1):
		return fmt.Errorf("confidence: %v is not between 0 and 1", p.Confidence)
	case !slices.IsSorted(p.Sizes):
		return fmt.Errorf("sizes: %v do not rise", p.Sizes)
	case p.History < p.least():
		return fmt.Errorf("history: %d, a bound needs %d waits", p.History, p.least())
	}
	return nil
}

// least is how many waits a bound needs: fewer could all lie below the quantile.
func (p BoundParams) least() int {
	return int(math.Ceil(math.Log(1-p.Confidence) / math.Log(p.Quantile)))
}

// QBETS bounds waits by the binomial method (Brevik, Nurmi and Wolski, PPoPP
// 2006; Nurmi, Brevik and Wolski, 2007). Of n earlier waits in the job's size
// class, the bound is the smallest that exceeds the quantile with the asked
// confidence, each wait being below the quantile or not like a coin. When the
// bounds are missed so often in a row that chance does not explain it, the times
// have changed, and all but the latest waits are forgotten. It knows no estimates
// and no queue; the wait that it predicts is the bound of the median.
type QBETS struct {
	params  BoundParams
	classes []class
	ranks   map[rankOf]int    // of the bounds that were asked for; 0: too few waits
	stated  map[int64]float64 // the active bound when a waiting job was submitted
}

// class is the waits of one size class, in seconds.
type class struct {
	window

	added  int // waits, ever
	misses int // of the bound, in a row
	rare   int // misses in a row that tell of a change
}

// NewQBETS returns a predictor that has seen nothing, or says which parameter is
// wrong.
func NewQBETS(p BoundParams) (*QBETS, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	classes := make([]class, len(p.Sizes)+1)
	for i := range classes {
		classes[i] = class{window: window{limit: p.History}, rare: rareRun(0)}
	}
	return &QBETS{params: p, classes: classes, ranks: make(map[rankOf]int), stated: make(map[int64]float64)}, nil
}

// Name implements [Predictor].
func (q *QBETS) Name() string { return "qbets" }

// Predict implements [Predictor].
func (q *QBETS) Predict(a Arrival) Prediction {
	c := q.class(a.Job.CPUs)
	median, ok := q.bound(c, 0.5)
	if !ok {
		return unknown()
	}
	spread := quantilesOf(c.sorted)
	p := unknown()
	p.Wait, p.By = duration(median), ByQuantile
	p.Low, p.Median, p.High = duration(spread.low), duration(spread.median), duration(spread.high)
	if bound, ok := q.bound(c, q.params.Quantile); ok {
		p.Bound = duration(bound)
	}
	return p.ordered()
}

// Observe implements [Predictor].
func (q *QBETS) Observe(e Event) {
	id := e.Arrival.Job.ID
	switch e.Kind {
	case Submitted:
		if bound, ok := q.bound(q.class(e.Arrival.Job.CPUs), q.params.Quantile); ok {
			q.stated[id] = bound
		}
	case Started:
		c := q.class(e.Arrival.Job.CPUs)
		if bound, ok := q.stated[id]; ok {
			c.judge(bound, seconds(e.Wait), q.params.least())
		}
		delete(q.stated, id)
		c.add(seconds(e.Wait))
	case Withdrawn:
		delete(q.stated, id)
	case Ended:
	}
}

func (q *QBETS) class(cpus int) *class {
	at, _ := slices.BinarySearch(q.params.Sizes, cpus)
	return &q.classes[at]
}

// judge compares a wait with the stated bound, and forgets the past if that
// was missed too often.
func (c *class) judge(bound, waited float64, keep int) {
	if waited <= bound {
		c.misses = 0
		return
	}
	c.misses++
	if c.misses < c.rare || len(c.values) <= keep {
		return
	}
	c.misses = 0
	c.keep(keep)
	c.rare = rareRun(correlation(c.inOrder()))
}

func (c *class) add(waited float64) {
	c.window.add(waited)
	const often = 50 // one wait more or less does not change the correlation
	if c.added++; c.added%often == 0 {
		c.rare = rareRun(correlation(c.inOrder()))
	}
}

// bound is the smallest of the waits of a class that is above their quantile with the
// confidence of the parameters; ok is false if there are too few.
func (q *QBETS) bound(c *class, quantile float64) (wait float64, ok bool) {
	asked := rankOf{len(c.sorted), quantile}
	rank, known := q.ranks[asked]
	if !known {
		rank, _ = boundRank(asked.waits, quantile, q.params.Confidence)
		q.ranks[asked] = rank
	}
	if rank == 0 {
		return 0, false
	}
	return c.sorted[rank-1], true
}

// rankOf is a quantile of a number of waits.
type rankOf struct {
	waits    int
	quantile float64
}

// boundRank is the least k for which the k-th smallest of n values is above their
// quantile q with the asked confidence: P(Binomial(n, q) < k) ≥ confidence.
func boundRank(n int, quantile, confidence float64) (rank int, ok bool) {
	// P(Binomial(n, q) < k) is the regularised incomplete beta function
	// I(1−q; n−k+1, k).
	reaches := func(k int) bool {
		return mathext.RegIncBeta(float64(n-k+1), float64(k), 1-quantile) >= confidence
	}
	if n < 1 || !reaches(n) {
		return 0, false
	}
	low, high := 0, n // low does not reach
	for high-low > 1 {
		if middle := (low + high) / 2; reaches(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}

// correlation is that of the logarithms of waits with those just before them.
func correlation(waits []float64) float64 {
	if len(waits) < 2 {
		return 0
	}
	logs := make([]float64, len(waits))
	for i, w := range waits {
		logs[i] = math.Log(w + 1)
	}
	center(logs)
	var products, squares float64
	for i, v := range logs {
		squares += v * v
		if i > 0 {
			products += v * logs[i-1]
		}
	}
	if squares == 0 {
		return 0
	}
	return products / squares
}

// rareRun is how many misses in a row of a 95 % bound are as rare as three would
// be among independent waits (1 in 8,000), if the logarithms of successive waits
// are normal with that correlation. The method as published looks such runs up in
// a table from simulation, which was not at hand: this one is integrated, for
// correlations up to those tenths.
func rareRun(correlation float64) int {
	for tenths, run := range [...]int{3, 4, 4, 5, 5, 6, 7, 9, 12, 23} {
		if correlation <= float64(tenths)/10 {
			return run
		}
	}
	return 42 // for 0.95
}
