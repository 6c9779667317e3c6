package powergate_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/powergate"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const cpus = 4

func machine() engine.Machine { return engine.Of(protocol.Capacity{CPUs: cpus, Nodes: 1}) }

// watt is what a CPU draws.
func watt() power.Rates { return power.Rates{Busy: 1_000_000} }

func now() protocol.Instant { return protocol.InstantOf(time.Now()) }

// until is a budget in watts until an instant.
func until(t testing.TB, then protocol.Instant, limit int64) engine.Budget {
	t.Helper()
	signal, err := power.NewSignal([]power.Step{{At: 0, Limit: 1000 * limit}, {At: then, Limit: power.Unlimited}})
	if err != nil {
		t.Fatal(err)
	}
	return engine.Budget{Signal: signal, Rates: watt()}
}

func tagOf(n int) protocol.Tag {
	return protocol.Tag{Job: protocol.NewJobID(7, uint64(n)), Epoch: 2}
}

// submission is a job that takes so many CPUs for at most an hour.
func submission(n, width int) localsched.Submission {
	tag := tagOf(n)
	return localsched.Submission{
		Tag:     tag,
		Spec:    protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: width, WallTime: protocol.Hour}},
		Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")},
	}
}

// site is a gate, and what it stands before.
type site struct {
	*powergate.Gate
	behind *fake
	config powergate.Config
	cursor localsched.Cursor
	last   map[protocol.Tag]localsched.Change
}

func openSite(t testing.TB, behind *fake, budget engine.Budget) *site {
	t.Helper()
	s := &site{behind: behind, config: powergate.Config{
		Dir: filepath.Join(t.TempDir(), "gate"), Machine: machine(), Budget: budget, Scheduler: behind,
	}}
	s.open(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *site) open(t testing.TB) {
	t.Helper()
	opened, err := powergate.Open(s.config)
	if err != nil {
		t.Fatal(err)
	}
	s.Gate, s.last = opened, map[protocol.Tag]localsched.Change{}
}

func (s *site) reopen(t testing.TB) {
	t.Helper()
	s.Close()
	s.behind.mu.Lock()
	s.behind.retell()
	s.behind.mu.Unlock()
	s.open(t)
}

func (s *site) submit(t testing.TB, n, width int) protocol.Tag {
	t.Helper()
	job := submission(n, width)
	if _, err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return job.Tag
}

// hear takes all that is told once everything has settled.
func (s *site) hear(t testing.TB) {
	t.Helper()
	synctest.Wait()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		watched, err := s.Watch(ctx, s.cursor)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s.cursor = watched.Cursor
		for _, c := range watched.Changes {
			s.last[c.Tag] = c
		}
	}
}

// is checks what was told last of a job.
func (s *site) is(t testing.TB, tag protocol.Tag, state protocol.State, reason string) {
	t.Helper()
	s.hear(t)
	if c := s.last[tag]; c.State != state || !strings.Contains(c.Reason, reason) || reason == "" && c.Reason != "" {
		t.Errorf("job %v is reported to be %v for %q, want %v for %q", tag, c.State, c.Reason, state, reason)
	}
}

// behindIs checks whether the batch system was given a job.
func (s *site) behindIs(t testing.TB, tag protocol.Tag, want bool) {
	t.Helper()
	synctest.Wait()
	if _, known := s.behind.get(tag); known != want {
		t.Errorf("the batch system has job %v: %v, want %v", tag, known, want)
	}
}

func (s *site) presence(t testing.TB, tag protocol.Tag, want localsched.Presence) {
	t.Helper()
	if presence, _, err := s.FindByTag(t.Context(), tag); err != nil || presence != want {
		t.Errorf("job %v is %v, %v; want %v", tag, presence, err, want)
	}
}

func (s *site) withdraws(t testing.TB, tag protocol.Tag, want localsched.Withdrawal) {
	t.Helper()
	for range 2 {
		if became, err := s.Withdraw(t.Context(), tag); err != nil || became != want {
			t.Errorf("withdraw job %v: %v, %v; want %v", tag, became, err, want)
		}
	}
}

