package engine_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(4), engine.EASY())
	for _, j := range []localsched.Queued{job(1, 4, 10), job(2, 4, 10)} {
		if _, err := e.Submit(5, j); err != nil {
			t.Fatal(err)
		}
	}
	before := e.Load()
	refusals := []localsched.Queued{job(9, 5, 10), job(9, 1, 0), job(9, 1, -1)}
	for _, j := range refusals {
		_, err := e.Submit(6, j)
		if refused, ok := errors.AsType[*localsched.RefusedError](err); !ok || refused.Reason == "" {
			t.Errorf("submit %+v: %v", j.Request, err)
		}
		planned := e.Plan(6, []protocol.Request{j.Request}, []protocol.Request{j.Request})
		if planned[0].Declined == "" {
			t.Errorf("plan %+v: %v", j.Request, planned)
		}
	}
	for _, c := range []struct {
		name string
		call func() error
		want error
	}{
		{"submit what runs", func() error { _, err := e.Submit(6, job(1, 1, 1)); return err }, localsched.ErrDuplicate},
		{"submit what waits", func() error { _, err := e.Submit(6, job(2, 1, 1)); return err }, localsched.ErrDuplicate},
		{"restore what runs", func() error { return e.Restore(job(1, 1, 1), 0) }, localsched.ErrDuplicate},
		{"restore without room", func() error { return e.Restore(job(3, 1, 1), 0) }, engine.ErrNoFreeUnits},
		{"withdraw what runs", func() error { _, err := e.Withdraw(6, tag(1)); return err }, localsched.ErrStarted},
		{"withdraw nothing", func() error { _, err := e.Withdraw(6, tag(3)); return err }, localsched.ErrUnknownJob},
		{"finish what waits", func() error { _, err := e.Finished(6, tag(2)); return err }, localsched.ErrUnknownJob},
		{"finish nothing", func() error { _, err := e.Finished(6, tag(3)); return err }, localsched.ErrUnknownJob},
	} {
		if err := c.call(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if after := e.Load(); after != before {
		t.Errorf("errors changed the load from %+v to %+v", before, after)
	}
}

func TestTick(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(4), engine.EASY())
	mustSubmit(t, e, 10, job(1, 1, 30)) // until 40
	mustSubmit(t, e, 10, job(2, 1, 20)) // until 30
	a := mustSubmit(t, e, 10, job(3, 1, protocol.Never))
	if a.Wake != 30 {
		t.Errorf("wake at %d, want 30", a.Wake)
	}
	for _, c := range []struct {
		now   protocol.Instant
		kills []protocol.Tag
		wake  protocol.Instant
	}{
		{29, nil, 30},
		{30, []protocol.Tag{tag(2)}, 40},
		{31, nil, 40},
		{50, []protocol.Tag{tag(1)}, 0},
		{50, nil, 0},
	} {
		got := e.Tick(c.now)
		if !slices.Equal(got.Kills, c.kills) || got.Wake != c.wake || len(got.Starts) > 0 {
			t.Errorf("tick %d: %+v, want kills %v and wake %d", c.now, got, c.kills, c.wake)
		}
	}
	if busy := e.Load().Busy; busy != 3 {
		t.Errorf("%d CPUs busy before killed jobs have ended, want 3", busy)
	}
}

// TestRestore: jobs that run keep their ends, one that is past its limit is
// killed, and what was queued starts by a pass of its own submission.
func TestRestore(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(4), engine.EASY())
	for i, started := range []protocol.Instant{100, 200} {
		if err := e.Restore(job(i, 2, 150), started); err != nil {
			t.Fatal(err)
		}
	}
	if a := mustSubmit(t, e, 300, job(5, 1, 10)); len(a.Starts) > 0 || a.Wake != 250 {
		t.Errorf("a full machine gave %+v", a)
	}
	if a := e.Tick(300); !slices.Equal(a.Kills, []protocol.Tag{tag(0)}) || a.Wake != 350 {
		t.Errorf("tick: %+v", a)
	}
	a, err := e.Finished(301, tag(0))
	if err != nil || !slices.Equal(a.Starts, []protocol.Tag{tag(5)}) || a.Wake != 311 {
		t.Errorf("finished: %+v, %v", a, err)
	}
	if _, err := e.Submit(302, job(0, 1, 1)); err != nil {
		t.Errorf("a tag whose job has ended: %v", err)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	e := engine.New(engine.WholeNode(protocol.Capacity{CPUs: 16, Nodes: 4}), engine.EASY())
	mustSubmit(t, e, 0, job(1, 5, 10))
	mustSubmit(t, e, 0, job(2, 9, 20))
	mustSubmit(t, e, 0, job(3, 12, 30))
	want := protocol.Load{CPUs: 16, Busy: 8, QueuedJobs: 2, QueuedWork: 12*20 + 12*30}
	if got := e.Load(); got != want {
		t.Errorf("load %+v, want %+v", got, want)
	}
	mustSubmit(t, e, 0, job(4, 16, protocol.Never))
	if got := e.Load().QueuedWork; got != math.MaxInt64 {
		t.Errorf("endless work is %d", got)
	}
	if _, err := e.Withdraw(0, tag(4)); err != nil {
		t.Fatal(err)
	}
	if got := e.Load(); got != want {
		t.Errorf("load %+v after a withdrawal, want %+v", got, want)
	}
}

