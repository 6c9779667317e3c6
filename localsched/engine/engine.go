package engine

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ErrNoFreeUnits says that a job cannot have been running beside those that run.
var ErrNoFreeUnits = errors.New("the machine has no room for this job beside those that run")

// Engine is a batch system without a clock or processes. It is not safe for use
// from several goroutines. Time begins at 0 and never runs back: an earlier now
// counts as the latest one seen.
type Engine struct {
	core *Core
	tags tagIndex
}

// New returns an engine with an empty machine.
func New(machine Machine, policy Policy) *Engine {
	return &Engine{core: NewCore(machine, policy), tags: tagIndex{slots: map[protocol.Tag]int{}}}
}

// Submit puts a job at the end of the queue. The error is a
// *[localsched.RefusedError] when the job would not even run on the empty
// machine, and wraps [localsched.ErrDuplicate] when a job with this tag is queued or runs.
func (e *Engine) Submit(now protocol.Instant, job localsched.Queued) (localsched.Actions, error) {
	if slot, ok := e.unclaimedReservation(now, job.Tag); ok {
		if err := e.submitReserved(now, slot, job); err != nil {
			return localsched.Actions{}, err
		}
		return e.Pass(now), nil
	}
	waiting, err := e.admit(job)
	if err != nil {
		return localsched.Actions{}, err
	}
	return e.actions(e.core.Submit(now, e.tags.add(job.Tag), waiting)), nil
}

// Requeue puts a job at the end of the queue again after a restart of the driver, with what it
// was promised before; the zero [ReservedStarts] is nothing. Errors are those of [Engine.Submit]. It
// makes no pass: requeue all jobs in the order in which they were submitted, then make one with
// [Engine.Pass]. With a pass for each, jobs would start before others that were there as well.
func (e *Engine) Requeue(now protocol.Instant, job localsched.Queued, promised ReservedStart) error {
	if slot, ok := e.unclaimedReservation(now, job.Tag); ok {
		return e.submitReserved(now, slot, job)
	}
	waiting, err := e.admit(job)
	if err != nil {
		return err
	}
	slot := e.tags.add(job.Tag)
	e.core.Add(now, slot, waiting)
	e.core.restoreReservedStart(slot, promised)
	return nil
}

// Pass starts what may start now.
func (e *Engine) Pass(now protocol.Instant) localsched.Actions {
	return e.actions(e.core.Pass(now))
}

// Withdraw takes a job that has not started out of the queue. The error wraps
// [localsched.ErrStarted] when it runs and [localsched.ErrUnknownJob] when there is no such job.
func (e *Engine) Withdraw(now protocol.Instant, tag protocol.Tag) (localsched.Actions, error) {
	slot, err := e.tags.get(tag)
	if err != nil {
		return localsched.Actions{}, err
	}
	switch e.core.entries[slot].state {
	case queued:
		e.core.Remove(now, slot)
	case claimed:
		e.core.dropReservation(now, slot)
	case unclaimed:
		return localsched.Actions{}, fmt.Errorf("job %v: it has a reservation and was not submitted: %w", tag, localsched.ErrUnknownJob)
	case absent, runs, expired:
		return localsched.Actions{}, fmt.Errorf("job %v: %w", tag, localsched.ErrStarted)
	}
	e.tags.remove(tag)
	return e.Pass(now), nil
}

// Finished reports that a running job has ended, early, in time or late. The
// error wraps [localsched.ErrUnknownJob] when no such job runs. Jobs that end in the same
// millisecond are best reported in the order of their starts: plans assume it.
func (e *Engine) Finished(now protocol.Instant, tag protocol.Tag) (localsched.Actions, error) {
	slot, err := e.tags.get(tag)
	if err != nil {
		return localsched.Actions{}, err
	}
	if at := e.core.entries[slot].state; at == queued || at == unclaimed || at == claimed {
		return localsched.Actions{}, fmt.Errorf("job %v has not started: %w", tag, localsched.ErrUnknownJob)
	}
	e.core.End(now, slot)
	e.tags.remove(tag)
	return e.Pass(now), nil
}

// SetPolicy gives the machine to another policy. What runs is not touched; the
// queue is put in the policy's order, and a pass is made.
func (e *Engine) SetPolicy(now protocol.Instant, policy Policy) localsched.Actions {
	e.core.SetPolicy(now, policy)
	return e.Pass(now)
}

// SetPriorities gives pending jobs other priorities, and makes a pass. Jobs that are not pending are passed over.
func (e *Engine) SetPriorities(now protocol.Instant, priorities []localsched.Priority) localsched.Actions {
	of := make(map[int]int64, len(priorities))
	for _, one := range priorities {
		if slot, err := e.tags.get(one.Tag); err == nil && e.core.entries[slot].state == queued {
			of[slot] = one.Priority
		}
	}
	if len(of) > 0 {
		e.core.SetPriorities(now, of)
	}
	return e.Pass(now)
}

