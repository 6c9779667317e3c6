package wait

// ByPlan is the method of a batch system that plans its queue.
const ByPlan Method = "plan"

// Plan answers with the wait that the batch system plans, [Arrival.Planned], and
// puts an interval around it. What a plan does not know, jobs that end before
// their estimates and jobs still to come, shows in how far the recent plans were
// off; the calibration is that of the other predictors.
type Plan struct{ intervals *calibration }

// NewPlan returns one that calibrates with the last recent starts of each magnitude
// of waits.
func NewPlan(recent int) *Plan { return &Plan{newCalibration(recent)} }

// Name implements [Predictor].
func (p *Plan) Name() string { return "plan" }

// Predict implements [Predictor]. The interval is open until enough jobs have started.
func (p *Plan) Predict(a Arrival) Prediction {
	if !a.HasPlan {
		return unknown()
	}
	p.intervals.elapse(a.At)
	return p.intervals.correct(point(seconds(a.Planned)), Prediction{Wait: a.Planned, By: ByPlan})
}

// Observe implements [Predictor].
func (p *Plan) Observe(e Event) {
	id := e.Arrival.Job.ID
	switch e.Kind {
	case Submitted:
		if e.Arrival.HasPlan {
			p.intervals.submitted(id, e.At, point(seconds(e.Arrival.Planned)))
		}
	case Started:
		p.intervals.started(id, e.At, seconds(e.Wait))
	case Withdrawn:
		p.intervals.withdrawn(id)
	case Ended:
	}
}
