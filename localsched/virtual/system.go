// Package virtual is a batch system under a virtual clock: a driver of the engine, and jobs
// that run in no process. Its runner says what time it is and when they end: the simulator by
// its workload, the test harness by the jobs' scripts.
package virtual

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// System is a batch system whose jobs carry details of the runner's. It is used by one
// goroutine.
type System[T any] struct {
	runner Runner[T]
	driver *driver.Driver
	feed   *changefeed.Feed
	jobs   map[protocol.Tag]*Job[T]
	seq    uint64 // of the latest submission
}

// Runner is what the runner of a system provides. All functions are required.
type Runner[T any] struct {
	Now     func() protocol.Instant
	Start   func(*Job[T]) error              // the engine has started the job: call [System.Begin], now or later
	Limit   func(*Job[T]) error              // the job has reached its time limit: call [System.End], or [NoLimit]
	Changed func(*Job[T], localsched.Change) // a change other than of the reason of a pending job: [Unobserved] ignores it
}

// NoLimit is a [Runner].Limit for jobs that end by themselves at their time limits.
func NoLimit[T any](*Job[T]) error { return nil }

// Unobserved is a [Runner].Changed that does nothing.
func Unobserved[T any](*Job[T], localsched.Change) {}

// FaultError is of an engine that disagrees, or does not answer: the system is of no more use.
type FaultError struct{ Err error }

func (e *FaultError) Error() string { return e.Err.Error() }

func (e *FaultError) Unwrap() error { return e.Err }

func fault(err error) error {
	if err == nil {
		return nil
	}
	return &FaultError{err}
}

// Job is a job of a system until it is forgotten.
type Job[T any] struct {
	driver.Job

	Detail    T
	State     protocol.State
	Withdrawn bool             // it is pending and never starts
	Reserved  bool             // it came with an advance reservation
	Queued    protocol.Instant // when it came
	Started   protocol.Instant // when it has begun; 0: it has not
	Outcome   protocol.Outcome // once State is terminal
}

// ID is the system's own name of the job.
func (j *Job[T]) ID() localsched.LocalID { return localsched.LocalID(strconv.FormatUint(j.Seq, 10)) }

func (j *Job[T]) pending() bool { return j.State == protocol.Pending && !j.Withdrawn }

// New returns an idle system with the built-in engine.
func New[T any](machine engine.Machine, rules driver.Rules, runner Runner[T]) *System[T] {
	s := newSystem(runner)
	s.driver = driver.New(machine, rules, s.feed)
	return s
}

// WithEngine returns an idle system with another engine.
func WithEngine[T any](other localsched.Engine, runner Runner[T]) *System[T] {
	s := newSystem(runner)
	s.driver = driver.WithEngine(other, s.feed)
	return s
}

func newSystem[T any](runner Runner[T]) *System[T] {
	return &System[T]{runner: runner, feed: changefeed.New(1), jobs: map[protocol.Tag]*Job[T]{}}
}

// Job is the job with this tag; nil: there is none.
func (s *System[T]) Job(tag protocol.Tag) *Job[T] { return s.jobs[tag] }

// Jobs are those that are not forgotten, in the order of submission.
func (s *System[T]) Jobs() []*Job[T] {
	return slices.SortedFunc(maps.Values(s.jobs), func(a, b *Job[T]) int { return cmp.Compare(a.Seq, b.Seq) })
}

// Load is how busy the machine is.
func (s *System[T]) Load() (protocol.Load, error) {
	load, err := s.driver.Load()
	return load, fault(err)
}

// Quote answers each job alone, as [localsched.Planner] wants it.
func (s *System[T]) Quote(query localsched.Query) ([]protocol.Quote, error) {
	quotes, err := s.driver.Quote(s.runner.Now(), query, func(tag protocol.Tag) bool { return s.jobs[tag] != nil })
	return quotes, fault(err)
}

