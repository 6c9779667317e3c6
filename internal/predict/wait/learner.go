package wait

// learner predicts from the jobs that started last: what [Adaptive] and [IBL] have in
// common. How they find an answer is their own.
type learner struct {
	history   *History
	find      func(a *Arrival) answer
	last      answer
	intervals *calibration
}

// answer is a prediction before it is calibrated.
type answer struct {
	arrival Arrival
	seen    int     // jobs ever in the history when it was found
	wait    float64 // seconds
	similar quantiles
	by      Method
}

func newLearner(history, recent int) learner {
	return learner{history: NewHistory(history), intervals: newCalibration(recent)}
}

// known reports whether the last answer is that to an arrival, from the history as it
// is.
func (l *learner) known(a *Arrival) bool {
	return l.last.seen == l.history.seen && l.last.arrival == *a
}

// Predict implements [Predictor].
func (l *learner) Predict(a Arrival) Prediction {
	l.last = l.find(&a)
	if l.last.by == ByNothing {
		return unknown()
	}
	l.intervals.elapse(a.At)
	return l.intervals.correct(l.last.similar, Prediction{Wait: duration(l.last.wait), By: l.last.by})
}

// Observe implements [Predictor]. It finds an answer of its own for a submission that
// it was not just asked about, so that the intervals are calibrated with all jobs.
func (l *learner) Observe(e Event) {
	id := e.Arrival.Job.ID
	switch e.Kind {
	case Submitted:
		if l.last.arrival != e.Arrival {
			l.last = l.find(&e.Arrival)
		}
		if l.last.by != ByNothing {
			l.intervals.submitted(id, e.At, l.last.similar)
		}
	case Started:
		l.intervals.started(id, e.At, seconds(e.Wait))
		l.history.Add(e)
	case Withdrawn:
		l.intervals.withdrawn(id)
	case Ended:
	}
}
