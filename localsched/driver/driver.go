package driver

import (
	"cmp"
	"iter"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Driver drives the engine of one batch system. Instants are those of the engine: an earlier
// one counts as the latest one seen. An error of a method is a *[localsched.RefusedError] where
// that says so; any other is of an engine that disagrees with the driver, or does not answer.
type Driver struct {
	machine      engine.Machine
	rules        Rules
	builtin      *engine.Engine    // nil: the engine is another one, which cannot be rebuilt
	engine       localsched.Engine // own, or the other one
	feed         *changefeed.Feed
	jobs         map[protocol.Tag]*Job // from Submit or Add to Leave
	reservations map[protocol.Tag]localsched.Reservation
	work         Work
	wake         protocol.Instant // the engine's
	budgetChange protocol.Instant // the next one at which the budget is another
	budget       int64            // that watchers know of, as in [protocol.Load]
	blocked      []*Job           // by the budget, as reported
	budgetScans  uint64           // at the budget
}

// Job is a job as the driver keeps it: runners embed it in theirs. Tag and Request are to be
// set before it is given to the driver, and Since where it has waited before.
type Job struct {
	localsched.Queued

	Seq   uint64           // in the order of submission
	Began protocol.Instant // when the engine started it; it is pending until it has

	Reported changefeed.Job

	started    bool
	planned    bool   // the engine has it
	budgetScan uint64 // at the budget, the last at which that held it
}

// Started reports whether the engine has started the job.
func (j *Job) Started() bool { return j.started }

// Planned reports whether the engine has the job. It has not where the job does not fit the
// machine or the rules any more: such a job waits for others, or runs beside the plan.
func (j *Job) Planned() bool { return j.planned }

// Work is what the engine and the driver want of the runner, each once and in order.
type Work struct {
	Starts            []protocol.Tag // start these jobs
	Kills             []protocol.Tag // these jobs are at their time limits
	EndedReservations []protocol.Tag // these advance reservations are of no more use
}

// New returns a driver of the built-in engine on an idle machine. [Driver.Rebuild] has it
// begin with jobs that are there already.
func New(machine engine.Machine, rules Rules, feed *changefeed.Feed) *Driver {
	d := newDriver(feed)
	d.machine, d.rules = machine, rules
	d.resetEngine()
	return d
}

// WithEngine returns a driver of another engine than the built-in one.
func WithEngine(other localsched.Engine, feed *changefeed.Feed) *Driver {
	d := newDriver(feed)
	d.engine = other
	return d
}

func newDriver(feed *changefeed.Feed) *Driver {
	return &Driver{
		feed: feed, budgetChange: power.End,
		jobs: map[protocol.Tag]*Job{}, reservations: map[protocol.Tag]localsched.Reservation{},
	}
}

// resetEngine makes the engine, empty.
func (d *Driver) resetEngine() {
	d.builtin = engine.New(d.machine, d.rules.policy())
	d.engine = d.builtin.Fallible()
}

// TakeWork returns what is to be done, once.
func (d *Driver) TakeWork() Work {
	work := d.work
	d.work = Work{}
	return work
}

// Next is when [Driver.Tick] is to be called: the engine must be asked again, or the budget
// becomes another.
func (d *Driver) Next() protocol.Instant {
	if d.wake == 0 {
		return d.budgetChange
	}
	return min(d.wake, d.budgetChange)
}

// Wake is when the engine must be asked again, whatever the budget does; 0: nobody knows of
// such a time.
func (d *Driver) Wake() protocol.Instant { return d.wake }

// Load is how busy the machine is.
func (d *Driver) Load() (protocol.Load, error) { return d.engine.Load() }

// Jobs are those that the driver has, in no order.
func (d *Driver) Jobs() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for _, j := range d.jobs {
			if !yield(j) {
				return
			}
		}
	}
}

// Submit puts a job at the end of the queue, and reports it as pending. The error is a
// *[localsched.RefusedError] where the job never fits.
func (d *Driver) Submit(now protocol.Instant, j *Job) error {
	_, err := d.submit(now, j, false)
	return err
}

// SubmitOver is [Driver.Submit] for a runner that starts a job at once if the engine does: then
// it returns true, the job is not among the Starts, and nothing is reported of it yet.
func (d *Driver) SubmitOver(now protocol.Instant, j *Job) (starts bool, err error) {
	return d.submit(now, j, true)
}