// Submit puts a job in the queue: the request, which may be another than that of the job's
// quotes. Repeating a tag changes nothing.
func (s *System[T]) Submit(tag protocol.Tag, request protocol.Request, detail T) (*Job[T], error) {
	if j := s.jobs[tag]; j != nil && j.Withdrawn {
		return nil, &localsched.RefusedError{Reason: fmt.Sprintf("job %v was withdrawn", tag)}
	} else if j != nil {
		return j, nil
	}
	now := s.runner.Now()
	s.seq++
	j := &Job[T]{Detail: detail, State: protocol.Pending, Reserved: s.driver.IsReserved(now, tag), Queued: now}
	j.Tag, j.Request, j.Seq = tag, request, s.seq
	s.jobs[tag] = j
	if err := s.driver.Submit(now, &j.Job); err != nil {
		delete(s.jobs, tag)
		return nil, fmt.Errorf("submit %v: %w", tag, err)
	}
	s.runner.Changed(j, localsched.Change{Tag: tag, State: protocol.Pending})
	return j, s.carryOut()
}

// Find is what [localsched.Runner].FindByTag returns.
func (s *System[T]) Find(tag protocol.Tag) (localsched.Presence, localsched.LocalID) {
	if j := s.jobs[tag]; j != nil && !j.Withdrawn {
		return localsched.Present, j.ID()
	}
	return localsched.Absent, ""
}

// Withdraw takes a job out of the queue if it has not begun. A tag that never came is withdrawn
// too: until it is forgotten, a later Submit is refused.
func (s *System[T]) Withdraw(tag protocol.Tag) (localsched.Withdrawal, error) {
	j := s.jobs[tag]
	switch {
	case j == nil:
		return localsched.Withdrawn, s.withdrawUnknown(tag)
	case j.Withdrawn:
		return localsched.Withdrawn, nil
	case j.State != protocol.Pending:
		return localsched.Started, nil
	}
	return localsched.Withdrawn, s.Drop(j)
}

func (s *System[T]) withdrawUnknown(tag protocol.Tag) error {
	err := s.CancelReservation(tag)
	j := &Job[T]{State: protocol.Pending, Withdrawn: true, Queued: s.runner.Now()}
	s.seq++
	j.Tag, j.Seq = tag, s.seq
	s.jobs[tag] = j
	return err
}

// Drop withdraws a pending job, whether the engine has started it or not.
func (s *System[T]) Drop(j *Job[T]) error {
	j.Withdrawn = true
	if err := s.driver.Leave(s.runner.Now(), &j.Job); err != nil {
		return fmt.Errorf("withdraw %v: %w", j.Tag, err)
	}
	return s.carryOut()
}

// Kill ends a job that runs.
func (s *System[T]) Kill(tag protocol.Tag) error {
	j := s.jobs[tag]
	switch {
	case j == nil:
		return localsched.ErrUnknownJob
	case j.State == protocol.Running:
		return s.End(j, Killed())
	case j.pending():
		return localsched.ErrNotStarted
	}
	return nil
}

// Killed is how a job ends that is killed.
func Killed() protocol.Outcome {
	return protocol.Outcome{State: protocol.Cancelled, Signal: 15, Reason: "killed"}
}

// Forget drops a job that has ended or was withdrawn.
func (s *System[T]) Forget(tag protocol.Tag) error {
	j := s.jobs[tag]
	switch {
	case j == nil:
		return nil
	case j.pending() || j.State == protocol.Running:
		return fmt.Errorf("job %v: %w", tag, localsched.ErrNotEnded)
	}
	s.feed.Forget(&j.Reported)
	delete(s.jobs, tag)
	return nil
}

// Watched is what has changed after a cursor. Without news it returns false.
func (s *System[T]) Watched(after localsched.Cursor) (w localsched.Watched, moved bool, err error) {
	if w.Changes, w.Cursor, moved = s.feed.After(after); moved {
		w.Load, err = s.Load()
	}
	return w, moved, err
}

// CanReserve reports whether the system makes advance reservations.
func (s *System[T]) CanReserve() bool { return s.driver.CanReserve() }