func (s *site) load(t testing.TB) protocol.Load {
	t.Helper()
	load, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return load
}

// TestHeldUntilOffPeak: the batch system does not hear of a job for which there is no
// power, also when it is idle, until there is.
func TestHeldUntilOffPeak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := now().Add(2 * protocol.Hour)
		s := openSite(t, newFake(cpus), until(t, end, 2))
		two, one := s.submit(t, 1, 2), s.submit(t, 2, 1)
		s.behindIs(t, two, true)
		s.behindIs(t, one, false)
		s.is(t, two, protocol.Pending, "")
		s.is(t, one, protocol.Pending, changefeed.PowerBudget)
		want := protocol.Load{
			CPUs: cpus, QueuedJobs: 2, QueuedWork: 2 + int64(protocol.Hour), PowerIdledCPUs: cpus, Budget: protocol.ActiveBudget(2000),
		}
		if load := s.load(t); load != want {
			t.Errorf("the load is %+v, want %+v", load, want)
		}
		s.behind.start(two)
		s.is(t, two, protocol.Running, "")
		s.behind.end(two)
		s.is(t, two, protocol.Completed, "")
		s.behindIs(t, one, true)
		three := s.submit(t, 3, 3) // which is more than the budget
		s.is(t, three, protocol.Pending, changefeed.PowerBudget)
		time.Sleep(time.Until(end.Time()) - time.Millisecond)
		s.behindIs(t, three, false)
		time.Sleep(time.Millisecond)
		s.behindIs(t, three, true)
		s.is(t, three, protocol.Pending, "")
	})
}

// TestAnotherBudget lets jobs go, and holds those that come.
func TestAnotherBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), engine.Budget{Rates: watt()})
		s.hear(t)
		news := make(chan protocol.Load, 1)
		go func() {
			watched, err := s.Watch(t.Context(), s.cursor)
			if err != nil {
				t.Error(err)
			}
			news <- watched.Load
		}()
		synctest.Wait()
		if err := s.SetBudget(until(t, now().Add(protocol.Hour), 0)); err != nil {
			t.Fatal(err)
		}
		if load := <-news; load.PowerIdledCPUs != cpus {
			t.Errorf("watchers are told of %+v", load)
		}
		s.hear(t)
		end := now().Add(protocol.Hour)
		if watched, err := s.Watch(t.Context(), s.cursor); err != nil || watched.Load.PowerIdledCPUs != 0 || now() > end {
			t.Errorf("at the end of the budget: %+v, %v", watched, err)
		}
		if err := s.SetBudget(until(t, now().Add(protocol.Hour), 0)); err != nil {
			t.Fatal(err)
		}
		one := s.submit(t, 1, 1)
		s.behindIs(t, one, false)
		if err := s.SetBudget(engine.Budget{Signal: power.Always(1)}); err == nil {
			t.Error("there are no rates")
		}
		if err := s.SetBudget(engine.Budget{Rates: watt()}); err != nil {
			t.Fatal(err)
		}
		s.behindIs(t, one, true)
	})
}

