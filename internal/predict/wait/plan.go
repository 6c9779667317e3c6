package wait

import "github.com/switchyard-hpc/switchyard/protocol"

// ByPlan is the method of a batch system that plans its queue.
const ByPlan Method = "plan"

// Plan puts intervals around the waits that a batch system plans. What a plan does
// not know, jobs that end before their estimates and jobs still to come, shows in how
// far the recent ones were off; the calibration is that of the other predictors.
type Plan struct{ calibration *calibration }

// NewPlan returns one that looks back on so many starts of each magnitude of waits.
func NewPlan(recent int) *Plan { return &Plan{calibration: newCalibration(recent)} }

// Around is the prediction for a planned wait. Until enough has been learnt its
// interval is open.
func (p *Plan) Around(planned protocol.Duration) Prediction {
	return p.calibration.correct(ofPlan(planned), Prediction{Wait: planned, By: ByPlan})
}

// Learn notes what came of a planned wait.
func (p *Plan) Learn(planned, waited protocol.Duration) {
	p.calibration.learn(ofPlan(planned), seconds(waited))
}

func ofPlan(planned protocol.Duration) quantiles {
	s := seconds(planned)
	return quantiles{s, s, s}
}