// Reserve makes an advance reservation and returns its start. Repeating a tag changes nothing.
func (s *System[T]) Reserve(hold localsched.Reservation) (protocol.Instant, error) {
	if s.jobs[hold.Tag] != nil {
		return 0, &localsched.RefusedError{Reason: fmt.Sprintf("job %v has come already, or was withdrawn", hold.Tag)}
	}
	start, err := s.driver.Reserve(s.runner.Now(), hold)
	if err != nil {
		return 0, fmt.Errorf("make an advance reservation for %v: %w", hold.Tag, err)
	}
	return start, s.carryOut()
}

// CancelReservation gives an advance reservation up that no job has taken. There need not be one.
func (s *System[T]) CancelReservation(tag protocol.Tag) error {
	if s.jobs[tag] != nil {
		return nil
	}
	if err := s.driver.CancelReservation(s.runner.Now(), tag); err != nil {
		return fmt.Errorf("release the reservation for %v: %w", tag, err)
	}
	return s.carryOut()
}

// Reservations are the tags with an advance reservation that no job has taken.
func (s *System[T]) Reservations() []protocol.Tag { return s.driver.Reservations() }

// SetPriorities gives pending jobs other priorities.
func (s *System[T]) SetPriorities(priorities []localsched.Priority) error {
	s.driver.SetPriorities(s.runner.Now(), priorities)
	return s.carryOut()
}

// PlannedStarts says when pending jobs are planned to start, as [localsched.StartPlanner] wants it.
func (s *System[T]) PlannedStarts(tags []protocol.Tag) ([]localsched.PlannedStart, error) {
	starts, err := s.driver.PlannedStarts(s.runner.Now(), tags)
	return starts, fault(err)
}

// SetRules has other rules hold from here on.
func (s *System[T]) SetRules(rules driver.Rules) error {
	s.driver.SetRules(s.runner.Now(), rules)
	return s.carryOut()
}

// Wake is when the engine wants [System.Tick]; 0: there is no such time.
func (s *System[T]) Wake() protocol.Instant { return s.driver.Wake() }

// Tick starts the jobs whose time has come.
func (s *System[T]) Tick() error {
	if err := s.driver.Tick(s.runner.Now()); err != nil {
		return fault(err)
	}
	return s.carryOut()
}

// Begin enters that a job runs from now on.
func (s *System[T]) Begin(j *Job[T]) {
	j.State, j.Started = protocol.Running, s.runner.Now()
	s.report(j, localsched.Change{Tag: j.Tag, State: protocol.Running, Started: j.Started, TimeLimit: j.Limit})
}

// End enters that a running job has ended now. Where the outcome does not say how long it ran,
// that is since it began.
func (s *System[T]) End(j *Job[T], outcome protocol.Outcome) error {
	now := s.runner.Now()
	outcome.Waited, outcome.Ran = j.Started.Sub(j.Queued), cmp.Or(outcome.Ran, now.Sub(j.Started))
	s.setEnded(j, outcome)
	if err := s.driver.Leave(now, &j.Job); err != nil {
		return fault(err)
	}
	return s.carryOut()
}

func (s *System[T]) setEnded(j *Job[T], outcome protocol.Outcome) {
	j.State, j.Outcome = outcome.State, outcome
	s.report(j, localsched.Change{
		Tag: j.Tag, State: j.State, Reason: outcome.Reason, Started: j.Started, Outcome: outcome,
	})
}

func (s *System[T]) report(j *Job[T], change localsched.Change) {
	s.feed.Report(&j.Reported, change)
	s.runner.Changed(j, change)
}

// carryOut does what the driver wants.
func (s *System[T]) carryOut() error {
	work := s.driver.TakeWork()
	for _, tag := range work.Starts {
		j := s.jobs[tag]
		if j == nil || !j.pending() {
			return fault(fmt.Errorf("the engine starts job %v, which does not wait", tag))
		}
		if err := s.runner.Start(j); err != nil {
			return err
		}
	}
	for _, tag := range work.Kills {
		if err := s.runner.Limit(s.jobs[tag]); err != nil {
			return err
		}
	}
	return nil
}
