package process_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// settable are the machine's clocks, of which the wall clock can be set for the scheduler alone.
type settable struct {
	system wallclock.Source
	off    atomic.Int64 // milliseconds
}

func newSettable() *settable { return &settable{system: wallclock.System()} }

func (c *settable) read() wallclock.Reading {
	now := c.system()
	now.Wall = now.Wall.Add(protocol.Duration(c.off.Load()))
	return now
}

// step sets the wall clock forward, or back.
func (c *settable) step(by protocol.Duration) { c.off.Add(int64(by)) }

func openWithClock(t *testing.T, change func(*process.Config)) (*site, *settable) {
	t.Helper()
	clock := newSettable()
	return openSite(t, func(c *process.Config) {
		small(c)
		c.OnStop, c.Clock = process.LeaveJobs, clock.read
		if change != nil {
			change(c)
		}
	}), clock
}

// wait is what the site quotes to a job.
func (s *site) wait(t *testing.T) protocol.Duration {
	t.Helper()
	quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: []protocol.Request{guest(t, "").Spec.Request}})
	if err != nil || quotes[0].Declined != "" {
		t.Fatal(quotes, err)
	}
	return quotes[0].AWT
}

// steps are ways to set a clock.
var steps = []protocol.Duration{2 * protocol.Minute, -2 * protocol.Minute, 50 * 365 * protocol.Day, -2 * protocol.Hour}

// TestClockIsSet sets the clock while a job runs, and before and after a restart: the job has as
// much of its limit left as before, which quotes to others say, and is not ended.
func TestClockIsSet(t *testing.T) {
	t.Parallel()
	s, clock := openWithClock(t, nil)
	if wait := s.wait(t); wait != 0 {
		t.Errorf("an idle site quotes %v", wait)
	}
	for _, by := range steps {
		clock.step(by)
		if wait := s.wait(t); wait != 0 {
			t.Errorf("the clock was set by %v: an idle site quotes %v", by, wait)
		}
	}
	tag := s.submit(t, guest(t, waitsForGo))
	s.awaitRunning(t, tag)
	last := s.wait(t)
	check := func(what string, by protocol.Duration) {
		t.Helper()
		wait := s.wait(t)
		if wait > last || wait < last-30*protocol.Second {
			t.Errorf("%s, the clock was set by %v: the job is taken to run for another %v, before for %v", what, by, wait, last)
		}
		last = wait
	}
	for _, by := range steps {
		clock.step(by)
		check("while the peer ran", by)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		clock.step(by)
		s.open(t)
		check("while the peer was away", by)
	}
	s.letGo(t, tag)
	if got := s.awaitEnd(t, tag); got.State != protocol.Completed {
		t.Errorf("got %+v", got)
	}
	clock.step(-2 * protocol.Hour)
	if wait := s.wait(t); wait != 0 {
		t.Errorf("when the clock was set back behind the end of its last job, an idle site quotes %v", wait)
	}
}

// TestClockSetAsJobsWait: what waits keeps what it was promised and how long it has waited, also
// over a restart, and nobody hears that it waits once more.
func TestClockSetAsJobsWait(t *testing.T) {
	t.Parallel()
	s, clock := openWithClock(t, func(c *process.Config) { c.Policy = engine.Conservative() })
	first := s.submit(t, guest(t, waitsForGo))
	s.awaitRunning(t, first)
	second, third := s.submit(t, guest(t, "true")), s.submit(t, guest(t, "true"))
	last := s.wait(t)
	check := func(by protocol.Duration) {
		t.Helper()
		clock.step(by)
		wait := s.wait(t)
		if wait > last || wait < last-30*protocol.Second {
			t.Errorf("the clock was set by %v: behind all three a job waits %v, before %v", by, wait, last)
		}
		last = wait
	}
	var kept []protocol.Duration // by the steady clock
	for _, by := range steps {
		check(by)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		record := s.promised(t)
		var starts []protocol.Duration
		for _, one := range record.Jobs {
			starts = append(starts, one.Start.Sub(record.Zero))
		}
		if kept == nil {
			kept = starts
		}
		if len(kept) != 2 || !slices.Equal(starts, kept) {
			t.Errorf("the clock was set by %v: promised is %v, before %v", by, starts, kept)
		}
		clock.step(-by) // to the time that shims have
		s.open(t)
		check(0)
	}
	check(protocol.Hour)
	check(-protocol.Hour)
	s.letGo(t, first)
	s.awaitEnd(t, second)
	s.awaitEnd(t, third)
	pending := 0
	for _, c := range s.seen {
		if c.State == protocol.Pending {
			pending++
		}
		if out := c.Outcome; c.State.Terminal() && (out.Waited < 0 || out.Waited > protocol.Minute) {
			t.Errorf("job %v is said to have waited %v", c.Tag, out.Waited)
		}
	}
	if pending != 2 {
		t.Errorf("it was reported %d times that two jobs wait", pending)
	}
}

// TestClockSetPastTheHours: a budget of hours follows the clock at once.
func TestClockSetPastTheHours(t *testing.T) {
	t.Parallel()
	peak, err := power.NewSignal([]power.Step{
		{At: 0, Limit: 0}, {At: protocol.InstantOf(time.Now()).Add(protocol.Hour), Limit: power.Unlimited},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, clock := openWithClock(t, func(c *process.Config) { c.Budget = engine.Budget{Signal: peak, Rates: power.Rates{Busy: 1000}} })
	tag := s.submit(t, guest(t, "true"))
	if wait := s.wait(t); wait < 30*protocol.Minute {
		t.Errorf("on-peak a job waits %v", wait)
	}
	clock.step(2 * protocol.Hour)
	if got := s.awaitEnd(t, tag); got.State != protocol.Completed {
		t.Errorf("got %+v", got)
	}
}

// TestHoldsFollowTheClock: room that is held from an instant on is held from that instant on,
// however far that is now.
func TestHoldsFollowTheClock(t *testing.T) {
	t.Parallel()
	s, clock := openWithClock(t, nil)
	job := guest(t, "true")
	at := s.reserve(t, holdOf(job, time.Hour))
	s.submit(t, job)
	before := s.wait(t)
	if before != 0 {
		t.Errorf("long before the hold a job waits %v", before)
	}
	clock.step(protocol.Hour - 30*protocol.Second) // no time for a job of a minute before it
	if wait := s.wait(t); wait < protocol.Minute || wait > 90*protocol.Second {
		t.Errorf("shortly before the hold at %v a job waits %v", at.Time(), wait)
	}
	clock.step(protocol.Minute)
	if got := s.awaitEnd(t, job.Tag); got.State != protocol.Completed {
		t.Errorf("got %+v", got)
	}
}

// TestLimitOfAStoppedShim has shims stopped until their jobs have run for longer than they may:
// who then asks for the end of a job hears that it was for its limit.
func TestLimitOfAStoppedShim(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	const most = 500 * protocol.Millisecond
	for range 6 {
		job := guest(t, "sleep 600")
		job.Spec.WallTime = most
		tag := s.submit(t, job)
		started := s.awaitRunning(t, tag).Started
		// On a slow machine the job may have reached its limit, and its shim have ended, by now.
		if err := syscall.Kill(s.shimOf(t, tag), syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		eventually(t, "the limit is reached", func() bool { return protocol.InstantOf(time.Now()) > started.Add(most+1) })
		if err := s.Kill(t.Context(), tag); err != nil {
			t.Fatal(err)
		}
		if got := s.awaitEnd(t, tag); got.State != protocol.Timeout {
			t.Errorf("got %v: %s", got.State, got.Reason)
		}
	}
}
