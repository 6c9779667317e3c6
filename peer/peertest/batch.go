package peertest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Batch is a local scheduler in memory: the engine, and jobs that run as their
// scripts say. It is not part of its site's peer and lives on when that crashes.
type Batch struct {
	machine engine.Machine
	engine  *engine.Engine
	clock   protocol.Instant
	jobs    map[protocol.Tag]*batchJob
	running []*batchJob // by start
	due     []*batchJob // that the engine has started while nothing may start, in that order
	paused  bool        // nothing may start
	changes []localsched.Change
	wake    protocol.Instant
	locals  int
	held    map[protocol.Tag]bool
	started func(protocol.Tag) // told of every start

	Most int // jobs that it has at once, more are refused; 0: any number
}

type batchJob struct {
	localsched.Submission
	order     int // of its submission
	local     localsched.LocalID
	plan      Plan
	state     protocol.State
	started   protocol.Instant
	end       protocol.Instant
	withdrawn bool
	late      bool // it started later than the engine knows, and has its whole time limit from then on
}

func (j *batchJob) queued() localsched.Queued {
	return localsched.Queued{Request: j.Spec.Request, Tag: j.Tag}
}

// NewBatch returns an idle scheduler. Started is told of every start.
func NewBatch(machine engine.Machine, started func(protocol.Tag)) *Batch {
	return &Batch{
		machine: machine,
		engine:  engine.New(machine, engine.EASY()),
		jobs:    map[protocol.Tag]*batchJob{},
		held:    map[protocol.Tag]bool{},
		started: started,
	}
}

// Load is how busy the machine is.
func (b *Batch) Load() protocol.Load { return b.engine.Load() }

// Quote answers each job alone, as [localsched.Planner] wants it. What was ahead
// when the peer asked may have come meanwhile; it is not counted twice.
func (b *Batch) Quote(query localsched.Query) []protocol.Quote {
	var ahead []protocol.Request
	for _, one := range query.Ahead {
		if _, ok := b.jobs[one.Tag]; !ok && !b.held[one.Tag] {
			ahead = append(ahead, one.Request)
		}
	}
	quotes := make([]protocol.Quote, len(query.Jobs))
	for i, planned := range b.engine.Plan(b.clock, ahead, query.Jobs) {
		q := protocol.Quote{Job: query.Jobs[i].Job, Declined: planned.Declined}
		if q.Declined == "" {
			q.AWT, q.ERT = planned.Start.Sub(b.clock), query.Jobs[i].WallTime
		}
		quotes[i] = q
	}
	b.tellDelays(query, ahead, quotes)
	return quotes
}

// tellDelays says in the quotes whom the jobs would delay, when that is asked.
func (b *Batch) tellDelays(query localsched.Query, ahead []protocol.Request, quotes []protocol.Quote) {
	if query.Guard == 0 {
		return
	}
	for i, delay := range b.engine.Delays(b.clock, ahead, query.Jobs, query.Guard) {
		if quotes[i].Declined == "" {
			quotes[i].Delay = delay
		}
	}
}

// Submit puts a job in the queue. Repeating a tag changes nothing.
func (b *Batch) Submit(s localsched.Submission) (localsched.LocalID, error) {
	switch j := b.jobs[s.Tag]; {
	case j == nil:
	case j.withdrawn:
		return "", &localsched.RefusedError{Reason: fmt.Sprintf("job %v was withdrawn", s.Tag)}
	default:
		return j.local, nil
	}
	plan, err := ParsePlan(s.Payload)
	if err != nil {
		return "", &localsched.RefusedError{Reason: err.Error()}
	}
	if plan.Refuse {
		return "", &localsched.RefusedError{Reason: "its script asks to be refused"}
	}
	if open := b.unfinished(); b.Most > 0 && open >= b.Most {
		return "", &localsched.RefusedError{Reason: "MaxSubmitJobs: it has " + protocol.Count(open, "job")}
	}
	b.locals++
	j := &batchJob{
		Submission: s, order: b.locals, local: localsched.LocalID(strconv.Itoa(b.locals)), plan: plan, state: protocol.Pending,
	}
	b.jobs[s.Tag] = j
	actions, err := b.engine.Submit(b.clock, j.queued())
	if err != nil {
		delete(b.jobs, s.Tag)
		return "", fmt.Errorf("submit %v: %w", s.Tag, err)
	}
	delete(b.held, s.Tag)
	b.change(j, protocol.Outcome{})
	b.carryOut(actions)
	return j.local, nil
}

