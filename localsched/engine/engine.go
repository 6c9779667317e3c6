package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Errors of the engine. None of them changes anything.
var (
	ErrDuplicate = errors.New("the engine has this job already")
	ErrStarted   = errors.New("the job has started")
	ErrUnknown   = errors.New("the engine has no such job")
	ErrNoRoom    = errors.New("the machine has no room for this job beside those that run")
)

// Job is a job as the engine takes it. Request.WallTime is both the estimate and
// the limit.
type Job struct {
	protocol.Request
	Tag protocol.Tag
}

// Actions is what the driver must do now, in order, and when it must call
// [Engine.Tick] next.
type Actions struct {
	Starts []protocol.Tag   // start these jobs
	Kills  []protocol.Tag   // end these jobs, then report each by Finished
	Wake   protocol.Instant // the next limit of a running job; 0: none
}

// Engine is a batch system without a clock or processes. It is not safe for use
// from several goroutines. Time begins at 0 and never runs back: an earlier now
// counts as the latest one seen.
type Engine struct {
	machine Machine
	policy  Policy
	lookup  bool // quotes are lookups
	floor   Floor
	book    book
	busy    int  // units
	work    work // of the queue

	opening Opening // left by the last pass
	settled bool    // the last pass saw the present state

	version uint64 // rises with every change; 0 is that of no plan
	plan    plan
	trial   future // for quotes that are not lookups
}

// New returns an engine with an empty machine.
func New(machine Machine, policy Policy) *Engine {
	return &Engine{
		machine: machine,
		policy:  policy,
		lookup:  policy.Lookup() && machine.Pool(),
		floor:   newFloor(machine, policy),
		book:    book{slots: map[protocol.Tag]int{}},
		version: 1,
		plan:    plan{future: newFuture(machine, policy)},
		trial:   newFuture(machine, policy),
	}
}

// Submit puts a job at the end of the queue. The error is a
// *[localsched.RefusedError] when the job would not even run on the empty
// machine, and wraps [ErrDuplicate] when a job with this tag is queued or runs.
func (e *Engine) Submit(now protocol.Instant, job Job) (Actions, error) {
	waiting, err := e.admit(job)
	if err != nil {
		return Actions{}, err
	}
	e.advance(now)
	e.version++
	idle := e.startsNothing(waiting)
	e.enqueue(job.Tag, waiting)
	if idle {
		return Actions{Wake: e.wake()}, nil
	}
	return e.pass(), nil
}

// startsNothing says whether a pass after the job's submission is known to
// change nothing, by the promises of [Policy.Lookup]. A job that comes to an
// empty queue becomes its head, which needs a pass.
func (e *Engine) startsNothing(w Waiting) bool {
	_, behind := e.floor.Head()
	return behind && e.lookup && e.settled && !e.floor.overdue() &&
		!e.opening.Admits(e.floor.now, w.Units, w.Time)
}

// Withdraw takes a job that has not started out of the queue. The error wraps
// [ErrStarted] when it runs and [ErrUnknown] when there is no such job.
func (e *Engine) Withdraw(now protocol.Instant, tag protocol.Tag) (Actions, error) {
	entry, err := e.book.get(tag)
	if err != nil {
		return Actions{}, err
	}
	if entry.started {
		return Actions{}, fmt.Errorf("job %v: %w", tag, ErrStarted)
	}
	e.advance(now)
	e.version++
	if c, ok := e.floor.waiting.find(entry.waiting); ok {
		e.floor.waiting.remove(c)
	}
	e.work.drop(e.workOf(entry.waiting))
	e.book.remove(tag)
	return e.pass(), nil
}

// Finished reports that a running job has ended, early, in time or late. The
// error wraps [ErrUnknown] when no such job runs. Jobs that end in the same
// millisecond are best reported in the order of their starts: plans assume it.
func (e *Engine) Finished(now protocol.Instant, tag protocol.Tag) (Actions, error) {
	entry, err := e.book.get(tag)
	if err != nil {
		return Actions{}, err
	}
	if !entry.started {
		return Actions{}, fmt.Errorf("job %v waits in the queue: %w", tag, ErrUnknown)
	}
	e.advance(now)
	e.version++
	if c, ok := e.floor.running.find(entry.running); ok {
		e.floor.end(c)
	}
	e.busy -= entry.running.Units
	e.book.remove(tag)
	return e.pass(), nil
}

