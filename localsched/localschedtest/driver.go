package localschedtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// driver drives an engine as the simulator does, and checks every answer against
// its own account of what waits and runs.
type driver struct {
	ctx      context.Context //nolint:containedctx // a driver lives as long as its case
	engine   localsched.Engine
	capacity protocol.Capacity
	now      protocol.Instant
	wake     protocol.Instant // the engine's
	idle     int              // ticks without a change of the time
	jobs     map[protocol.Tag]*driven
	running  []*driven // in the order of their starts
	queued   int
	log      []string // what was started and ended, and when
}

// driven is a job as the driver knows it.
type driven struct {
	localsched.Queued
	run     protocol.Duration // how long it runs if it is not killed
	started protocol.Instant
	phase   phase
	killed  bool
}

type phase uint8

const (
	waits phase = iota
	runs
	over // ended or withdrawn
)

// limit is when the job must be ended.
func (j *driven) limit() protocol.Instant { return j.started.Add(j.WallTime) }

// end is when the job ends by itself.
func (j *driven) end() protocol.Instant { return j.started.Add(j.run) }

// firstNow is when the drivers' time begins.
const firstNow protocol.Instant = 1000

func newDriver(ctx context.Context, engine localsched.Engine, capacity protocol.Capacity) *driver {
	return &driver{ctx: ctx, engine: engine, capacity: capacity, now: firstNow, jobs: map[protocol.Tag]*driven{}}
}

// tagOf is the tag of the n-th job of a case.
func tagOf(n int) protocol.Tag {
	return protocol.Tag{Job: protocol.NewJobID(1, uint64(max(0, n))), Epoch: 1}
}

// submit submits a job that fits and runs for so long.
func (d *driver) submit(n int, request protocol.Request, run protocol.Duration) error {
	tag := tagOf(n)
	request.Job = tag.Job
	job := &driven{Queued: localsched.Queued{Request: request, Tag: tag}, run: run}
	d.jobs[tag] = job
	d.queued++
	actions, err := d.engine.Submit(d.now, job.Queued)
	if err != nil {
		return fmt.Errorf("submit a job of %d CPUs: %w", request.CPUs, err)
	}
	return d.apply(actions)
}

// withdraw withdraws a job that waits.
func (d *driver) withdraw(tag protocol.Tag) error {
	actions, err := d.engine.Withdraw(d.now, tag)
	if err != nil {
		return fmt.Errorf("withdraw job %v, which waits: %w", tag, err)
	}
	d.jobs[tag].phase = over
	d.queued--
	d.note("withdrawn", tag)
	return d.apply(actions)
}

func (d *driver) note(what string, tag protocol.Tag) {
	d.log = append(d.log, fmt.Sprintf("%d: job %v %s", d.now, tag, what))
}

// apply carries out what the engine wants.
func (d *driver) apply(actions localsched.Actions) error {
	d.wake = actions.Wake
	for _, tag := range actions.Starts {
		if err := d.start(tag); err != nil {
			return err
		}
	}
	for _, tag := range actions.Kills {
		if err := d.kill(tag); err != nil {
			return err
		}
	}
	return d.check()
}

func (d *driver) start(tag protocol.Tag) error {
	job := d.jobs[tag]
	if job == nil || job.phase != waits {
		return fmt.Errorf("at %d job %v is started, which does not wait", d.now, tag)
	}
	job.phase, job.started = runs, d.now
	d.running = append(d.running, job)
	d.queued--
	d.note("started", tag)
	return nil
}

func (d *driver) kill(tag protocol.Tag) error {
	job := d.jobs[tag]
	switch {
	case job == nil || job.phase != runs:
		return fmt.Errorf("at %d job %v is to be ended, which does not run", d.now, tag)
	case job.killed:
		return fmt.Errorf("at %d job %v is to be ended a second time", d.now, tag)
	case d.now < job.limit():
		return fmt.Errorf("at %d job %v is to be ended, before its limit at %d", d.now, tag, job.limit())
	}
	job.killed = true
	d.note("killed", tag)
	return nil
}

// finish reports the end of a job.
func (d *driver) finish(job *driven) error {
	job.phase = over
	d.running = slices.DeleteFunc(d.running, func(o *driven) bool { return o == job })
	d.note("ended", job.Tag)
	actions, err := d.engine.Finished(d.now, job.Tag)
	if err != nil {
		return fmt.Errorf("report the end of job %v, which runs: %w", job.Tag, err)
	}
	return d.apply(actions)
}

// check compares the machine with what may run on it and with what the engine says
// of it.
func (d *driver) check() error {
	busy := 0
	for _, job := range d.running {
		busy += job.CPUs
		if !job.killed && (d.wake == 0 || d.wake > job.limit()) {
			return fmt.Errorf("at %d the engine wants to wake at %d, after the limit of job %v at %d", d.now, d.wake, job.Tag, job.limit())
		}
	}
	if busy > d.capacity.CPUs {
		return fmt.Errorf("at %d %d CPUs run jobs, of %d", d.now, busy, d.capacity.CPUs)
	}
	if d.capacity.WholeNode && len(d.running) > d.capacity.Nodes {
		return fmt.Errorf("at %d %d nodes run %d jobs, though one at a time", d.now, d.capacity.Nodes, len(d.running))
	}
	load, err := d.engine.Load()
	switch {
	case err != nil:
		return fmt.Errorf("load: %w", err)
	case load.CPUs != d.capacity.CPUs || load.Busy < busy || load.Busy > load.CPUs || load.QueuedJobs != d.queued || load.QueuedWork < 0:
		return fmt.Errorf("at %d the load is %+v; %d of %d CPUs were asked for by what runs, %d jobs wait",
			d.now, load, busy, d.capacity.CPUs, d.queued)
	}
	return nil
}