// TestWithdrawHead: what waited behind the head starts when it goes.
func TestWithdrawHead(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(4), engine.EASY())
	mustSubmit(t, e, 0, job(1, 3, 10))
	mustSubmit(t, e, 0, job(2, 4, 10))
	if a := mustSubmit(t, e, 0, job(3, 1, 11)); len(a.Starts) > 0 {
		t.Fatalf("started %v past the head's shadow", a.Starts)
	}
	a, err := e.Withdraw(1, tag(2))
	if err != nil || !slices.Equal(a.Starts, []protocol.Tag{tag(3)}) {
		t.Errorf("withdraw: %+v, %v", a, err)
	}
}

// TestRestoreLate: a job restored behind the engine's back moves the shadow, and
// the next submission sees it.
func TestRestoreLate(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(4), engine.EASY())
	mustSubmit(t, e, 0, job(1, 2, 4))
	mustSubmit(t, e, 0, job(2, 4, 4))
	if err := e.Restore(job(3, 1, 10), 0); err != nil {
		t.Fatal(err)
	}
	if a := mustSubmit(t, e, 0, job(4, 1, 6)); !slices.Equal(a.Starts, []protocol.Tag{tag(4)}) {
		t.Errorf("started %v, want %v", a.Starts, tag(4))
	}
}

// TestPlanEmpty: an engine that has seen nothing starts everything at once, and
// is asked nothing without harm.
func TestPlanEmpty(t *testing.T) {
	t.Parallel()
	for _, now := range []protocol.Instant{0, 7} {
		e := engine.New(cpus(4), engine.EASY())
		if p := e.Plan(now, nil, []protocol.Request{{CPUs: 4, WallTime: 1}}); p[0].Start != now {
			t.Errorf("planned %+v on an empty machine at %d", p, now)
		}
		if p := e.Plan(now, nil, nil); len(p) != 0 {
			t.Errorf("no jobs gave %+v", p)
		}
	}
}

// TestTimeNeverRunsBack: an early now counts as the latest one seen.
func TestTimeNeverRunsBack(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(1), engine.EASY())
	e.Tick(100)
	if a := mustSubmit(t, e, 50, job(1, 1, 10)); a.Wake != 110 {
		t.Errorf("wake at %d, want 110", a.Wake)
	}
	if p := e.Plan(0, nil, []protocol.Request{{CPUs: 1, WallTime: 1}}); p[0].Start != 110 {
		t.Errorf("planned for %d, want 110", p[0].Start)
	}
}

// TestEndOfTime: spans without an end overflow nothing.
func TestEndOfTime(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(2), engine.EASY())
	mustSubmit(t, e, math.MaxInt64-5, job(1, 1, protocol.Never))
	mustSubmit(t, e, math.MaxInt64-4, job(2, 2, protocol.Never))
	a := mustSubmit(t, e, math.MaxInt64-3, job(3, 1, 1))
	if !slices.Equal(a.Starts, []protocol.Tag{tag(3)}) {
		t.Errorf("started %v, want %v", a.Starts, tag(3))
	}
	for _, now := range []protocol.Instant{0, math.MaxInt64} {
		planned := e.Plan(now, nil, []protocol.Request{{CPUs: 2, WallTime: protocol.Never}})
		if planned[0].Start != math.MaxInt64 {
			t.Errorf("planned %+v, want the end of time", planned)
		}
	}
}

func mustSubmit(t *testing.T, e *engine.Engine, now protocol.Instant, j localsched.Queued) localsched.Actions {
	t.Helper()
	actions, err := e.Submit(now, j)
	if err != nil {
		t.Fatal(err)
	}
	return actions
}