// Tick says which running jobs have reached their limit, each job once, and
// starts the jobs whose reserved start has come. When jobs end at their limit,
// report that first.
func (e *Engine) Tick(now protocol.Instant) localsched.Actions {
	floor := &e.core.state
	var starts []int
	if wake := floor.Wake(); wake != 0 && wake <= max(now, floor.now) {
		starts = e.core.Pass(now)
	}
	e.core.advance(now)
	actions := e.actions(starts)
	running := floor.running.list()
	for i := range running {
		r := &running[i]
		if r.End > floor.now {
			break
		}
		if !r.killed {
			r.killed = true
			actions.Kills = append(actions.Kills, e.tags.tags[r.slot])
		}
	}
	actions.Wake = e.wake()
	return actions
}

// Restore tells the engine of a job that runs already since the given time,
// after a restart of the driver. Restore what runs first, in the order of the
// starts, then requeue what was queued: Restore makes no pass. A job whose Place is no more
// there, or taken, gets another. Errors are those of Submit, and one that wraps [ErrNoFreeUnits].
func (e *Engine) Restore(job localsched.Queued, started protocol.Instant) error {
	job.WallTime = cmp.Or(job.Limit, job.WallTime)
	waiting, reason := machineSize(e.core.machine, job.Request)
	if err := e.admits(job.Tag, reason); err != nil {
		return err
	}
	if !e.core.restore(e.tags.add(job.Tag), waiting, started, job.Place) {
		e.tags.remove(job.Tag)
		return fmt.Errorf("job %v: %w", job.Tag, ErrNoFreeUnits)
	}
	return nil
}

// Limit is the instant at which a running job reaches its time limit, which a shorter time than it asked for
// may bring forward; zero for any other job.
func (e *Engine) Limit(tag protocol.Tag) protocol.Instant {
	slot, err := e.tags.get(tag)
	if err != nil || e.core.entries[slot].state != runs {
		return 0
	}
	return e.core.entries[slot].end
}

// PlaceName is the name of the place where a job runs, for [localsched.Queued].Place after a
// restart and for people; empty on a machine whose places have none.
func (e *Engine) PlaceName(tag protocol.Tag) string {
	slot, err := e.tags.get(tag)
	if err != nil {
		return ""
	}
	at := e.core.entries[slot]
	i, running := e.core.state.running.find(at.end, at.order)
	if at.state != runs || !running {
		return ""
	}
	return e.core.placeName(e.core.state.running.list()[i].Place)
}

// Resources is what a running job takes of the resources that the capacity names, by name and type;
// nil for any other job. For a resource of which the job has named no type, it has the type.
func (e *Engine) Resources(tag protocol.Tag) []protocol.Resource {
	m, ok := e.core.machine.(*counted)
	if !ok {
		return nil
	}
	slot, err := e.tags.get(tag)
	if err != nil {
		return nil
	}
	at := e.core.entries[slot]
	i, running := e.core.state.running.find(at.end, at.order)
	if at.state != runs || !running {
		return nil
	}
	return m.resourcesOf(e.core.state.running.list()[i].extras)
}

// Load is how busy the machine is, as [Core.Load] says it.
func (e *Engine) Load() protocol.Load { return e.core.Load() }

// Plan is [Core.Plan].
func (e *Engine) Plan(now protocol.Instant, ahead, jobs []protocol.Request) []localsched.Planned {
	e.core.sweepExtras()
	return e.core.Plan(now, ahead, jobs)
}

// admit turns a job into what the queue holds, or says why it cannot.
func (e *Engine) admit(job localsched.Queued) (PendingJob, error) {
	e.core.sweepExtras()
	waiting, reason := e.core.Size(job.Request)
	waiting.since = job.Since
	return waiting, e.admits(job.Tag, reason)
}

// admits says why a job cannot enter.
func (e *Engine) admits(tag protocol.Tag, reason string) error {
	if reason != "" {
		return &localsched.RefusedError{Reason: reason}
	}
	if _, ok := e.tags.slots[tag]; ok {
		return fmt.Errorf("job %v: %w", tag, localsched.ErrDuplicate)
	}
	return nil
}

func (e *Engine) actions(starts []int) localsched.Actions {
	e.forgetExpired()
	actions := localsched.Actions{Wake: e.wake()}
	for _, slot := range starts {
		actions.Starts = append(actions.Starts, e.tags.tags[slot])
	}
	return actions
}

// wake is the first limit whose job has not been ended, or reserved start.
func (e *Engine) wake() protocol.Instant {
	wake := e.core.Wake()
	running := e.core.state.running.list()
	for i := range running {
		if running[i].killed {
			continue
		}
		if end := running[i].End; end != lastInstant && (wake == 0 || end < wake) {
			wake = end
		}
		break
	}
	return wake
}

// Fallible is the engine as drivers see it that cannot know which engine they drive. It is a
// [localsched.EngineReserver] if the engine [Engine.CanReserve].
func (e *Engine) Fallible() localsched.Engine {
	if e.CanReserve() {
		return reserver{fallibleEngine{e}}
	}
	return fallibleEngine{e}
}

// fallibleEngine adds the errors that a call to an engine elsewhere may have.
type fallibleEngine struct{ *Engine }

func (b fallibleEngine) Tick(now protocol.Instant) (localsched.Actions, error) {
	return b.Engine.Tick(now), nil
}

func (b fallibleEngine) Plan(
	now protocol.Instant, ahead, jobs []protocol.Request,
) ([]localsched.Planned, error) {
	return b.Engine.Plan(now, ahead, jobs), nil
}

func (b fallibleEngine) Load() (protocol.Load, error) { return b.Engine.Load(), nil }
