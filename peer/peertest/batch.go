package peertest

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/virtual"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Batch is a local scheduler in memory: the engine, and jobs that run as their
// scripts say. It is not part of its site's peer and lives on when that crashes.
type Batch struct {
	*virtual.System[scripted]

	machine engine.Machine
	clock   protocol.Instant
	running []*batchJob        // by start
	due     []*batchJob        // that the engine has started while nothing may start, in that order
	paused  bool               // nothing may start
	started func(protocol.Tag) // called for every start

	Most int // jobs that it has at once, more are refused; 0: any number
}

// scripted is what the harness knows of a job.
type scripted struct {
	localsched.Submission
	plan Plan
	end  protocol.Instant // once it runs
	late bool             // it started later than the engine knows, and has its whole time limit from then on
}

type batchJob = virtual.Job[scripted]

// NewBatch returns an idle scheduler. It calls started for every start.
func NewBatch(machine engine.Machine, started func(protocol.Tag)) *Batch {
	b := &Batch{machine: machine, started: started}
	b.System = virtual.New(machine, easy(), b.runner())
	return b
}

// easy are the rules of every site.
func easy() driver.Rules { return driver.Rules{Policy: engine.EASY()} }

func (b *Batch) runner() virtual.Runner[scripted] {
	return virtual.Runner[scripted]{
		Now: func() protocol.Instant { return b.clock }, Start: b.starts, Limit: b.limit, Changed: virtual.Unobserved[scripted],
	}
}

// Submit puts a job in the queue. Repeating a tag changes nothing.
func (b *Batch) Submit(s localsched.Submission) (localsched.LocalID, error) {
	detail := scripted{Submission: s}
	if b.Job(s.Tag) == nil {
		var err error
		if detail.plan, err = b.admit(s); err != nil {
			return "", err
		}
	}
	j, err := b.System.Submit(s.Tag, s.Spec.Request, detail)
	if err != nil {
		return "", err
	}
	return j.ID(), nil
}

// admit is what a new job does, unless it is refused.
func (b *Batch) admit(s localsched.Submission) (plan Plan, err error) {
	if plan, err = ParsePlan(s.Payload); err != nil {
		return plan, &localsched.RefusedError{Reason: err.Error()}
	}
	if plan.Refuse {
		return plan, &localsched.RefusedError{Reason: "its script asks to be refused"}
	}
	if open := b.unfinished(); b.Most > 0 && open >= b.Most {
		return plan, &localsched.RefusedError{Reason: "MaxSubmitJobs: it has " + protocol.Count(open, "job")}
	}
	return plan, nil
}

// unfinished counts the jobs that wait or run.
func (b *Batch) unfinished() (count int) {
	for _, j := range b.Jobs() {
		if !j.State.Terminal() && !j.Withdrawn {
			count++
		}
	}
	return count
}

// Withdraw takes a job out of the queue if it has not started.
func (b *Batch) Withdraw(tag protocol.Tag) (localsched.Withdrawal, error) {
	b.due = slices.DeleteFunc(b.due, func(j *batchJob) bool { return j.Tag == tag })
	return b.System.Withdraw(tag)
}

// Kill ends a job that runs.
func (b *Batch) Kill(tag protocol.Tag) error {
	if j := b.Job(tag); j != nil && j.State == protocol.Running {
		return b.end(j, virtual.Killed())
	}
	return b.System.Kill(tag)
}

// runs says whether the job runs now.
func (b *Batch) runs(tag protocol.Tag) bool {
	j := b.Job(tag)
	return j != nil && j.State == protocol.Running
}

// Kept are the tags that have not been forgotten, in the order of submission.
func (b *Batch) Kept() []protocol.Tag {
	var tags []protocol.Tag
	for _, j := range b.Jobs() {
		tags = append(tags, j.Tag)
	}
	return tags
}

// Held are the tags for which there is an advance reservation that no job has taken.
func (b *Batch) Held() []protocol.Tag { return b.Reservations() }

