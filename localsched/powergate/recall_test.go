package powergate_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// peak is a budget in watts for an hour from an instant on.
func peak(t testing.TB, from protocol.Instant, limit int64) engine.Budget {
	t.Helper()
	signal, err := power.NewSignal([]power.Step{{At: from, Limit: 1000 * limit}, {At: from.Add(protocol.Hour), Limit: power.Unlimited}})
	if err != nil {
		t.Fatal(err)
	}
	return engine.Budget{Signal: signal, Rates: watt()}
}

// has lists which of the jobs the batch system has.
func (f *fake) has(n int) (tags []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range n {
		if j := f.jobs[tagOf(i)]; j.state == protocol.Pending || j.state == protocol.Running {
			tags = append(tags, i)
		}
	}
	return tags
}

// isWith checks which jobs the batch system has.
func (s *site) isWith(t testing.TB, when string, want ...int) {
	t.Helper()
	synctest.Wait()
	if got := s.behind.has(10); !slices.Equal(got, want) {
		t.Errorf("%s the batch system has %v, want %v", when, got, want)
	}
}

// TestTakenBackAtPeak: what waits in the batch system when a budget begins is taken back, the last
// first, until all is within the budget or runs; it is given again in its old order. The
// draw is that of what runs.
func TestTakenBackAtPeak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := now().Add(10 * protocol.Minute)
		s := openSite(t, newFake(cpus), peak(t, from, 2))
		for n := range cpus {
			s.submit(t, n, 1)
		}
		s.isWith(t, "off-peak", 0, 1, 2, 3)
		s.behind.start(tagOf(1)) // which it may: its own priorities decide
		synctest.Wait()
		if load := s.load(t); load.Draw != 1000 || s.Pending() != 3000 {
			t.Errorf("the load is %+v, and %d mW are kept for what waits", load, s.Pending())
		}
		s.submit(t, 4, 1) // for which the machine has no room
		time.Sleep(time.Until(from.Time()))
		s.isWith(t, "on-peak", 0, 1)
		for _, n := range []int{2, 3, 4} {
			s.is(t, tagOf(n), protocol.Pending, changefeed.PowerBudget)
		}
		if load := s.load(t); load.Draw != 1000 || s.Pending() != 1000 || load.QueuedJobs != 4 {
			t.Errorf("on-peak the load is %+v, and %d mW are kept for what waits", load, s.Pending())
		}
		s.behind.end(tagOf(1))
		s.isWith(t, "with power for one more", 0, 2)
		time.Sleep(time.Hour)
		s.isWith(t, "off-peak again", 0, 2, 3, 4)
		for _, n := range []int{0, 2, 3, 4} {
			s.behind.start(tagOf(n))
			s.behind.end(tagOf(n))
			s.is(t, tagOf(n), protocol.Completed, "")
		}
		if s.Pending() != 0 {
			t.Errorf("in the end %d mW are kept", s.Pending())
		}
	})
}

// TestTakenBackByAnotherBudget: likewise when a reload or a feed lowers the budget.
func TestTakenBackByAnotherBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), engine.Budget{Rates: watt()})
		s.submit(t, 0, 1)
		s.submit(t, 1, 3)
		s.isWith(t, "without a budget", 0, 1)
		if err := s.SetBudget(until(t, now().Add(protocol.Hour), 3)); err != nil {
			t.Fatal(err)
		}
		s.isWith(t, "under 3 W", 0)
		if err := s.SetBudget(until(t, now().Add(protocol.Hour), 0)); err != nil {
			t.Fatal(err)
		}
		s.isWith(t, "under 0 W")
		if err := s.SetBudget(engine.Budget{Rates: watt()}); err != nil {
			t.Fatal(err)
		}
		s.isWith(t, "without a budget again", 0, 1)
	})
}

// TestTakenBackTooLate: a job that the batch system has started runs on, and counts; another
// one is taken back in its place.
func TestTakenBackTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(cpus)
		s := openSite(t, f, engine.Budget{Rates: watt()})
		for n := range 3 {
			s.submit(t, n, 1)
		}
		f.probe = func(call string, tag protocol.Tag) {
			if call == "before withdraw" && tag == tagOf(2) {
				f.start(tag)
			}
		}
		if err := s.SetBudget(until(t, now().Add(protocol.Hour), 2)); err != nil {
			t.Fatal(err)
		}
		s.isWith(t, "under 2 W", 0, 2)
		s.is(t, tagOf(2), protocol.Running, "")
		if load := s.load(t); load.Draw != 1000 || s.Pending() != 1000 {
			t.Errorf("the load is %+v, and %d mW are kept for what waits", load, s.Pending())
		}
	})
}