// TestQuotes: a job that is given away at once waits as the batch system says, another one
// until the later of both.
func TestQuotes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), until(t, now().Add(10*protocol.Minute), 2))
		quote := func(ahead ...localsched.Tentative) []protocol.Quote {
			t.Helper()
			var jobs []protocol.Request
			for _, width := range []int{1, 3, cpus + 1} {
				jobs = append(jobs, submission(9, width).Spec.Request)
			}
			quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: jobs, Ahead: ahead})
			if err != nil {
				t.Fatal(err)
			}
			return quotes
		}
		first := quote()
		if q := first[0]; q.AWT != protocol.Minute || q.AWTHigh != 2*protocol.Minute || q.Note != "" || q.Bound != 3*protocol.Minute {
			t.Errorf("one CPU: %+v", q)
		}
		if q := first[1]; q.AWT != 10*protocol.Minute || q.AWTLow != q.AWT || q.Bound != 0 || !strings.Contains(q.Note, "off-peak only") {
			t.Errorf("three CPUs: %+v", q)
		}
		if q := first[2]; q.Declined == "" || q.Note != "" || q.AWT != 0 {
			t.Errorf("five CPUs: %+v", q)
		}
		promise := localsched.Tentative{Tag: tagOf(1), Request: submission(1, 2).Spec.Request}
		if q := quote(promise)[0]; q.AWT != 31*protocol.Minute || q.AWTLow != q.AWT/2 {
			t.Errorf("behind a promise that takes all the power: %+v", q)
		}
		s.submit(t, 1, 2)
		held := s.submit(t, 2, 2)
		// The held job starts when the budget ends, and the newcomer when the hour of the
		// first is over. The batch system is not asked to leave room for the held one.
		if q := quote(localsched.Tentative{Tag: held, Request: submission(2, 2).Spec.Request})[0]; q.AWTHigh != protocol.Hour || q.AWT != q.AWTHigh || q.AWTLow >= q.AWT {
			t.Errorf("behind both, which may end before their limits: %+v", q)
		}
	})
}

// TestReleasedCounts: what was given away before the budget fell, and before a restart,
// counts until it has ended.
func TestReleasedCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), engine.Budget{Rates: watt()})
		for n := range cpus {
			s.behind.start(s.submit(t, n, 1))
		}
		synctest.Wait()
		s.config.Budget = until(t, now().Add(protocol.Hour), 2)
		s.reopen(t)
		held := s.submit(t, 5, 1)
		synctest.Wait() // the batch system has told what runs
		for n := range 3 {
			if load := s.load(t); load.Draw != 1000*int64(cpus-n) || load.PowerIdledCPUs != n {
				t.Errorf("with %d jobs the load is %+v", cpus-n, load)
			}
			s.behindIs(t, held, false)
			s.behind.end(tagOf(n))
			synctest.Wait()
		}
		s.behindIs(t, held, true)
	})
}

// TestBudgetRisesWhileAway: after a restart the same jobs are let go as if the gate had been
// there when the budget rose, and not those that it finds first.
func TestBudgetRisesWhileAway(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := openSite(t, newFake(cpus), until(t, now().Add(protocol.Hour), 0))
			narrow, wide := s.submit(t, 1, 1), s.submit(t, 2, 2)
			if s.config.Budget = until(t, now().Add(protocol.Hour), 2); away {
				s.reopen(t)
			} else if err := s.SetBudget(s.config.Budget); err != nil {
				t.Fatal(err)
			}
			s.behindIs(t, wide, true) // uses most of the budget
			s.behindIs(t, narrow, false)
		})
	}
}

// TestWithdrawHeld: the batch system hears nothing of it, ever.
func TestWithdrawHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), until(t, now().Add(protocol.Hour), 0))
		tag := s.submit(t, 1, 1)
		if err := s.Kill(t.Context(), tag); !errors.Is(err, localsched.ErrNotStarted) {
			t.Errorf("killed: %v", err)
		}
		if err := s.Forget(t.Context(), tag); !errors.Is(err, localsched.ErrNotEnded) {
			t.Errorf("forgotten: %v", err)
		}
		s.presence(t, tag, localsched.Present)
		for range 2 {
			s.withdraws(t, tag, localsched.Withdrawn)
			s.presence(t, tag, localsched.Absent)
			_, err := s.Submit(t.Context(), submission(1, 1))
			if refused := new(localsched.RefusedError); !errors.As(err, &refused) {
				t.Errorf("it came again: %v", err)
			}
			s.reopen(t)
		}
		time.Sleep(2 * time.Hour)
		s.behindIs(t, tag, false)
		if s.behind.called("withdraw")+s.behind.called("submit") > 0 {
			t.Error("the batch system has heard of it")
		}
		if s.hear(t); s.last[tag].State != 0 {
			t.Errorf("it is told to be %v", s.last[tag].State)
		}
		if err := s.Forget(t.Context(), tag); err != nil {
			t.Fatal(err)
		}
		if empty, err := powergate.Empty(s.config.Dir); err != nil || !empty {
			t.Errorf("the directory is empty: %v, %v", empty, err)
		}
	})
}