// Tick says which running jobs have reached their limit, each job once. It
// starts nothing. When jobs end at their limit, report that first.
func (e *Engine) Tick(now protocol.Instant) Actions {
	e.advance(now)
	actions := Actions{}
	for r := range e.floor.running.all() {
		if r.End > e.floor.now {
			break
		}
		if !r.killed {
			r.killed = true
			actions.Kills = append(actions.Kills, e.book.tag(r.slot))
		}
	}
	actions.Wake = e.wake()
	return actions
}

// Restore tells the engine of a job that runs already since the given time,
// after a restart of the driver. Restore what runs first, in the order of the
// starts, then submit what was queued: Restore makes no pass. Errors are those
// of Submit, and one that wraps [ErrNoRoom].
func (e *Engine) Restore(job Job, started protocol.Instant) error {
	waiting, err := e.admit(job)
	if err != nil {
		return err
	}
	place, ok := e.floor.room.Find(waiting.Units, nil)
	if !ok {
		return fmt.Errorf("job %v: %w", job.Tag, ErrNoRoom)
	}
	e.version++
	e.settled = false
	waiting.slot = e.book.add(job.Tag, waiting)
	e.floor.run(waiting, started, place)
	e.noteStarts()
	return nil
}

// Load is how busy the machine is. Queued work is the CPUs that queued jobs
// would keep busy times their estimates, at most the largest int64.
func (e *Engine) Load() protocol.Load {
	return protocol.Load{
		CPUs:       e.machine.Capacity().CPUs,
		Busy:       e.machine.CPUs(e.busy),
		QueuedJobs: e.floor.waiting.length,
		QueuedWork: e.work.int64(),
	}
}

// admit turns a job into what the queue holds, or says why it cannot.
func (e *Engine) admit(job Job) (Waiting, error) {
	waiting, reason := size(e.machine, job.Request)
	if reason != "" {
		return Waiting{}, &localsched.RefusedError{Reason: reason}
	}
	if _, ok := e.book.slots[job.Tag]; ok {
		return Waiting{}, fmt.Errorf("job %v: %w", job.Tag, ErrDuplicate)
	}
	return waiting, nil
}

// size is what a request takes of the machine. The reason says why it never
// fits; it is empty when it does.
func size(m Machine, r protocol.Request) (w Waiting, reason string) {
	if r.WallTime < 1 {
		return Waiting{}, "has no wall-time limit; ask for at least 1ms"
	}
	units, reason := m.Units(r)
	return Waiting{Units: units, Time: r.WallTime}, reason
}

func (e *Engine) advance(now protocol.Instant) { e.floor.now = max(e.floor.now, now) }

func (e *Engine) enqueue(tag protocol.Tag, w Waiting) {
	w.order = e.version
	w.slot = e.book.add(tag, w)
	e.book.entries[w.slot].waiting = w
	e.floor.waiting.insert(w)
	e.work.add(e.workOf(w))
}

func (e *Engine) workOf(w Waiting) work {
	return workOf(e.machine.CPUs(w.Units), w.Time)
}

func (e *Engine) pass() Actions {
	e.opening = e.policy.Pass(&e.floor)
	e.settled = true
	for _, r := range e.floor.started {
		e.work.drop(e.workOf(e.book.entries[r.slot].waiting))
	}
	return Actions{Starts: e.noteStarts(), Wake: e.wake()}
}

// noteStarts enters the jobs just started in the book.
func (e *Engine) noteStarts() (tags []protocol.Tag) {
	tags = slices.Grow(tags, len(e.floor.started))
	for _, r := range e.floor.started {
		entry := &e.book.entries[r.slot]
		entry.started, entry.running = true, r
		e.busy += r.Units
		tags = append(tags, entry.tag)
	}
	e.floor.started = e.floor.started[:0]
	return tags
}

// wake is the first limit whose job has not been ended.
func (e *Engine) wake() protocol.Instant {
	for r := range e.floor.running.all() {
		if r.killed {
			continue
		}
		if r.End == lastInstant {
			break
		}
		return r.End
	}
	return 0
}
