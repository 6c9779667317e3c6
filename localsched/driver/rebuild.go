package driver

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Misfit is what a new engine, or new rules, have no place for.
type Misfit struct {
	Tag      protocol.Tag
	Reserved bool // an advance reservation, which is given up; else a job
	Running  bool // the job runs on, beside the plan; else it is pending until it fits
	Err      error
}

// Rebuild makes the engine anew for the jobs and advance reservations that are there, with
// what pending jobs had reserved. It has no engine of its own rebuilt.
func (d *Driver) Rebuild(now protocol.Instant, reserved []engine.ReservedStart) (misfits []Misfit) {
	d.resetEngine()
	for _, j := range d.jobs {
		j.planned = false
	}
	for _, j := range d.jobsBy(byStart, func(j *Job) bool { return j.started }) {
		// Without room for it, after the machine was made smaller, it runs beside.
		err := d.builtin.Restore(j.Queued, j.Began)
		if j.planned = err == nil; err != nil {
			misfits = append(misfits, Misfit{Tag: j.Tag, Running: true, Err: err})
		}
	}
	misfits = append(misfits, d.restoreReservations(now)...)
	misfits = append(misfits, d.requeueAll(now, reserved)...)
	d.applyAndUpdate(now, d.builtin.Tick(now)) // for the limits of what runs, and the budget
	return misfits
}

// ClockSet rebuilds the engine for a clock that was set. What has a duration goes on as if
// nothing had happened: jobs run and wait as long as before, so that their limits, and the
// starts that are reserved for them, move with the clock. What is an instant stays: advance
// reservations, and the hours of a budget.
func (d *Driver) ClockSet(now protocol.Instant, by protocol.Duration) []Misfit {
	reserved := d.builtin.ReservedStarts()
	for i := range reserved {
		reserved[i].Start = reserved[i].Start.Add(by)
	}
	for _, j := range d.jobs {
		if j.started {
			j.Began = j.Began.Add(by)
		} else {
			j.Since = j.Since.Add(by)
		}
	}
	return d.Rebuild(now, reserved)
}

// UndoStarts has jobs wait again in their old places that the engine has started, and rebuilds
// it.
func (d *Driver) UndoStarts(now protocol.Instant, jobs []*Job) []Misfit {
	for _, j := range jobs {
		j.started = false
		d.work.Starts = without(d.work.Starts, j.Tag)
	}
	return d.Rebuild(now, d.builtin.ReservedStarts())
}

// Requeue has a job wait again, behind the others, that the engine has started.
func (d *Driver) Requeue(now protocol.Instant, j *Job) ([]Misfit, error) {
	if err := d.leave(now, j); err != nil {
		return nil, err
	}
	j.started = false
	misfits := d.requeue(now, j, engine.ReservedStart{})
	d.applyAndUpdate(now, d.builtin.Pass(now))
	return misfits, nil
}

// SetRules has other rules hold from here on. Jobs that run go on.
func (d *Driver) SetRules(now protocol.Instant, rules Rules) []Misfit {
	d.rules = rules
	d.apply(now, d.builtin.SetPolicy(now, rules.policy()))
	misfits := d.requeueAll(now, nil)
	d.updateBlocked(now)
	d.feed.Pulse()
	return misfits
}

// Rules are those in force.
func (d *Driver) Rules() Rules { return d.rules }

// requeueAll puts the pending jobs in the queue that the engine does not have, in the order of
// their submission, with what they had reserved: all of them in a new engine, or those that did
// not fit, under new rules. The caller attends.
func (d *Driver) requeueAll(now protocol.Instant, reserved []engine.ReservedStart) (misfits []Misfit) {
	known := make(map[protocol.Tag]engine.ReservedStart, len(reserved))
	for _, one := range reserved {
		known[one.Tag] = one
	}
	for _, j := range d.jobsBy(bySubmission, func(j *Job) bool { return !j.started && !j.planned }) {
		misfits = append(misfits, d.requeue(now, j, known[j.Tag])...)
	}
	d.apply(now, d.builtin.Pass(now))
	return misfits
}

// requeue puts a job in the queue again, without a scheduling pass. One that does not fit any
// more waits for other rules, or to be withdrawn.
func (d *Driver) requeue(now protocol.Instant, j *Job, reserved engine.ReservedStart) []Misfit {
	if err := d.builtin.Requeue(now, j.Queued, reserved); err != nil {
		d.ReportPending(j, err.Error())
		return []Misfit{{Tag: j.Tag, Err: err}}
	}
	j.planned = true
	d.ReportPending(j, "")
	return nil
}

func (d *Driver) jobsBy(order func(a, b *Job) int, which func(*Job) bool) (jobs []*Job) {
	for _, j := range d.jobs {
		if which(j) {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, order)
	return jobs
}

// ReservedStarts are the starts that are reserved for pending jobs, as a runner must write them down
// to keep them over a restart: they follow from what has happened and not from what is there.
// Empty: the policy reserves none.
func (d *Driver) ReservedStarts() []engine.ReservedStart { return d.builtin.ReservedStarts() }

// ReservesStarts reports whether the rules reserve starts for all pending jobs.
func (d *Driver) ReservesStarts() bool { return d.rules.policy().PlanMode() == engine.PlanReserved }