// TestWithdrawReleased: the batch system decides.
func TestWithdrawReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), until(t, now().Add(protocol.Hour), 2))
		waits, runs, behind := s.submit(t, 1, 1), s.submit(t, 2, 1), s.submit(t, 3, 1)
		s.behind.start(runs)
		s.hear(t)
		s.behind.set("withdraw", errTrouble, nil)
		if _, err := s.Withdraw(t.Context(), waits); !errors.Is(err, errTrouble) {
			t.Errorf("withdrawn: %v", err)
		}
		s.behindIs(t, behind, false)
		s.behind.set("withdraw", nil, nil)
		s.withdraws(t, waits, localsched.Withdrawn)
		s.withdraws(t, runs, localsched.Started)
		s.behindIs(t, behind, true) // by the power of the one withdrawn
		if err := s.Kill(t.Context(), runs); err != nil || s.behind.called("kill") != 1 {
			t.Errorf("kill: %v", err)
		}
	})
}

// TestStrangers are jobs that the batch system had before there was a gate.
func TestStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(cpus)
		runs, waits := submission(1, 4), submission(2, 1)
		for _, job := range []localsched.Submission{runs, waits} {
			if _, err := f.Submit(t.Context(), job); err != nil {
				t.Fatal(err)
			}
		}
		f.start(runs.Tag)
		s := openSite(t, f, until(t, now().Add(protocol.Hour), 4))
		s.is(t, runs.Tag, protocol.Running, "")
		s.presence(t, runs.Tag, localsched.Present)
		s.withdraws(t, runs.Tag, localsched.Started)
		s.withdraws(t, waits.Tag, localsched.Withdrawn)
		if _, err := s.Submit(t.Context(), waits); err == nil {
			t.Error("a withdrawn job has come")
		}
		f.end(runs.Tag)
		s.is(t, runs.Tag, protocol.Completed, "")
		for _, job := range []localsched.Submission{runs, waits} {
			if err := s.Forget(t.Context(), job.Tag); err != nil {
				t.Fatal(err)
			}
			s.presence(t, job.Tag, localsched.Absent)
		}
		if err := s.Kill(t.Context(), tagOf(3)); !errors.Is(err, localsched.ErrUnknownJob) {
			t.Errorf("killed: %v", err)
		}
	})
}

// TestRefusals: of a job that comes now to who submits it, of one that was held as its end.
func TestRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		no := &localsched.RefusedError{Reason: "no such account"}
		s := openSite(t, newFake(cpus), until(t, now().Add(protocol.Hour), 1))
		s.behind.set("submit", no, nil)
		if _, err := s.Submit(t.Context(), submission(1, 1)); !errors.Is(err, no) {
			t.Errorf("submitted: %v", err)
		}
		s.presence(t, tagOf(1), localsched.Absent)
		if load := s.load(t); load.Draw != 0 || load.QueuedJobs != 0 {
			t.Errorf("the load is %+v", load)
		}
		for n, width := range map[int]int{2: cpus + 1, 3: 0} {
			if _, err := s.Submit(t.Context(), submission(n, width)); err == nil {
				t.Errorf("%d CPUs are taken", width)
			}
			s.presence(t, tagOf(n), localsched.Absent)
		}
		late := s.submit(t, 4, 2)
		time.Sleep(time.Hour)
		for range 2 {
			s.is(t, late, protocol.Failed, no.Reason)
			s.presence(t, late, localsched.Present)
			s.withdraws(t, late, localsched.Started)
			if err := s.Kill(t.Context(), late); err != nil {
				t.Error(err)
			}
			s.behind.set("submit", nil, nil)
			s.reopen(t)
		}
		time.Sleep(time.Hour)
		s.behindIs(t, late, false)
		if err := s.Forget(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		s.presence(t, late, localsched.Absent)
	})
}