func (d *Driver) submit(now protocol.Instant, j *Job, over bool) (starts bool, err error) {
	actions, err := d.engine.Submit(now, j.Queued)
	if err != nil {
		return false, err
	}
	d.jobs[j.Tag] = j
	j.planned = true
	if !over {
		d.ReportPending(j, "")
	}
	d.apply(now, actions)
	if starts = over && j.started; starts {
		d.work.Starts = without(d.work.Starts, j.Tag)
	} else if over {
		d.ReportPending(j, "")
	}
	d.updateBlocked(now)
	return starts, nil
}

// Add has the driver know a job that is there already, for [Driver.Rebuild]: one that is
// pending, or, with started, one that the engine has started at its Began.
func (d *Driver) Add(j *Job, started bool) {
	j.started, j.planned = started, false
	d.jobs[j.Tag] = j
}

// Leave takes a job out that has ended, or that is withdrawn. It need not be there.
func (d *Driver) Leave(now protocol.Instant, j *Job) error {
	if d.jobs[j.Tag] == j {
		delete(d.jobs, j.Tag)
		d.endReservation(j.Tag)
	}
	return d.leave(now, j)
}

func (d *Driver) leave(now protocol.Instant, j *Job) error {
	if !j.planned {
		return nil
	}
	j.planned = false
	done := d.engine.Withdraw
	if j.started {
		done = d.engine.Finished
		d.work.Starts = without(d.work.Starts, j.Tag)
	}
	actions, err := done(now, j.Tag)
	if err != nil {
		return err
	}
	d.applyAndUpdate(now, actions)
	return nil
}

// without leaves a tag out of some.
func without(tags []protocol.Tag, tag protocol.Tag) []protocol.Tag {
	for i, one := range tags {
		if one == tag {
			return append(tags[:i:i], tags[i+1:]...)
		}
	}
	return tags
}

// Tick starts the jobs whose time has come, and gives up the advance reservations whose jobs
// have not come in time.
func (d *Driver) Tick(now protocol.Instant) error {
	actions, err := d.engine.Tick(now)
	if err != nil {
		return err
	}
	d.applyAndUpdate(now, actions)
	for tag, h := range d.reservations {
		if d.jobs[tag] == nil && reservationEnd(h) <= now {
			d.endReservation(tag)
		}
	}
	return nil
}

// applyAndUpdate notes what the engine wants and what the budget does.
func (d *Driver) applyAndUpdate(now protocol.Instant, actions localsched.Actions) {
	d.apply(now, actions)
	d.updateBlocked(now)
}

// apply notes what the engine wants. Whoever has noted all attends, once: that takes a look at
// each job that the budget holds.
func (d *Driver) apply(now protocol.Instant, actions localsched.Actions) {
	d.wake = actions.Wake
	for _, tag := range actions.Starts {
		j := d.jobs[tag]
		if j == nil {
			continue // an engine of its own: the runner finds it out
		}
		j.started, j.Began = true, now
		if d.builtin != nil {
			j.Place = d.builtin.PlaceName(tag)
		}
	}
	d.work.Starts = append(d.work.Starts, actions.Starts...)
	d.work.Kills = append(d.work.Kills, actions.Kills...)
}

// updateBlocked reports which jobs the budget holds, and notes when it will be another. Watchers
// return when it is another than before, though no job waits for it.
func (d *Driver) updateBlocked(now protocol.Instant) {
	if d.builtin == nil || !d.rules.Budgeted() && d.budget == 0 && len(d.blocked) == 0 {
		return
	}
	was := d.blocked
	d.blocked = nil
	d.budgetScans++
	for _, tag := range d.builtin.BudgetBlocked(now) {
		j := d.jobs[tag]
		j.budgetScan = d.budgetScans
		d.blocked = append(d.blocked, j)
		d.ReportPending(j, changefeed.PowerBudget)
	}
	for _, j := range was {
		if j.budgetScan != d.budgetScans && j.planned && !j.started {
			d.ReportPending(j, "")
		}
	}
	_, d.budgetChange = d.rules.Budget.Signal.At(now)
	if budget := d.builtin.Load().Budget; budget != d.budget {
		d.budget = budget
		d.feed.Pulse()
	}
}

// BudgetScans is how often the driver has looked which jobs the budget holds.
func (d *Driver) BudgetScans() uint64 { return d.budgetScans }

// ReportPending reports why a job waits, unless that is reported.
func (d *Driver) ReportPending(j *Job, reason string) {
	d.feed.Report(&j.Reported, localsched.Change{Tag: j.Tag, State: protocol.Pending, Reason: reason})
}

// byStart orders jobs as the engine has started them.
func byStart(a, b *Job) int { return cmp.Or(cmp.Compare(a.Began, b.Began), cmp.Compare(a.Seq, b.Seq)) }

func bySubmission(a, b *Job) int { return cmp.Compare(a.Seq, b.Seq) }