// Next is when something happens by itself; 0: nothing will.
func (b *Batch) Next() protocol.Instant {
	next := b.Wake()
	for _, j := range b.running {
		if next == 0 || j.Detail.end < next {
			next = j.Detail.end
		}
	}
	return next
}

// Advance lets the time pass: jobs end as their scripts say, or at their limit.
func (b *Batch) Advance(now protocol.Instant) {
	for next := b.Next(); next != 0 && next <= now; next = b.Next() {
		b.clock = max(b.clock, next)
		if i := slices.IndexFunc(b.running, func(j *batchJob) bool { return j.Detail.end <= next }); i >= 0 {
			b.mustNot(b.end(b.running[i], ending(b.running[i])))
			continue
		}
		b.mustNot(b.Tick())
	}
	b.clock = max(b.clock, now)
}

// mustNot ends a test in which the engine disagrees with its driver.
func (b *Batch) mustNot(err error) {
	if err != nil {
		panic(err)
	}
}

func (b *Batch) starts(j *batchJob) error {
	if b.paused {
		j.Detail.late = true
		b.due = append(b.due, j)
		return nil
	}
	return b.start(j)
}

func (b *Batch) start(j *batchJob) error {
	d := &j.Detail
	if d.StartBy != 0 && b.clock > d.StartBy {
		return b.Drop(j)
	}
	d.end = b.clock.Add(d.plan.Run)
	if d.late {
		d.end = b.clock.Add(min(d.plan.Run, d.Spec.WallTime))
	}
	b.running = append(b.running, j)
	b.started(j.Tag)
	b.Begin(j)
	return nil
}

// StageOutBytes is the size of each archive of files that go back.
const StageOutBytes = 100

// limit ends a job at its time limit.
func (b *Batch) limit(j *batchJob) error {
	if j.Detail.late {
		return nil
	}
	return b.end(j, overLimit())
}

func (b *Batch) end(j *batchJob, outcome protocol.Outcome) error {
	b.running = slices.DeleteFunc(b.running, func(other *batchJob) bool { return other == j })
	if j.Detail.Private() {
		outcome.Files = []protocol.File{{Stream: protocol.Stdout, Size: int64(len(j.Detail.Payload.Script))}}
		if j.Detail.Payload.Staging.ComesBack() {
			outcome.Files = append(outcome.Files, protocol.File{Stream: protocol.StageOutArchive, Size: StageOutBytes})
		}
	}
	return b.End(j, outcome)
}

func overLimit() protocol.Outcome {
	return protocol.Outcome{State: protocol.Timeout, Signal: 15, Reason: "over its time limit"}
}

// ending is how a job ends at its time.
func ending(j *batchJob) protocol.Outcome {
	if j.Detail.late && j.Detail.plan.Run > j.Detail.Spec.WallTime {
		return overLimit()
	}
	return j.Detail.plan.outcome()
}

// AllowStarts lets jobs of the queue start, or keeps them from it: they are planned and wait.
// Jobs that run go on.
func (b *Batch) AllowStarts(allowed bool) {
	b.paused = !allowed
	if !allowed {
		return
	}
	due := b.due
	b.due = nil
	for _, j := range due {
		b.mustNot(b.start(j))
	}
}

// spool is what a scheduler has on disk at some time.
type spool struct {
	virtual.Saved[scripted]

	machine engine.Machine
	clock   protocol.Instant
}

// kept is what the scheduler has on disk now.
func (b *Batch) kept() spool { return spool{Saved: b.Save(), machine: b.machine, clock: b.clock} }

// found is a scheduler that finds what another one had kept, and may start nothing yet: what
// waited does so in the same order, and what has ended is known. What ran has failed with its
// node, or, without failed, is not known.
func (k spool) found(started func(protocol.Tag), failed bool) *Batch {
	b := &Batch{machine: k.machine, clock: k.clock, paused: true, started: started}
	system, err := virtual.Open(k.machine, easy(), k.Saved, func(*batchJob) (outcome protocol.Outcome) {
		if failed {
			outcome = protocol.Outcome{State: protocol.NodeFail, Reason: "its machine was started again"}
		}
		return outcome
	}, b.runner())
	b.mustNot(err)
	b.System = system
	return b
}