// TestUnclearSubmissions: whether or not a call that failed has taken effect, the job comes
// once, and users are told why it takes long.
func TestUnclearSubmissions(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"no effect": false, "took effect": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := openSite(t, newFake(cpus), until(t, now().Add(protocol.Hour), 1))
				early, after := errTrouble, error(nil)
				if late {
					early, after = nil, errTrouble
				}
				s.behind.set("submit", early, after)
				s.behind.set("find", errTrouble, nil)
				first, held := s.submit(t, 1, 1), s.submit(t, 2, 1)
				why := errTrouble.Error()
				if late {
					why = "" // the batch system tells of the job that it says it cannot find
				}
				s.is(t, first, protocol.Pending, why)
				time.Sleep(time.Hour)
				s.is(t, held, protocol.Pending, why)
				s.behind.set("submit", nil, nil)
				s.behind.set("find", nil, nil)
				time.Sleep(time.Minute)
				for _, tag := range []protocol.Tag{first, held} {
					s.behindIs(t, tag, true)
					s.is(t, tag, protocol.Pending, "")
				}
				if calls := s.behind.called("submit"); late && calls != 2 {
					t.Errorf("two jobs were submitted %d times", calls)
				}
			})
		})
	}
}

// TestGivenTooLate: a job that was let go off-peak, and that the batch system never got,
// does not start on-peak.
func TestGivenTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		peak := now().Add(protocol.Minute)
		signal, err := power.NewSignal([]power.Step{{At: peak, Limit: 0}, {At: peak.Add(protocol.Hour), Limit: power.Unlimited}})
		if err != nil {
			t.Fatal(err)
		}
		s := openSite(t, newFake(cpus), engine.Budget{Signal: signal, Rates: watt()})
		s.behind.set("submit", errTrouble, nil)
		tag := s.submit(t, 1, 1)
		time.Sleep(2 * time.Minute)
		s.behind.set("submit", nil, nil)
		time.Sleep(2 * time.Minute)
		s.behindIs(t, tag, false)
		s.is(t, tag, protocol.Pending, changefeed.PowerBudget)
		time.Sleep(time.Hour)
		s.behindIs(t, tag, true)
	})
}

// TestTheBatchSystemIsAway: what is held stays, and quotes say that nobody answers.
func TestTheBatchSystemIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(cpus)
		for _, call := range []string{"submit", "find", "load", "quote", "withdraw", "kill", "forget", "watch"} {
			f.set(call, errTrouble, nil)
		}
		s := openSite(t, f, until(t, now().Add(protocol.Hour), 0))
		tag := s.submit(t, 1, 1)
		s.is(t, tag, protocol.Pending, changefeed.PowerBudget)
		_, err := s.Quote(t.Context(), localsched.Query{Jobs: []protocol.Request{{CPUs: 1}}})
		_, failed := s.Load(t.Context())
		if !errors.Is(err, errTrouble) || !errors.Is(failed, errTrouble) {
			t.Errorf("quotes: %v; load: %v", err, failed)
		}
		s.withdraws(t, tag, localsched.Withdrawn)
	})
}

// TestBatchSystemIsAwayForAnHour: that it cannot be followed is logged once, and once that it can be
// again.
func TestBatchSystemIsAwayForAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		f := newFake(cpus)
		f.set("watch", errTrouble, nil)
		s := &site{behind: f, config: powergate.Config{
			Dir: filepath.Join(t.TempDir(), "gate"), Machine: machine(), Budget: engine.Budget{Rates: watt()}, Scheduler: f,
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		}}
		s.open(t)
		time.Sleep(time.Hour)
		f.set("watch", nil, nil)
		time.Sleep(time.Minute)
		s.submit(t, 1, 1)
		synctest.Wait()
		s.Close()
		failed, works := strings.Count(log.String(), "scheduler_watch_failed"), strings.Count(log.String(), "scheduler_watch_resumed")
		if failed != 1 || works != 1 {
			t.Errorf("it was logged %d times that it fails and %d times that it works:\n%s", failed, works, log.String())
		}
	})
}

