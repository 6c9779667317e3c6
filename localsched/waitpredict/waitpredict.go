// Package waitpredict tells in quotes what came of earlier ones: how long jobs like this
// one waited, with an interval. A [Predictor] is a pure observer that the simulator
// drives too; a [Scheduler] is a batch system with one.
package waitpredict

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Method is where the waits of quotes come from.
type Method string

// The methods. Whatever the method, what its answers were off lately makes the interval.
const (
	Plan     Method = "plan"     // the batch system's own plan
	Adaptive Method = "adaptive" // jobs like it [MC 3.1]
	QBETS    Method = "qbets"    // bounds from the waits alone
	IBL      Method = "ibl"      // instance-based learning
)

// Methods returns all methods.
func Methods() []Method { return []Method{Plan, Adaptive, QBETS, IBL} }

// recent is how many starts of each magnitude the interval of a plan looks back on.
const recent = 1000

// maxQuoted bounds how many quoted waits are remembered until their jobs come.
const maxQuoted = 1 << 16

// Predictor predicts queue waits from the jobs of one batch system. It is used by one goroutine.
type Predictor struct {
	state     *wait.State
	predictor wait.Predictor // nil: the plan
	plan      *wait.Plan
	lastID    int64
	jobs      map[protocol.Tag]trackedJob
	quoted    map[protocol.JobID]protocol.Duration // planned waits of jobs that have not come
}

// trackedJob is a pending or running job.
type trackedJob struct {
	id        int64
	submitted protocol.Instant
	planned   protocol.Duration // at its last quote; -1: it had none
}

// NewPredictor returns a predictor for a machine with a number of CPUs.
func NewPredictor(method Method, cpus int) (*Predictor, error) {
	predictor, err := predictorOf(method)
	if err != nil {
		return nil, err
	}
	return &Predictor{
		state: wait.NewState(cpus), predictor: predictor, plan: wait.NewPlan(recent),
		jobs: map[protocol.Tag]trackedJob{}, quoted: map[protocol.JobID]protocol.Duration{},
	}, nil
}

func predictorOf(method Method) (wait.Predictor, error) {
	switch method {
	case Plan:
		return nil, nil
	case Adaptive:
		return wait.NewAdaptive(wait.DefaultParams())
	case QBETS:
		return wait.NewQBETS(wait.DefaultBoundParams())
	case IBL:
		return wait.NewIBL(wait.DefaultLearningParams())
	}
	return nil, fmt.Errorf("invalid wait prediction %q; use %q, %q, %q or %q", string(method), Plan, Adaptive, QBETS, IBL)
}

// Predicts reports whether waits are predicted from those of earlier jobs: then they know
// nothing of jobs that are promised room and have not come.
func (f *Predictor) Predicts() bool { return f.predictor != nil }

// Annotate sets the predicted waits of a quote, unless it is declined. Added is the part of the planned
// wait that is due to tentative jobs: predictions do not know of those, so it is added to them.
func (f *Predictor) Annotate(now protocol.Instant, r protocol.Request, q *protocol.Quote, added protocol.Duration) {
	if q.Declined != "" || q.AWT == protocol.Never {
		return
	}
	if r.Job != 0 {
		f.remember(r.Job, q.AWT)
	}
	p := f.predict(now, r, q.AWT, added)
	if f.predictor != nil {
		q.AWT = p.Wait
	}
	switch {
	case p.High != protocol.Never:
		q.AWTLow, q.AWTHigh = min(p.Low, q.AWT), max(p.High, q.AWT)
	case q.AWTHigh != 0: // the batch system's own interval
		q.AWTLow, q.AWTHigh = min(q.AWTLow, q.AWT), max(q.AWTHigh, q.AWT)
	}
	if p.Bound != protocol.Never {
		q.Bound = max(p.Bound, q.AWT)
	}
}

func (f *Predictor) predict(now protocol.Instant, r protocol.Request, planned, added protocol.Duration) wait.Prediction {
	if f.predictor == nil {
		return f.plan.Around(planned)
	}
	p := f.predictor.Predict(f.state.Arrival(now, jobOf(0, r)))
	p.Wait, p.Low, p.High, p.Bound = p.Wait.Plus(added), p.Low.Plus(added), p.High.Plus(added), p.Bound.Plus(added)
	return p
}

// remember keeps a planned wait until its job comes. When too many do not, all are
// forgotten.
func (f *Predictor) remember(job protocol.JobID, planned protocol.Duration) {
	if len(f.quoted) >= maxQuoted {
		clear(f.quoted)
	}
	f.quoted[job] = planned
}

// Submitted notes that a job has come into the queue. Repeating a tag changes nothing.
func (f *Predictor) Submitted(now protocol.Instant, tag protocol.Tag, r protocol.Request) {
	if _, ok := f.jobs[tag]; ok {
		return
	}
	f.lastID++
	one := trackedJob{id: f.lastID, submitted: now, planned: -1}
	if planned, ok := f.quoted[tag.Job]; ok {
		one.planned = planned
		delete(f.quoted, tag.Job)
	}
	f.jobs[tag] = one
	f.observe(f.state.Submit(now, jobOf(one.id, r)))
}

// Withdrawn notes that a job has left the queue without a start.
func (f *Predictor) Withdrawn(now protocol.Instant, tag protocol.Tag) {
	if one, ok := f.jobs[tag]; ok {
		delete(f.jobs, tag)
		f.observe(f.state.Leave(now, one.id))
	}
}

// Changed records a change that the batch system has reported. Repeating it changes nothing.
func (f *Predictor) Changed(now protocol.Instant, c localsched.Change) {
	one, ok := f.jobs[c.Tag]
	if !ok || c.State == protocol.Pending {
		return
	}
	f.started(now, one)
	if c.State.Terminal() {
		delete(f.jobs, c.Tag)
		f.observe(f.state.Leave(now, one.id))
	}
}

func (f *Predictor) started(now protocol.Instant, one trackedJob) {
	event, ok := f.state.Start(now, one.id)
	if !ok {
		return
	}
	f.observe(event, ok)
	if one.planned >= 0 {
		f.plan.Learn(one.planned, max(0, now.Sub(one.submitted)))
	}
}

func (f *Predictor) observe(event wait.Event, ok bool) {
	if ok && f.predictor != nil {
		f.predictor.Observe(event)
	}
}

// jobOf has no user: quotes are asked for jobs without their user.
func jobOf(id int64, r protocol.Request) wait.Job {
	return wait.Job{ID: id, User: wait.Nobody, CPUs: r.CPUs, Estimate: r.WallTime}
}
