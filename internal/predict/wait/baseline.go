package wait

// Baseline is a predictor that looks at no job: its answer follows from the waits of
// the jobs that started before, or is fixed. A predictor that is worth its cost
// has smaller errors than all of these. Its interval is how far off the answer was
// for recent jobs.
type Baseline struct {
	name      string
	summary   summary
	intervals *calibration
}

// summary is one number that sums up the waits of earlier jobs, in seconds. It is
// 0 before the first.
type summary interface {
	add(waited float64)
	value() float64
}

// Baselines returns the baselines with nothing seen, which calibrate their
// intervals with the last recent starts of each magnitude: always 0, the wait of
// the job that started last, the median of the last 100, and the mean of all.
func Baselines(recent int) []Predictor {
	const last = 100
	return []Predictor{
		newBaseline("zero", zero{}, recent), newBaseline("last", new(latest), recent),
		newBaseline("median100", &medianOfLast{window{limit: last}}, recent), newBaseline("mean", new(meanOfAll), recent),
	}
}

func newBaseline(name string, s summary, recent int) *Baseline {
	return &Baseline{name: name, summary: s, intervals: newCalibration(recent)}
}

// Name implements [Predictor].
func (b *Baseline) Name() string { return b.name }

// Predict implements [Predictor].
func (b *Baseline) Predict(a Arrival) Prediction {
	b.intervals.elapse(a.At)
	v := b.summary.value()
	return b.intervals.correct(point(v), Prediction{Wait: duration(v), By: BySummary})
}

// Observe implements [Predictor].
func (b *Baseline) Observe(e Event) {
	id := e.Arrival.Job.ID
	switch e.Kind {
	case Submitted:
		b.intervals.submitted(id, e.At, point(b.summary.value()))
	case Started:
		b.intervals.started(id, e.At, seconds(e.Wait))
		b.summary.add(seconds(e.Wait))
	case Withdrawn:
		b.intervals.withdrawn(id)
	case Ended:
	}
}

type zero struct{}

func (zero) add(float64)    {}
func (zero) value() float64 { return 0 }

type latest struct{ waited float64 }

func (l *latest) add(waited float64) { l.waited = waited }
func (l *latest) value() float64     { return l.waited }

type meanOfAll struct{ sum, count float64 }

func (m *meanOfAll) add(waited float64) { m.sum, m.count = m.sum+waited, m.count+1 }
func (m *meanOfAll) value() float64     { return m.sum / max(m.count, 1) }

// medianOfLast is the median of the last waits; of an even number of them the lower
// of the two in the middle.
type medianOfLast struct{ recent window }

func (m *medianOfLast) add(waited float64) { m.recent.add(waited) }

func (m *medianOfLast) value() float64 {
	if len(m.recent.sorted) == 0 {
		return 0
	}
	return m.recent.sorted[(len(m.recent.sorted)-1)/2]
}