// TestDamagedRecords: the batch system is asked, and the user told.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), until(t, now().Add(protocol.Hour), 1))
		runs, held := s.submit(t, 1, 1), s.submit(t, 2, 1)
		s.behind.start(runs)
		s.Close()
		for _, tag := range []protocol.Tag{runs, held} {
			path := filepath.Join(s.config.Dir, powergate.NameOf(tag))
			if err := os.WriteFile(path, []byte(`{"format": 3, "status": "hel`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{".half", "stranger"} {
			if err := os.WriteFile(filepath.Join(s.config.Dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.reopen(t)
		s.is(t, runs, protocol.Running, "")
		s.is(t, held, protocol.Failed, "damaged")
		s.behind.end(runs)
		s.is(t, runs, protocol.Completed, "")
		if _, err := os.Stat(filepath.Join(s.config.Dir, ".half")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("what was half written is there: %v", err)
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	good := powergate.Config{Dir: "/nowhere", Machine: machine(), Scheduler: newFake(1), Budget: engine.Budget{Rates: watt()}}
	for word, spoil := range map[string]func(*powergate.Config){
		"absolute":     func(c *powergate.Config) { c.Dir = "here" },
		"model":        func(c *powergate.Config) { c.Machine = nil },
		"batch system": func(c *powergate.Config) { c.Scheduler = nil },
		"power budget": func(c *powergate.Config) { c.Budget = engine.Budget{Signal: power.Always(1)} },
	} {
		c := good
		spoil(&c)
		if _, err := powergate.Open(c); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("without %s: %v", word, err)
		}
	}
	if empty, err := powergate.Empty("/nowhere"); err != nil || !empty {
		t.Errorf("no directory is empty: %v, %v", empty, err)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), engine.Budget{Rates: watt()})
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		_, submitted := s.Submit(t.Context(), submission(1, 1))
		_, quoted := s.Quote(t.Context(), localsched.Query{})
		_, loaded := s.Load(t.Context())
		_, watched := s.Watch(t.Context(), "")
		for i, err := range []error{submitted, quoted, loaded, watched, s.SetBudget(engine.Budget{Rates: watt()})} {
			if !errors.Is(err, localsched.ErrClosed) {
				t.Errorf("call %d: %v", i, err)
			}
		}
	})
}

// TestClockIsSet sets the clock while jobs run and are held: what is held waits for the hour of
// the budget by the clock, and the end of what runs is as far off as before.
func TestClockIsSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var by atomic.Int64
		system := wallclock.System()
		clock := func() wallclock.Reading {
			at := system()
			at.Wall = at.Wall.Add(protocol.Duration(by.Load()))
			return at
		}
		s := openSite(t, newFake(cpus), until(t, now().Add(24*protocol.Hour), 2))
		s.config.Clock = clock
		s.reopen(t)
		wait := func() protocol.Duration {
			quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: []protocol.Request{submission(9, 2).Spec.Request}})
			if err != nil || quotes[0].Declined != "" {
				t.Fatal(quotes, err)
			}
			return quotes[0].AWT
		}
		runs, held := s.submit(t, 1, 2), s.submit(t, 2, 2)
		s.behind.start(runs)
		s.behindIs(t, runs, true)
		before := wait()
		if before != 2*protocol.Hour {
			t.Errorf("behind a job that runs and one that is held for it, for an hour each, a job waits %v", before)
		}
		for _, step := range []protocol.Duration{5 * protocol.Hour, -9 * protocol.Hour, 2 * protocol.Hour} {
			by.Add(int64(step))
			if got := wait(); got != before {
				t.Errorf("the clock was set by %v: a job waits %v, before %v", step, got, before)
			}
			s.behindIs(t, held, false)
		}
		by.Add(int64(30 * protocol.Hour)) // off-peak
		time.Sleep(10 * time.Second)
		s.behindIs(t, held, true)
	})
}