// TestTakingBackIsRepeated while the batch system is in trouble, and ends with the budget.
func TestTakingBackIsRepeated(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"withdraw", "forget"} {
		synctest.Test(t, func(t *testing.T) {
			s := openSite(t, newFake(cpus), engine.Budget{Rates: watt()})
			s.submit(t, 0, 1)
			s.behind.set(call, errTrouble, nil)
			if err := s.SetBudget(until(t, now().Add(2*protocol.Hour), 0)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if calls := s.behind.called(call); calls < 10 || calls > 200 {
				t.Errorf("in an hour it is tried %d times", calls)
			}
			s.is(t, tagOf(0), protocol.Pending, "")
			s.behind.set(call, nil, nil)
			time.Sleep(time.Minute)
			s.isWith(t, "out of trouble")
			s.is(t, tagOf(0), protocol.Pending, changefeed.PowerBudget)
			time.Sleep(time.Hour)
			s.isWith(t, "off-peak", 0)
		})
	}
}

// TestWithdrawnWhileTakenBack: a job that its user takes back meanwhile never starts again.
func TestWithdrawnWhileTakenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(cpus)
		s := openSite(t, f, engine.Budget{Rates: watt()})
		s.submit(t, 0, 1)
		done := make(chan struct{})
		f.probe = func(call string, _ protocol.Tag) {
			if call == "after forget" {
				f.probe = nil
				go func() {
					defer close(done)
					s.withdraws(t, tagOf(0), 1)
				}()
			}
		}
		if err := s.SetBudget(until(t, now().Add(protocol.Hour), 0)); err != nil {
			t.Fatal(err)
		}
		<-done
		time.Sleep(2 * time.Hour)
		s.isWith(t, "off-peak")
	})
}

// TestNotGivenAcrossABudget: a job that the batch system would start only when a budget holds that
// does not allow it is not given away before; one that starts sooner is, and so is one that
// the coming budget allows. The fake lets each job wait for a minute.
func TestNotGivenAcrossABudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begins protocol.Duration
		limit  int64
		gives  bool
	}{
		"it would start on-peak":         {30 * protocol.Second, 0, false},
		"it would start before":          {90 * protocol.Second, 0, true},
		"the coming budget is enough":    {30 * protocol.Second, 1, true},
		"the coming budget is too small": {60 * protocol.Second, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				from := now().Add(c.begins)
				s := openSite(t, newFake(cpus), peak(t, from, c.limit))
				tag := s.submit(t, 0, 1)
				s.behindIs(t, tag, c.gives)
				why := ""
				if !c.gives {
					why = changefeed.PowerBudget
				}
				s.is(t, tag, protocol.Pending, why)
				time.Sleep(2 * time.Minute)
				s.behindIs(t, tag, c.limit > 0)
				time.Sleep(time.Hour)
				s.behindIs(t, tag, true)
				s.is(t, tag, protocol.Pending, "")
			})
		})
	}
}

// TestNotGivenInItsPartition: the batch system is asked when a job would start in the partition that it gets, also
// after a restart of the gate.
func TestNotGivenInItsPartition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), peak(t, now().Add(30*protocol.Minute), 0))
		slow := submission(0, 1)
		slow.Spec.Partition = "slow"
		if _, err := s.Submit(t.Context(), slow); err != nil {
			t.Fatal(err)
		}
		s.behindIs(t, slow.Tag, false)
		s.behindIs(t, s.submit(t, 1, 1), true)
		s.reopen(t)
		s.behindIs(t, slow.Tag, false)
	})
}

// TestPutOffUntilItFits: a job that was not given away because of a coming budget is given when the
// batch system would start it sooner.
func TestPutOffUntilItFits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), peak(t, now().Add(30*protocol.Second), 0))
		tag := s.submit(t, 0, 1)
		s.behindIs(t, tag, false)
		if err := s.SetBudget(peak(t, now().Add(protocol.Hour), 0)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		s.behindIs(t, tag, true)
	})
}

// TestDrawNotKnown: without a budget, where nobody has stated what CPUs draw, no draw is told.
func TestDrawNotKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openSite(t, newFake(cpus), engine.Budget{})
		s.behind.start(s.submit(t, 0, 1))
		s.submit(t, 1, 1)
		synctest.Wait()
		if load := s.load(t); load.Draw != 0 || load.Budget.Active || s.Pending() != 0 {
			t.Errorf("the load is %+v, and %d mW are kept for what waits", load, s.Pending())
		}
		if err := s.SetBudget(until(t, now().Add(protocol.Hour), 1)); err != nil {
			t.Fatal(err)
		}
		s.isWith(t, "under 1 W", 0)
		if load := s.load(t); load.Draw != 1000 {
			t.Errorf("the load is %+v", load)
		}
	})
}