// unfinished counts the jobs that wait or run.
func (b *Batch) unfinished() (count int) {
	for _, j := range b.jobs {
		if !j.state.Terminal() && !j.withdrawn {
			count++
		}
	}
	return count
}

// Find says whether the tag is known, and was not withdrawn.
func (b *Batch) Find(tag protocol.Tag) (localsched.Presence, localsched.LocalID) {
	if j := b.jobs[tag]; j != nil && !j.withdrawn {
		return localsched.Present, j.local
	}
	return localsched.Absent, ""
}

// Withdraw takes a job out of the queue if it has not started.
func (b *Batch) Withdraw(tag protocol.Tag) (localsched.Withdrawal, error) {
	j := b.jobs[tag]
	switch {
	case j == nil:
		return 0, localsched.ErrUnknownJob
	case j.withdrawn:
		return localsched.Withdrawn, nil
	case j.state != protocol.Pending:
		return localsched.Started, nil
	}
	leave := b.engine.Withdraw
	if slices.Contains(b.due, j) { // to the engine it runs
		leave = b.engine.Finished
	}
	actions, err := leave(b.clock, tag)
	if err != nil {
		return 0, fmt.Errorf("withdraw %v: %w", tag, err)
	}
	j.withdrawn = true
	b.due = slices.DeleteFunc(b.due, func(other *batchJob) bool { return other == j })
	b.carryOut(actions)
	return localsched.Withdrawn, nil
}

// Kill ends a job that runs.
func (b *Batch) Kill(tag protocol.Tag) error {
	j := b.jobs[tag]
	switch {
	case j == nil:
		return localsched.ErrUnknownJob
	case j.state == protocol.Running:
		b.finish(j, protocol.Outcome{State: protocol.Cancelled, Signal: 15, Reason: "killed"})
	case j.state == protocol.Pending && !j.withdrawn:
		return errors.New("the job has not started")
	}
	return nil
}

// Changes is what happened after the cursor; ok is false when nothing has.
func (b *Batch) Changes(after localsched.Cursor) (w localsched.Watched, ok bool) {
	from, err := strconv.Atoi(cmp.Or(string(after), "0"))
	if err != nil || from < 0 || from >= len(b.changes) {
		return w, false
	}
	return localsched.Watched{
		Changes: slices.Clone(b.changes[from:]),
		Cursor:  localsched.Cursor(strconv.Itoa(len(b.changes))),
		Load:    b.Load(),
	}, true
}

// Forget drops a job that has ended or was withdrawn.
func (b *Batch) Forget(tag protocol.Tag) error {
	j := b.jobs[tag]
	if j == nil {
		return nil
	}
	if !j.state.Terminal() && !j.withdrawn {
		return fmt.Errorf("job %v has not ended", tag)
	}
	delete(b.jobs, tag)
	return nil
}

// runs says whether the job runs now.
func (b *Batch) runs(tag protocol.Tag) bool {
	j := b.jobs[tag]
	return j != nil && j.state == protocol.Running
}

// Kept are the tags that have not been forgotten, in order.
func (b *Batch) Kept() []protocol.Tag {
	var tags []protocol.Tag
	for tag := range b.jobs {
		tags = append(tags, tag)
	}
	slices.SortFunc(tags, compareTags)
	return tags
}

func compareTags(x, y protocol.Tag) int {
	return cmp.Or(cmp.Compare(x.Job, y.Job), cmp.Compare(x.Epoch, y.Epoch))
}

// Next is when something happens by itself; 0: nothing will.
func (b *Batch) Next() protocol.Instant {
	next := b.wake
	for _, j := range b.running {
		if next == 0 || j.end < next {
			next = j.end
		}
	}
	return next
}

// Advance lets the time pass: jobs end as their scripts say, or at their limit.
func (b *Batch) Advance(now protocol.Instant) {
	for next := b.Next(); next != 0 && next <= now; next = b.Next() {
		b.clock = max(b.clock, next)
		if i := slices.IndexFunc(b.running, func(j *batchJob) bool { return j.end <= next }); i >= 0 {
			b.finish(b.running[i], b.running[i].ending())
			continue
		}
		b.carryOut(b.engine.Tick(next))
	}
	b.clock = max(b.clock, now)
}

