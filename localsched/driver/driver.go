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

// Driver drives the engine of one batch system. An instant that is earlier than one passed before
// counts as that one. Methods return a *[localsched.RefusedError] only where they say so; any other
// error is of an engine that contradicts the driver, or that does not answer. A Driver is used by
// one goroutine at a time.
//
// Invariant: a job is in at most one of the queue of the engine, its running jobs, and the jobs that
// do not fit ([Job.Planned] is false). TestMisfits checks it.
//
// Invariant: each start, kill and ended reservation is in [Work] once. TestWork checks it.
type Driver struct {
	machine      engine.Machine
	rules        Rules
	builtin      *engine.Engine    // nil for another engine, which cannot be rebuilt
	engine       localsched.Engine // own, or the other one
	feed         *changefeed.Feed
	jobs         map[protocol.Tag]*Job // from Submit or Add to Leave
	reservations map[protocol.Tag]localsched.Reservation
	work         Work
	wake         protocol.Instant     // the engine's
	budgetChange protocol.Instant     // when the budget changes next
	budget       protocol.PowerBudget // the last one reported, as in [protocol.Load]
	blocked      []*Job               // by the budget, as reported
	budgetScans  uint64               // at the budget
}

// Job is a job of a driver; runners embed it in theirs. Set Tag and Request before passing it to
// the driver, and Since if it has been pending before.
type Job struct {
	localsched.Queued

	Seq   uint64           // in the order of submission
	Began protocol.Instant // when the engine started it; it is pending until it has

	// Resources is what a started job takes of the resources of the machine, by name and type,
	// without those of which the machine names none.
	Resources []protocol.Resource

	Reported changefeed.Job

	started    bool
	planned    bool   // the engine has it
	budgetScan uint64 // at the budget, the last at which that held it
}

// TimeLimit is the time limit of the job: once it has started, that with which the engine has started it.
func (j *Job) TimeLimit() protocol.Duration { return cmp.Or(j.Limit, j.WallTime) }

// Started reports whether the engine has started the job.
func (j *Job) Started() bool { return j.started }

// Planned reports whether the engine has the job. It does not have a job that no longer fits the
// machine or the rules: a pending one waits for other rules, a running one continues outside the plan.
func (j *Job) Planned() bool { return j.planned }

// Work is what the runner has to do, each item once and in order.
type Work struct {
	Starts            []protocol.Tag // start these jobs
	Kills             []protocol.Tag // these jobs are at their time limits
	EndedReservations []protocol.Tag // these advance reservations are of no more use
}

// New returns a driver of the built-in engine on an idle machine. To begin with existing jobs, call
// [Driver.Add] for each and then [Driver.Rebuild].
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

// TakeWork returns the work since the last call.
func (d *Driver) TakeWork() Work {
	work := d.work
	d.work = Work{}
	return work
}

// Next is when to call [Driver.Tick]: the next wake of the engine or change of the power budget.
func (d *Driver) Next() protocol.Instant {
	if d.wake == 0 {
		return d.budgetChange
	}
	return min(d.wake, d.budgetChange)
}

// Wake is when the engine needs a tick. Zero means that no such time is known.
func (d *Driver) Wake() protocol.Instant { return d.wake }

// Load is how busy the machine is.
func (d *Driver) Load() (protocol.Load, error) { return d.engine.Load() }

// Jobs are the jobs of the driver, in no particular order.
func (d *Driver) Jobs() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for _, j := range d.jobs {
			if !yield(j) {
				return
			}
		}
	}
}

// Submit puts a job at the end of the queue and reports it as pending. The error is a
// *[localsched.RefusedError] if the job can never start.
func (d *Driver) Submit(now protocol.Instant, j *Job) error {
	_, err := d.submit(now, j, false)
	return err
}

// SubmitOver is [Driver.Submit] for a runner that starts a new job within its own Submit call. If
// the engine starts the job now, it returns true, the job is not in Work.Starts, and nothing is
// reported about it yet.
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

// Add gives the driver an existing job, before [Driver.Rebuild]: a pending one, or, with started,
// one that the engine started at its Began.
func (d *Driver) Add(j *Job, started bool) {
	j.started, j.planned = started, false
	d.jobs[j.Tag] = j
}

// Leave removes a job that has ended or is withdrawn, and its advance reservation. A job that the
// driver does not have is ignored.
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

// without returns the tags except one.
func without(tags []protocol.Tag, tag protocol.Tag) []protocol.Tag {
	for i, one := range tags {
		if one == tag {
			return append(tags[:i:i], tags[i+1:]...)
		}
	}
	return tags
}

// Tick starts the jobs whose reserved start has come, and removes the advance reservations that
// have expired without a job.
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

// SetPriorities gives pending jobs of the built-in engine other priorities. Those that are not pending are passed over.
func (d *Driver) SetPriorities(now protocol.Instant, priorities []localsched.Priority) {
	if d.builtin == nil {
		return
	}
	for _, one := range priorities {
		if j := d.jobs[one.Tag]; j != nil && !j.started {
			j.Priority = one.Priority
		}
	}
	d.applyAndUpdate(now, d.builtin.SetPriorities(now, priorities))
}

// applyAndUpdate applies the actions of the engine, then the state of the power budget.
func (d *Driver) applyAndUpdate(now protocol.Instant, actions localsched.Actions) {
	d.apply(now, actions)
	d.updateBlocked(now)
}

// apply stores the actions of the engine as work. The caller calls updateBlocked once after its
// last apply, since that visits every job that the budget blocks.
func (d *Driver) apply(now protocol.Instant, actions localsched.Actions) {
	d.wake = actions.Wake
	for _, tag := range actions.Starts {
		j := d.jobs[tag]
		if j == nil {
			continue // another engine may start a job that it does not have: the runner detects it
		}
		j.started, j.Began = true, now
		if d.builtin != nil {
			j.Place, j.Resources = d.builtin.PlaceName(tag), d.builtin.Resources(tag)
			j.Limit = 0
			if j.LeastTime() < j.WallTime {
				j.Limit = d.builtin.Limit(tag).Sub(now)
			}
		}
	}
	d.work.Starts = append(d.work.Starts, actions.Starts...)
	d.work.Kills = append(d.work.Kills, actions.Kills...)
}

// updateBlocked reports the pending jobs that the budget keeps from starting, and stores when the
// budget changes next. A changed budget also wakes watchers, so that they see it in the load.
func (d *Driver) updateBlocked(now protocol.Instant) {
	if d.builtin == nil || !d.rules.Budgeted() && !d.budget.Active && len(d.blocked) == 0 {
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

// BudgetScans counts the calls that looked for jobs that the budget blocks, for tests of their cost.
func (d *Driver) BudgetScans() uint64 { return d.budgetScans }

// ReportPending reports the reason why a job is pending, unless it is the one reported last. The
// empty reason is that of a job that waits for CPUs.
func (d *Driver) ReportPending(j *Job, reason string) {
	d.feed.Report(&j.Reported, localsched.Change{Tag: j.Tag, State: protocol.Pending, Reason: reason})
}

// byStart orders jobs by their starts.
func byStart(a, b *Job) int { return cmp.Or(cmp.Compare(a.Began, b.Began), cmp.Compare(a.Seq, b.Seq)) }

func bySubmission(a, b *Job) int { return cmp.Compare(a.Seq, b.Seq) }
