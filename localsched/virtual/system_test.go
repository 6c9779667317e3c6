package virtual_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/virtual"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// site is a system of four CPUs under the test's clock, whose jobs begin when they are started.
type site struct {
	*virtual.System[string]

	now     protocol.Instant
	limits  []protocol.Tag
	changes []protocol.State
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{now: 1000}
	s.System = virtual.New(engine.Of(protocol.Capacity{CPUs: 4, Nodes: 1}), driver.Rules{Policy: engine.EASY()}, s.runner())
	return s
}

func (s *site) runner() virtual.Runner[string] {
	return virtual.Runner[string]{
		Now: func() protocol.Instant { return s.now },
		Start: func(j *virtual.Job[string]) error {
			s.Begin(j)
			return nil
		},
		Limit: func(j *virtual.Job[string]) error {
			s.limits = append(s.limits, j.Tag)
			return nil
		},
		Changed: func(_ *virtual.Job[string], c localsched.Change) { s.changes = append(s.changes, c.State) },
	}
}

func tag(n uint64) protocol.Tag { return protocol.Tag{Job: protocol.NewJobID(1, n), Epoch: 1} }

func request(cpus int) protocol.Request {
	return protocol.Request{CPUs: cpus, WallTime: protocol.Minute}
}

// submit submits a job that fills the machine.
func (s *site) submit(t *testing.T, n uint64) *virtual.Job[string] {
	t.Helper()
	j, err := s.Submit(tag(n), request(4), "")
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestCallsByState makes each call for a job in each state.
func TestCallsByState(t *testing.T) {
	t.Parallel()
	prepare := map[string]func(t *testing.T, s *site){
		"unknown": func(*testing.T, *site) {},
		"pending": func(t *testing.T, s *site) {
			t.Helper()
			s.submit(t, 9)
			s.submit(t, 1)
		},
		"running": func(t *testing.T, s *site) { t.Helper(); s.submit(t, 1) },
		"ended": func(t *testing.T, s *site) {
			t.Helper()
			if err := s.End(s.submit(t, 1), protocol.Outcome{State: protocol.Completed}); err != nil {
				t.Fatal(err)
			}
		},
		"withdrawn": func(t *testing.T, s *site) {
			t.Helper()
			s.submit(t, 9)
			s.submit(t, 1)
			if _, err := s.Withdraw(tag(1)); err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, c := range []struct {
		state         string
		found         localsched.Presence
		withdrawal    localsched.Withdrawal
		kill, forget  error
		submitRefused bool
	}{
		{"unknown", localsched.Absent, localsched.Withdrawn, localsched.ErrUnknownJob, nil, false},
		{"pending", localsched.Present, localsched.Withdrawn, localsched.ErrNotStarted, localsched.ErrNotEnded, false},
		{"running", localsched.Present, localsched.Started, nil, localsched.ErrNotEnded, false},
		{"ended", localsched.Present, localsched.Started, nil, nil, false},
		{"withdrawn", localsched.Absent, localsched.Withdrawn, nil, nil, true},
	} {
		open := func() *site {
			s := newSite(t)
			prepare[c.state](t, s)
			return s
		}
		if got, _ := open().Find(tag(1)); got != c.found {
			t.Errorf("%s: it is %v, want %v", c.state, got, c.found)
		}
		if got, err := open().Withdraw(tag(1)); got != c.withdrawal || err != nil {
			t.Errorf("%s: withdraw: got %v, %v, want %v", c.state, got, err, c.withdrawal)
		}
		if err := open().Kill(tag(1)); !errors.Is(err, c.kill) {
			t.Errorf("%s: kill: got %v, want %v", c.state, err, c.kill)
		}
		if err := open().Forget(tag(1)); !errors.Is(err, c.forget) {
			t.Errorf("%s: forget: got %v, want %v", c.state, err, c.forget)
		}
		_, err := open().Submit(tag(1), request(4), "")
		if _, refused := errors.AsType[*localsched.RefusedError](err); refused != c.submitRefused || err != nil && !refused {
			t.Errorf("%s: submit: got %v, want a refusal: %v", c.state, err, c.submitRefused)
		}
	}
}

// TestWithdrawUnknown withdraws a tag that never came, and its reservation with it.
func TestWithdrawUnknown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.Reserve(localsched.Reservation{Tag: tag(1), Request: request(4), Start: 5000}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := s.Withdraw(tag(1)); got != localsched.Withdrawn || err != nil {
			t.Errorf("withdraw: got %v, %v", got, err)
		}
	}
	if left := s.Reservations(); len(left) > 0 {
		t.Errorf("reservations are left: %v", left)
	}
	saved := s.Save()
	again, err := virtual.Open(engine.Of(protocol.Capacity{CPUs: 4, Nodes: 1}), driver.Rules{Policy: engine.EASY()}, saved,
		func(*virtual.Job[string]) protocol.Outcome { return protocol.Outcome{} }, s.runner())
	if err != nil {
		t.Fatal(err)
	}
	for _, sys := range []*virtual.System[string]{s.System, again} {
		_, err := sys.Submit(tag(1), request(1), "")
		if _, refused := errors.AsType[*localsched.RefusedError](err); !refused {
			t.Errorf("submit of a withdrawn tag: got %v, want a refusal", err)
		}
		if err = sys.Forget(tag(1)); err != nil {
			t.Error(err)
		}
		if _, err = sys.Submit(tag(1), request(1), ""); err != nil {
			t.Errorf("submit of a forgotten tag: %v", err)
		}
	}
}

// TestRun follows two jobs: what is reported of them, and the time limit.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.submit(t, 1)
	s.submit(t, 2)
	s.now = s.Wake()
	if err := s.Tick(); err != nil {
		t.Fatal(err)
	}
	if s.now != first.Started.Add(protocol.Minute) || !slices.Equal(s.limits, []protocol.Tag{tag(1)}) {
		t.Errorf("at %d the limit of %v was reached, want that of job 1 after a minute", s.now, s.limits)
	}
	if err := s.End(first, protocol.Outcome{State: protocol.Timeout}); err != nil {
		t.Fatal(err)
	}
	if o := first.Outcome; o.Ran != protocol.Minute || o.Waited != 0 {
		t.Errorf("the outcome is %+v, want a run of one minute", o)
	}
	want := []protocol.State{protocol.Pending, protocol.Running, protocol.Pending, protocol.Timeout, protocol.Running}
	if !slices.Equal(s.changes, want) {
		t.Errorf("got the changes %v, want %v", s.changes, want)
	}
	if load, err := s.Load(); load.Busy != 4 || load.QueuedJobs != 0 || err != nil {
		t.Errorf("got the load %+v, %v", load, err)
	}
}