func (b *Batch) carryOut(actions localsched.Actions) {
	b.wake = actions.Wake
	for _, tag := range actions.Starts {
		if j := b.jobs[tag]; b.paused {
			j.late = true
			b.due = append(b.due, j)
		} else {
			b.start(j)
		}
	}
	for _, tag := range actions.Kills {
		if j := b.jobs[tag]; !j.late {
			b.finish(j, overLimit())
		}
	}
}

func overLimit() protocol.Outcome {
	return protocol.Outcome{State: protocol.Timeout, Signal: 15, Reason: "over its time limit"}
}

func (b *Batch) start(j *batchJob) {
	if j.StartBy != 0 && b.clock > j.StartBy {
		j.withdrawn = true
		if actions, err := b.engine.Finished(b.clock, j.Tag); err == nil {
			b.carryOut(actions)
		}
		return
	}
	j.state, j.started, j.end = protocol.Running, b.clock, b.clock.Add(j.plan.Run)
	if j.late {
		j.end = b.clock.Add(min(j.plan.Run, j.Spec.WallTime))
	}
	b.running = append(b.running, j)
	b.started(j.Tag)
	b.change(j, protocol.Outcome{})
}

// ending is how a job ends at its time.
func (j *batchJob) ending() protocol.Outcome {
	if j.late && j.plan.Run > j.Spec.WallTime {
		return overLimit()
	}
	return j.plan.outcome()
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
		b.start(j)
	}
}

// kept is what the scheduler has on disk now. It cannot be used as one.
func (b *Batch) kept() *Batch {
	k := &Batch{
		machine: b.machine, clock: b.clock, locals: b.locals, changes: slices.Clone(b.changes), jobs: map[protocol.Tag]*batchJob{},
	}
	for tag, of := range b.jobs {
		j := *of
		k.jobs[tag] = &j
	}
	return k
}

// found is a scheduler that finds what another one had kept, and may start nothing yet: what
// waited does so in the same order, and what has ended is known. What ran has failed with its
// node, or, without failed, is not known.
func (b *Batch) found(started func(protocol.Tag), failed bool) *Batch {
	c := NewBatch(b.machine, started)
	c.paused, c.clock, c.locals, c.changes = true, b.clock, b.locals, slices.Clone(b.changes)
	all := slices.SortedFunc(maps.Values(b.jobs), func(x, y *batchJob) int { return cmp.Compare(x.order, y.order) })
	for _, of := range all {
		j := *of
		j.late = false
		c.jobs[j.Tag] = &j
		switch {
		case j.state == protocol.Running && failed:
			j.state = protocol.NodeFail
			c.change(&j, protocol.Outcome{State: protocol.NodeFail, Reason: "its machine was started again"})
		case j.state == protocol.Running:
			delete(c.jobs, j.Tag)
		case j.state == protocol.Pending && !j.withdrawn:
			if actions, err := c.engine.Submit(c.clock, j.queued()); err == nil { // it was taken before
				c.carryOut(actions)
			}
		}
	}
	return c
}

func (b *Batch) finish(j *batchJob, outcome protocol.Outcome) {
	outcome.Ran = b.clock.Sub(j.started)
	if j.Guest {
		outcome.Files = []protocol.File{{Stream: protocol.Stdout, Size: int64(len(j.Payload.Script))}}
	}
	j.state = outcome.State
	b.running = slices.DeleteFunc(b.running, func(other *batchJob) bool { return other == j })
	b.change(j, outcome)
	actions, err := b.engine.Finished(b.clock, j.Tag)
	if err == nil {
		b.carryOut(actions)
	}
}

func (b *Batch) change(j *batchJob, outcome protocol.Outcome) {
	b.changes = append(b.changes, localsched.Change{
		Tag: j.Tag, State: j.state, Started: j.started, Outcome: outcome, Reason: outcome.Reason,
	})
}

// Reserve holds room for a placement. Repeating a tag changes nothing.
func (b *Batch) Reserve(hold localsched.Hold) (protocol.Instant, error) {
	start, actions, err := b.engine.Hold(b.clock, hold, false)
	if err != nil {
		return 0, fmt.Errorf("hold room for %v: %w", hold.Tag, err)
	}
	b.held[hold.Tag] = true
	b.carryOut(actions)
	return start, nil
}

// Release gives room up that no job has taken.
func (b *Batch) Release(tag protocol.Tag) error {
	delete(b.held, tag)
	b.carryOut(b.engine.Drop(b.clock, tag))
	return nil
}

// Held are the tags for which room is held that no job has taken or given up.
func (b *Batch) Held() []protocol.Tag {
	return slices.SortedFunc(maps.Keys(b.held), compareTags)
}
