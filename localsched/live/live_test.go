package live_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/live"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// rig is a driver of four CPUs under the test's clock.
type rig struct {
	*live.Driver

	clock wallclock.Reading
	log   bytes.Buffer
	work  driver.Work
}

func newRig() *rig {
	r := &rig{clock: wallclock.Reading{Wall: 1_000_000, Steady: 5000}}
	r.Driver = live.New(func() wallclock.Reading { return r.clock }, slog.New(slog.NewTextHandler(&r.log, nil)), live.Runner{
		CarryOut: func(w driver.Work) {
			r.work.Starts = append(r.work.Starts, w.Starts...)
			r.work.Kills = append(r.work.Kills, w.Kills...)
		},
		Advice: live.Advice{Running: "advice for running jobs", Pending: "advice for pending jobs"},
	})
	return r
}

func (r *rig) begin() {
	r.Begin(engine.Of(protocol.Capacity{CPUs: 4, Nodes: 1}), driver.Rules{Policy: engine.EASY()}, changefeed.New(1))
}

func (r *rig) pass(d protocol.Duration) {
	r.clock.Wall, r.clock.Steady = r.clock.Wall.Add(d), r.clock.Steady+d
}

func job(n uint64, cpus int) *driver.Job {
	j := &driver.Job{Seq: n}
	j.Tag = protocol.Tag{Job: protocol.NewJobID(1, n), Epoch: 1}
	j.Request = protocol.Request{CPUs: cpus, WallTime: protocol.Minute}
	return j
}

// TestClock sets the clock before there is an engine, and while a job runs.
func TestClock(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.clock.Wall = r.clock.Wall.Add(protocol.Hour)
	if now := r.Now(); now != r.clock.Wall {
		t.Errorf("it is %d, want %d", now, r.clock.Wall)
	}
	r.begin()
	j := job(1, 4)
	r.Done(r.Submit(r.Now(), j))
	r.clock.Wall = r.clock.Wall.Add(-protocol.Hour)
	if now := r.Now(); now != r.clock.Wall || j.Began != now {
		t.Errorf("it is %d and the job began at %d, want %d", now, j.Began, r.clock.Wall)
	}
	if text := r.log.String(); strings.Count(text, "planned_again") != 1 {
		t.Errorf("got the log %q, want one new plan", text)
	}
}

// TestStep makes steps before and at the time limit of a job.
func TestStep(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.begin()
	r.Done(r.Submit(r.Now(), job(1, 4)))
	if next := r.Step(); next != 5*time.Second || len(r.work.Starts) != 1 || len(r.work.Kills) != 0 {
		t.Errorf("the next step is after %v, after the work %+v, want 5s, for the clock", next, r.work)
	}
	r.pass(protocol.Minute - protocol.Second)
	if next := r.Step(); next != time.Second || len(r.work.Kills) != 0 {
		t.Errorf("the next step is after %v, after the kills %v, want 1s, for the limit", next, r.work.Kills)
	}
	r.pass(protocol.Second)
	if next := r.Step(); next <= 0 || len(r.work.Kills) != 1 {
		t.Errorf("the next step is after %v, after the kills %v, want one of the job", next, r.work.Kills)
	}
}

// TestFailure has an engine fail.
func TestFailure(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.begin()
	r.Done(errors.New("defect"))
	if text := r.log.String(); !strings.Contains(text, "engine_state_mismatch") || !strings.Contains(text, "error=defect") {
		t.Errorf("got the log %q, want the defect as an engine_state_mismatch", text)
	}
}

// TestMisfits logs a pending job that an engine has no place for, and each kind of misfit.
func TestMisfits(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.begin()
	r.Add(job(1, 5), false)
	r.Rebuilt(r.Rebuild(r.Now(), nil))
	tag, reason := job(2, 1).Tag, errors.New("too large")
	r.Rebuilt([]driver.Misfit{
		{Tag: tag, Err: reason},
		{Tag: tag, Err: reason, Running: true},
		{Tag: tag, Err: reason, Reserved: true},
	})
	lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
	about := "job=" + tag.String() + ` error="too large" advice=`
	want := []string{
		"level=WARN msg=queued_job_not_planned job=" + job(1, 5).Tag.String() + " error=",
		"level=WARN msg=queued_job_not_planned " + about + `"advice for pending jobs"`,
		"level=WARN msg=running_job_not_planned " + about + `"advice for running jobs"`,
		"level=ERROR msg=reservation_restore_failed " + about + `"the job may not start together`,
	}
	if len(lines) != len(want) {
		t.Fatalf("got the log %q, want %d lines", lines, len(want))
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("got the line %q, want %q in it", line, want[i])
		}
	}
}

// TestRun counts the steps of a loop: one at its beginning, and one after each wake.
func TestRun(t *testing.T) {
	t.Parallel()
	r := newRig()
	ctx, stop := context.WithCancel(t.Context())
	steps := 0
	r.Run(ctx, func() time.Duration {
		if steps++; steps == 3 {
			stop()
		} else {
			r.Wake()
			r.Wake()
		}
		return time.Hour
	})
	if steps != 3 {
		t.Errorf("there were %d steps, want 3", steps)
	}
}
