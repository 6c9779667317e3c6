package pluginhost_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// lax is a scheduler whose answers are well formed and make no sense together.
type lax struct{ memory }

func (*lax) Load(context.Context) (protocol.Load, error) {
	return protocol.Load{CPUs: 64, Busy: 65}, nil
}

func (*lax) Submit(context.Context, localsched.Submission) (localsched.LocalID, error) {
	return "", nil
}

// Watch has one change to tell, and then neither news nor a cursor.
func (*lax) Watch(_ context.Context, after localsched.Cursor) (localsched.Watched, error) {
	switch after {
	case "":
		return localsched.Watched{Cursor: "x", Changes: []localsched.Change{{Tag: tagOf(1), State: protocol.Running}}}, nil
	case "busy":
		return localsched.Watched{Cursor: "x", Load: protocol.Load{CPUs: 1, Busy: 2}}, nil
	case "withheld":
		return localsched.Watched{Cursor: "x", Load: protocol.Load{CPUs: 3, Busy: 2, PowerIdledCPUs: 2}}, nil
	}
	return localsched.Watched{}, nil
}

// laxPlugin is lax as a plugin, with a lax engine.
func laxPlugin() sdk.Plugin {
	return sdk.Scheduler[memoryConfig]{
		Name: "lax", Version: "1.0.0",
		Make: func(memoryConfig, sdk.Host) (localsched.Scheduler, error) { return &lax{}, nil },
		Engine: func(_ memoryConfig, capacity protocol.Capacity) (localsched.Engine, error) {
			return &laxEngine{Engine: engine.New(engine.PerCPU(capacity), engine.EASY()).Fallible()}, nil
		},
	}
}

func TestLaxScheduler(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "lax")
	spec.Kind = pluginhost.SchedulerKind
	plugin := up(t, spec).Scheduler()
	for name, s := range map[string]localsched.Scheduler{"plugin lax (": plugin, "local scheduler: ": pluginhost.CheckedScheduler(&lax{})} {
		_, err := s.Load(t.Context())
		wants(t, err, name, "Load: ", "load: busy: is 65, but the machine has 64 CPUs")
		_, err = s.Submit(t.Context(), submission(good))
		wants(t, err, name, "Submit: ", "local_id: is missing")
		_, err = s.Watch(t.Context(), "busy")
		wants(t, err, name, "Watch: ", "load: busy: is 2, but")
		_, err = s.Watch(t.Context(), "withheld")
		wants(t, err, name, "Watch: ", "load: power_idled_cpus: is 2, but 1 CPUs are idle")
	}
	watched, err := pluginhost.CheckedScheduler(&lax{}).Watch(t.Context(), "x")
	if err != nil || watched.Cursor != "x" {
		t.Errorf("without a cursor: %+v, %v", watched, err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second) // longer than one poll and the pause after it
	defer cancel()
	if watched, err = plugin.Watch(short, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a cursor it begins again: %+v, %v", watched, err)
	}
}

// What is wrong with the answers of a laxEngine: the numbers of jobs.
const (
	startsStranger = iota + 1
	startsTwice
	killsStranger
	killsQueued
	killsTwice
	killsEnded
	startsWithdrawn
	wakesBefore
	wakesLate
	overfull
	plansBefore
)

// laxEngine is an engine that is wrong in the way of the job that was submitted last.
type laxEngine struct {
	localsched.Engine
	job localsched.Queued
}

func (e *laxEngine) Submit(now protocol.Instant, job localsched.Queued) (localsched.Actions, error) {
	e.job = job
	actions, err := e.Engine.Submit(now, job)
	switch job.Tag.Job.Seq() {
	case startsStranger:
		actions.Starts = append(actions.Starts, tagOf(99))
	case startsTwice:
		actions.Starts = append(actions.Starts, actions.Starts...)
	case killsStranger:
		actions.Kills = append(actions.Kills, tagOf(99))
	case killsQueued, startsWithdrawn:
		actions.Starts = nil
	case wakesBefore:
		actions.Wake = now - 1
	}
	if job.Tag.Job.Seq() == killsQueued {
		actions.Kills = append(actions.Kills, job.Tag)
	}
	return actions, err
}

func (e *laxEngine) Tick(now protocol.Instant) (localsched.Actions, error) {
	actions, err := e.Engine.Tick(now)
	switch e.job.Tag.Job.Seq() {
	case killsTwice:
		actions.Kills = []protocol.Tag{e.job.Tag}
	case wakesLate:
		actions.Wake = now - 1
	}
	return actions, err
}

