package wait

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Score is how well a predictor did on the jobs of a past. Shares are from 0 to 1.
type Score struct {
	Predictor string         `json:"predictor"`
	Jobs      int            `json:"jobs"`
	Methods   map[Method]int `json:"methods"` // jobs

	MeanError    protocol.Duration `json:"mean_error_ms"`   // average absolute error (AAE)
	MedianError  protocol.Duration `json:"median_error_ms"` // half the jobs have no larger one
	Under15Min   float64           `json:"under_15_min"`    // share of jobs with an error below that
	Under1Hour   float64           `json:"under_1_hour"`    // the same
	PercentError float64           `json:"percent_error"`   // mean of 100 × |error| ÷ max(response, 10 s)
	ByResponse   []ResponseRange   `json:"by_response"`     // [MC] Figure 2

	MedianOff protocol.Duration `json:"median_off_ms"` // mean |error| of the median instead
	Ranged    float64           `json:"ranged"`        // share of jobs for which Low to High was stated
	BelowLow  float64           `json:"below_low"`     // share of those; 0.1 is meant
	AboveHigh float64           `json:"above_high"`    // the same
	MeanWidth protocol.Duration `json:"mean_width_ms"` // High − Low

	Bounded   float64           `json:"bounded"`       // share of jobs for which a bound was stated
	BoundHeld float64           `json:"bound_held"`    // share of those that started within it; 0.95 is meant
	MeanBound protocol.Duration `json:"mean_bound_ms"` // of those

	AtOnce     float64 `json:"at_once"`     // share of jobs that did not wait
	QuotedHeld float64 `json:"quoted_held"` // share of those with a bound that started within it or the plan, the later of which is what a quote states
}

// Covered is the share of the waits from Low to High, where that was stated; 0.8 is
// meant.
func (s Score) Covered() float64 { return 1 - s.BelowLow - s.AboveHigh }

// ResponseRange is the jobs whose actual response was at least From and below To.
type ResponseRange struct {
	From      protocol.Duration `json:"from_ms"`
	To        protocol.Duration `json:"to_ms"` // [protocol.Never]: no end
	Jobs      int               `json:"jobs"`
	MeanError protocol.Duration `json:"mean_error_ms"`
}

// shortest is the response below which errors are not measured in percent: the τ
// of the bounded slowdown, [MC] equation (8).
const shortest = 10 * protocol.Second

// ledger sums what becomes a score. Times are in seconds.
type ledger struct {
	methods     map[Method]int
	errors      []float64
	percent     float64
	ranges      []ResponseRange
	rangeErrors []float64

	medianOff                float64
	ranged, below, above     int
	width                    float64
	bounded, held            int
	bounds                   float64
	under15Minutes, under1Hr int
	atOnce, quoted           int
}

func newLedger() *ledger {
	edges := []protocol.Duration{
		0, 15 * protocol.Minute, protocol.Hour, 3 * protocol.Hour, 6 * protocol.Hour,
		12 * protocol.Hour, protocol.Day, 2 * protocol.Day, protocol.Never,
	}
	l := &ledger{methods: make(map[Method]int), rangeErrors: make([]float64, len(edges)-1)}
	for i := range l.rangeErrors {
		l.ranges = append(l.ranges, ResponseRange{From: edges[i], To: edges[i+1]})
	}
	return l
}

// add notes what was stated of a job and what came. Planned is 0 without a plan.
func (l *ledger) add(prediction Prediction, planned protocol.Duration, job *Past) {
	if job.Wait == 0 {
		l.atOnce++
	}
	if prediction.Bound != protocol.Never && job.Wait <= max(prediction.Bound, planned) {
		l.quoted++
	}
	off := apart(prediction.Wait, job.Wait)
	l.methods[prediction.By]++
	l.errors = append(l.errors, seconds(off))
	l.percent += 100 * seconds(off) / seconds(max(job.Response(), shortest))
	l.medianOff += seconds(apart(prediction.Median, job.Wait))
	if off < 15*protocol.Minute {
		l.under15Minutes++
	}
	if off < protocol.Hour {
		l.under1Hr++
	}
	for i := range l.ranges {
		if r := &l.ranges[i]; job.Response() < r.To {
			r.Jobs++
			l.rangeErrors[i] += seconds(off)
			break
		}
	}
	l.addInterval(prediction, job.Wait)
}

func (l *ledger) addInterval(prediction Prediction, waited protocol.Duration) {
	if prediction.Bound != protocol.Never {
		l.bounded++
		l.bounds += seconds(prediction.Bound)
		if waited <= prediction.Bound {
			l.held++
		}
	}
	if prediction.High == protocol.Never {
		return
	}
	l.ranged++
	l.width += seconds(prediction.High - prediction.Low)
	if waited < prediction.Low {
		l.below++
	}
	if waited > prediction.High {
		l.above++
	}
}

// score settles the sums.
func (l *ledger) score(predictor string) Score {
	n := len(l.errors)
	s := Score{
		Predictor: predictor, Jobs: n, Methods: l.methods, ByResponse: l.ranges,
		Under15Min: share(l.under15Minutes, n), Under1Hour: share(l.under1Hr, n),
		PercentError: l.percent / float64(max(n, 1)),
		MedianOff:    mean(l.medianOff, n),
		Ranged:       share(l.ranged, n), MeanWidth: mean(l.width, l.ranged),
		BelowLow: share(l.below, l.ranged), AboveHigh: share(l.above, l.ranged),
		Bounded: share(l.bounded, n), BoundHeld: share(l.held, l.bounded), MeanBound: mean(l.bounds, l.bounded),
		AtOnce: share(l.atOnce, n), QuotedHeld: share(l.quoted, l.bounded),
	}
	for i := range s.ByResponse {
		s.ByResponse[i].MeanError = mean(l.rangeErrors[i], s.ByResponse[i].Jobs)
	}
	if n > 0 {
		sum := 0.0
		for _, off := range l.errors {
			sum += off
		}
		s.MeanError = mean(sum, n)
		slices.Sort(l.errors)
		s.MedianError = duration(l.errors[(n-1)/2])
	}
	return s
}

// apart is how far two waits differ.
func apart(a, b protocol.Duration) protocol.Duration { return max(a, b) - min(a, b) }

func share(part, of int) float64 { return float64(part) / float64(max(of, 1)) }

func mean(sum float64, count int) protocol.Duration { return duration(sum / float64(max(count, 1))) }
