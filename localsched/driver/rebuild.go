package driver

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Misfit is a job or advance reservation that does not fit a new engine or new rules.
type Misfit struct {
	Tag      protocol.Tag
	Reserved bool // an advance reservation, which is removed; otherwise a job
	Running  bool // the job continues outside the plan; otherwise it is pending until it fits
	Err      error
}

// Rebuild replaces the built-in engine by a new one with the same jobs, advance reservations and
// reserved starts of pending jobs. Call it for the built-in engine only.
//
// Invariant: rebuilding changes no start, because the engine's state follows from the starts of
// running jobs, the reservations, the order of submission and the reserved starts.
// TestRestart in localsched/engine checks it.
func (d *Driver) Rebuild(now protocol.Instant, reserved []engine.ReservedStart) (misfits []Misfit) {
	d.resetEngine()
	for _, j := range d.jobs {
		j.planned = false
	}
	for _, j := range d.jobsBy(byStart, func(j *Job) bool { return j.started }) {
		// After the machine was made smaller, a running job may not fit: it continues outside the plan.
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

// ClockSet rebuilds the engine after the wall clock was set. Durations are preserved: jobs keep the
// time for which they have run and waited, so their limits and reserved starts move with the clock.
// Instants are not moved: advance reservations and the hours of a power budget. TestClockSet checks
// both.
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

// UndoStarts makes started jobs pending again, in their old places in the queue, and rebuilds the
// engine.
func (d *Driver) UndoStarts(now protocol.Instant, jobs []*Job) []Misfit {
	for _, j := range jobs {
		j.started, j.Limit = false, 0
		d.work.Starts = without(d.work.Starts, j.Tag)
	}
	return d.Rebuild(now, d.builtin.ReservedStarts())
}

// Requeue makes a started job pending again, at the end of the queue.
func (d *Driver) Requeue(now protocol.Instant, j *Job) ([]Misfit, error) {
	if err := d.leave(now, j); err != nil {
		return nil, err
	}
	j.started, j.Limit = false, 0
	misfits := d.requeue(now, j, engine.ReservedStart{})
	d.applyAndUpdate(now, d.builtin.Pass(now))
	return misfits, nil
}

// SetRules replaces the rules and makes a scheduling pass. Running jobs are not affected.
func (d *Driver) SetRules(now protocol.Instant, rules Rules) []Misfit {
	d.rules = rules
	d.apply(now, d.builtin.SetPolicy(now, rules.policy()))
	misfits := d.requeueAll(now, nil)
	d.updateBlocked(now)
	d.feed.Pulse()
	return misfits
}

// Rules are the current rules.
func (d *Driver) Rules() Rules { return d.rules }

// requeueAll queues the pending jobs that the engine does not have, in the order of submission, with
// their reserved starts: all of them in a new engine, and under new rules those that did not fit
// before. The caller calls updateBlocked.
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

// requeue queues a pending job again, without a scheduling pass. A job that no longer fits stays
// pending outside the engine until the rules change or it is withdrawn.
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

// ReservedStarts are the reserved starts of pending jobs. A runner must save them to keep them over a
// restart, because they follow from past events and not from the present jobs. There are none under
// a policy that does not reserve.
func (d *Driver) ReservedStarts() []engine.ReservedStart { return d.builtin.ReservedStarts() }

// ReservesStarts reports whether the rules reserve starts for all pending jobs.
func (d *Driver) ReservesStarts() bool { return d.rules.policy().PlanMode() == engine.PlanReserved }
