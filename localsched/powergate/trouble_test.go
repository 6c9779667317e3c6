package powergate_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/powergate"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// spoil has a directory stand where a job's record is, or would be: it can be neither read nor
// replaced nor removed. What is done with a spoilt record changes nothing.
func (s *site) spoil(t testing.TB, tag protocol.Tag) {
	t.Helper()
	path := filepath.Join(s.config.Dir, powergate.NameOf(tag))
	err := os.Rename(path, aside(path))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err = errors.Join(err, os.MkdirAll(filepath.Join(path, "in the way"), 0o700)); err != nil {
		t.Error(err)
	}
}

// fix brings a spoilt record back as it was. Others are left alone.
func (s *site) fix(t testing.TB, tag protocol.Tag) {
	t.Helper()
	path := filepath.Join(s.config.Dir, powergate.NameOf(tag))
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return
	}
	err := os.RemoveAll(path)
	if err == nil {
		err = os.Rename(aside(path), path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// aside is where a spoilt record is kept: beside the gate's directory.
func aside(path string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(path)), filepath.Base(path))
}

// isRefusal reports whether a job may be placed elsewhere after this error.
func isRefusal(err error) bool { return errors.As(err, new(*localsched.RefusedError)) }

// unclear checks that nobody is told whether a job is there.
func (s *site) unclear(t testing.TB, tag protocol.Tag) {
	t.Helper()
	if presence, _, err := s.FindByTag(t.Context(), tag); err == nil || presence != localsched.PresenceUnknown {
		t.Errorf("job %v is %v, %v; want unclear, and why", tag, presence, err)
	}
}

// refusedAndStuck is a gate with a job that the batch system has refused, and whose record
// cannot be removed.
func refusedAndStuck(t *testing.T) (*site, protocol.Tag) {
	t.Helper()
	s := openSite(t, newFake(cpus), engine.Budget{Rates: watt()})
	s.behind.set("submit", &localsched.RefusedError{Reason: "no such account"}, nil)
	s.behind.probe = func(call string, tag protocol.Tag) {
		if call == "before submit" {
			s.spoil(t, tag)
		}
	}
	job := submission(1, 1)
	if _, err := s.Submit(t.Context(), job); err == nil || isRefusal(err) {
		t.Errorf("of a job that may come back Submit says: %v", err)
	}
	s.behind.probe = nil
	s.behind.set("submit", nil, nil)
	s.unclear(t, job.Tag)
	if load := s.load(t); load.Draw != 0 || load.QueuedJobs != 0 {
		t.Errorf("the load is %+v", load)
	}
	return s, job.Tag
}

// TestRefusalStands: as long as a restart could find the job, it is not refused. What is
// absent, or withdrawn, never comes.
func TestRefusalStands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(*testing.T, *site, protocol.Tag)
		runs bool
	}{
		"absent": {func(t *testing.T, s *site, tag protocol.Tag) {
			t.Helper()
			s.fix(t, tag)
			s.presence(t, tag, localsched.Absent)
			s.reopen(t)
			s.presence(t, tag, localsched.Absent)
		}, false},
		"withdrawn": {func(t *testing.T, s *site, tag protocol.Tag) {
			t.Helper()
			if _, err := s.Withdraw(t.Context(), tag); err == nil {
				t.Error("it is withdrawn, and nobody will know")
			}
			s.fix(t, tag)
			s.withdraws(t, tag, localsched.Withdrawn)
			s.reopen(t)
			s.presence(t, tag, localsched.Absent)
		}, false},
		"found again": {func(t *testing.T, s *site, tag protocol.Tag) {
			t.Helper()
			s.fix(t, tag)
			s.reopen(t)
			s.presence(t, tag, localsched.Present)
		}, true},
		"submitted again": {func(t *testing.T, s *site, tag protocol.Tag) {
			t.Helper()
			if _, err := s.Submit(t.Context(), submission(1, 1)); err == nil || isRefusal(err) {
				t.Errorf("it came again: %v", err)
			}
			s.fix(t, tag)
			s.submit(t, 1, 1)
			s.presence(t, tag, localsched.Present)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, tag := refusedAndStuck(t)
				c.then(t, s, tag)
				time.Sleep(time.Hour)
				s.behindIs(t, tag, c.runs)
			})
		})
	}
}

// TestNotHeld: a record that could not be written may be there all the same.
func TestNotHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), engine.Budget{Rates: watt()})
		tag := tagOf(1)
		s.spoil(t, tag)
		if _, err := s.Submit(t.Context(), submission(1, 1)); err == nil || isRefusal(err) {
			t.Errorf("submitted: %v", err)
		}
		s.unclear(t, tag)
		s.fix(t, tag)
		s.presence(t, tag, localsched.Absent)
		s.submit(t, 1, 1)
		s.behindIs(t, tag, true)
	})
}

// TestLetGoTooLate: a job that the budget let go, and whose record could not be read as long
// as it did, is not given to the batch system within a budget that does not.
func TestLetGoTooLate(t *testing.T) {
	t.Parallel()
	for name, reload := range map[string]bool{"the next hour": false, "another budget": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { letGoTooLate(t, reload) })
		})
	}
}

func letGoTooLate(t *testing.T, reload bool) {
	t.Helper()
	begin := now()
	steps := []power.Step{{At: 0, Limit: 2000}, {At: begin.Add(protocol.Hour), Limit: power.Unlimited}}
	peak := []power.Step{{At: begin.Add(2 * protocol.Hour), Limit: 0}, {At: begin.Add(3 * protocol.Hour), Limit: power.Unlimited}}
	signal := func(steps ...power.Step) engine.Budget {
		s, err := power.NewSignal(steps)
		if err != nil {
			t.Fatal(err)
		}
		return engine.Budget{Signal: s, Rates: watt()}
	}
	if !reload {
		steps = append(steps, peak...)
	}
	s := openSite(t, newFake(cpus), signal(steps...))
	tag := s.submit(t, 1, 4)
	s.is(t, tag, protocol.Pending, changefeed.PowerBudget)
	s.spoil(t, tag)
	time.Sleep(2*time.Hour + time.Minute)
	s.is(t, tag, protocol.Pending, "not given to the batch system yet")
	if reload {
		if err := s.SetBudget(signal(peak...)); err != nil {
			t.Fatal(err)
		}
	}
	s.fix(t, tag)
	time.Sleep(10 * time.Minute)
	s.behindIs(t, tag, false)
	s.is(t, tag, protocol.Pending, changefeed.PowerBudget)
	time.Sleep(time.Hour)
	s.behindIs(t, tag, true)
}

// TestManyAreRestoredAtOnce: what the budget holds is looked at once, however many jobs
// are found.
func TestManyAreRestoredAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		peak := until(t, now().Add(protocol.Hour), 0)
		s := openSite(t, newFake(cpus), peak)
		for n := range 20 {
			s.submit(t, n, 1)
		}
		s.reopen(t)
		for n := range 20 {
			s.is(t, tagOf(n), protocol.Pending, changefeed.PowerBudget)
		}
		if looks := s.Looks(); looks > 2 {
			t.Errorf("it took %d looks", looks)
		}
		s.config.Budget = engine.Budget{Signal: power.Always(500), Rates: watt()} // too little for any
		s.reopen(t)
		before := s.Looks()
		if err := s.SetBudget(peak); err != nil {
			t.Fatal(err)
		}
		if looks := s.Looks() - before; looks > 2 {
			t.Errorf("another budget took %d looks", looks)
		}
		s.is(t, tagOf(19), protocol.Pending, changefeed.PowerBudget)
	})
}