func (e *laxEngine) Finished(now protocol.Instant, tag protocol.Tag) (localsched.Actions, error) {
	actions, err := e.Engine.Finished(now, tag)
	if e.job.Tag.Job.Seq() == killsEnded {
		actions.Kills = append(actions.Kills, tag)
	}
	return actions, err
}

func (e *laxEngine) Withdraw(_ protocol.Instant, tag protocol.Tag) (localsched.Actions, error) {
	return localsched.Actions{Starts: []protocol.Tag{tag}}, nil
}

func (e *laxEngine) Plan(now protocol.Instant, ahead, jobs []protocol.Request) ([]localsched.Planned, error) {
	if e.job.Tag.Job.Seq() == plansBefore {
		return []localsched.Planned{{Start: now - 1}}, nil
	}
	return e.Engine.Plan(now, ahead, jobs)
}

func (e *laxEngine) Load() (protocol.Load, error) {
	load, err := e.Engine.Load()
	if e.job.Tag.Job.Seq() == overfull {
		load.Busy = load.CPUs + 1
	}
	return load, err
}

// A host that is late with a Tick gets the same wake time again, which is correct.
func TestLateTick(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "memory")
	spec.Kind, spec.Host.Site = pluginhost.SchedulerKind, ""
	e, err := up(t, spec).Engine(protocol.Capacity{CPUs: 8, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, limit := range []protocol.Duration{10, 500} {
		tag := tagOf(uint64(1 + i))
		job := localsched.Queued{Tag: tag, Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: limit}}
		if actions, err := e.Submit(protocol.Instant(100+i*100), job); err != nil || actions.Wake != 110 {
			t.Errorf("%+v, %v", actions, err)
		}
	}
	if actions, err := e.Tick(300); err != nil || len(actions.Kills) != 1 || actions.Wake != 700 {
		t.Errorf("%+v, %v", actions, err)
	}
}

// An engine that says what cannot be is wrong, and the error names it.
func TestLaxEngine(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "lax")
	spec.Kind, spec.Host.Site, spec.Timing.Faults = pluginhost.SchedulerKind, "", 1000
	plugin := up(t, spec)
	const now = protocol.Instant(5000)
	tick := func(e localsched.Engine, _ protocol.Tag) error { _, err := e.Tick(now + 1); return err }
	tests := []struct {
		job  uint64
		then func(localsched.Engine, protocol.Tag) error // after a good Submit; nil: that is wrong
		want string
	}{
		{startsStranger, nil, "Engine.Submit: invalid response: starts[1]: job 1000000000099:1 is not in the queue"},
		{startsTwice, nil, "starts[1]: job "},
		{killsStranger, nil, "kills[0]: job "},
		{killsQueued, nil, "kills[0]: job "},
		{killsTwice, func(e localsched.Engine, tag protocol.Tag) error {
			return errors.Join(tick(e, tag), tick(e, tag))
		}, "Engine.Tick: invalid response: kills[0]: job "},
		{killsEnded, func(e localsched.Engine, tag protocol.Tag) error { _, err := e.Finished(now, tag); return err }, "kills[0]: job "},
		{startsWithdrawn, func(e localsched.Engine, tag protocol.Tag) error { _, err := e.Withdraw(now, tag); return err }, "starts[0]: job "},
		{wakesBefore, nil, "wake: 4999 is before now, 5000"},
		{wakesLate, tick, "Engine.Tick: invalid response: wake: 5000 is before now, 5001"},
		{overfull, nil, "load: busy: is 9, but the machine has 8 CPUs"},
		{plansBefore, func(e localsched.Engine, _ protocol.Tag) error {
			_, err := e.Plan(now-3, nil, []protocol.Request{{Job: 7, CPUs: 1, WallTime: protocol.Hour}})
			return err
		}, "Engine.Plan: invalid response: start[0]: 4996 is before now, 5000"},
	}
	for _, tt := range tests {
		e, err := plugin.Engine(protocol.Capacity{CPUs: 8, Nodes: 1})
		if err != nil {
			t.Fatal(err)
		}
		tag := tagOf(tt.job)
		_, err = e.Submit(now, localsched.Queued{Tag: tag, Request: protocol.Request{Job: tag.Job, CPUs: 2, WallTime: protocol.Hour}})
		if tt.then != nil {
			if err != nil {
				t.Errorf("job %v: %v", tag, err)
			}
			err = tt.then(e, tag)
		}
		wants(t, err, "plugin lax (", tt.want)
	}
}
