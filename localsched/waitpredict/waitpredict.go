// Package waitpredict tells in quotes what came of earlier ones: how long jobs like this
// one waited, with an interval. A [Predictor] is a pure observer that the simulator
// drives too; a [Scheduler] is a batch system with one.
package waitpredict

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Method is where the waits of quotes come from.
type Method string

// The methods. Whatever the method, the errors of recent quotes make the interval. Under
// [Plan] and [Auto] the plan stays the approximate wait time, by which policies place jobs;
// under the others the estimate replaces it.
const (
	Plan     Method = "plan"     // the batch system's own plan
	Auto     Method = "auto"     // the one of several estimates that was best lately, beside the plan
	Median   Method = "median"   // the plan, corrected to the median of the waits
	Mean     Method = "mean"     // the plan, corrected to their mean
	Adaptive Method = "adaptive" // jobs like it [MC 3.1]
	QBETS    Method = "qbets"    // bounds from the waits alone
	IBL      Method = "ibl"      // instance-based learning
)

// Methods returns all methods.
func Methods() []Method { return []Method{Plan, Auto, Median, Mean, Adaptive, QBETS, IBL} }

// recent is how many starts the intervals of a plan (of each magnitude) and the choice of
// [Auto] look back on.
const recent = 1000

// maxQuoted bounds how many quoted waits are remembered until their jobs come.
const maxQuoted = 1 << 16

// Predictor predicts queue waits from the jobs of one batch system. It is used by one goroutine.
type Predictor struct {
	method    Method
	state     *wait.State
	predictor wait.Predictor
	lastID    int64
	jobs      map[protocol.Tag]int64               // of pending and running jobs, their numbers
	quoted    map[protocol.JobID]protocol.Duration // planned waits of jobs that have not come
}

// NewPredictor returns a predictor for a machine with a number of CPUs.
func NewPredictor(method Method, cpus int) (*Predictor, error) {
	predictor, err := predictorOf(method)
	if err != nil {
		return nil, err
	}
	return &Predictor{
		method: method, state: wait.NewState(cpus), predictor: predictor,
		jobs: map[protocol.Tag]int64{}, quoted: map[protocol.JobID]protocol.Duration{},
	}, nil
}

func predictorOf(method Method) (wait.Predictor, error) {
	switch method {
	case Plan:
		return wait.NewPlan(recent), nil
	case Median:
		return wait.Calibrated{Predictor: wait.NewPlan(recent)}, nil
	case Mean:
		return wait.Expected{Predictor: wait.NewPlan(recent)}, nil
	case Auto:
		return wait.DefaultAuto()
	case Adaptive:
		return wait.NewAdaptive(wait.EarlierParams())
	case QBETS:
		return wait.NewQBETS(wait.DefaultBoundParams())
	case IBL:
		return wait.NewIBL(wait.DefaultLearningParams())
	}
	names := make([]string, len(Methods()))
	for i, m := range Methods() {
		names[i] = strconv.Quote(string(m))
	}
	return nil, fmt.Errorf("invalid wait prediction %q; use one of %s", string(method), strings.Join(names, ", "))
}

// ByPlan reports whether the next predictions come from the plan alone, which includes the
// tentative jobs. Other predictions know nothing of those. Under [Auto] it may change with each
// job that starts.
func (f *Predictor) ByPlan() bool {
	if auto, ok := f.predictor.(*wait.Auto); ok {
		return auto.ByPlan()
	}
	return f.method == Plan || f.method == Median || f.method == Mean
}

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
	if f.method != Auto {
		q.AWT = p.Wait
	}
	switch {
	case p.High != protocol.Never:
		q.AWTLow, q.AWTHigh = min(p.Low, q.AWT), max(p.High, q.AWT)
		q.AWTMedian = p.Median
	case q.AWTHigh != 0: // the batch system's own interval
		q.AWTLow, q.AWTHigh = min(q.AWTLow, q.AWT), max(q.AWTHigh, q.AWT)
		q.AWTMedian = min(max(p.Median, q.AWTLow), q.AWTHigh)
	}
	if p.Bound != protocol.Never {
		q.Bound = max(p.Bound, q.AWT)
	}
}

func (f *Predictor) predict(now protocol.Instant, r protocol.Request, planned, added protocol.Duration) wait.Prediction {
	if f.ByPlan() {
		added = 0
	}
	a := f.state.Arrival(now, jobOf(0, r))
	a.Planned, a.HasPlan = max(0, planned-added), true
	p := f.predictor.Predict(a)
	p.Wait, p.Low, p.Median = p.Wait.Plus(added), p.Low.Plus(added), p.Median.Plus(added)
	p.High, p.Bound = p.High.Plus(added), p.Bound.Plus(added)
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
	a := f.state.Arrival(now, jobOf(f.lastID, r))
	if a.Planned, a.HasPlan = f.quoted[tag.Job]; a.HasPlan {
		delete(f.quoted, tag.Job)
	}
	f.jobs[tag] = f.lastID
	f.observe(f.state.Submit(a))
}

// Withdrawn notes that a job has left the queue without a start.
func (f *Predictor) Withdrawn(now protocol.Instant, tag protocol.Tag) {
	if id, ok := f.jobs[tag]; ok {
		delete(f.jobs, tag)
		f.observe(f.state.Leave(now, id))
	}
}

// Changed records a change that the batch system has reported. Repeating it changes nothing.
func (f *Predictor) Changed(now protocol.Instant, c localsched.Change) {
	id, ok := f.jobs[c.Tag]
	if !ok || c.State == protocol.Pending {
		return
	}
	f.observe(f.state.Start(now, id))
	if c.State.Terminal() {
		delete(f.jobs, c.Tag)
		f.observe(f.state.Leave(now, id))
	}
}

func (f *Predictor) observe(event wait.Event, ok bool) {
	if ok {
		f.predictor.Observe(event)
	}
}

// jobOf has no user: quotes are asked for jobs without their user.
func jobOf(id int64, r protocol.Request) wait.Job {
	return wait.Job{ID: id, User: wait.UnknownUser, CPUs: r.CPUs, Estimate: r.WallTime}
}
