package node_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// machine has clocks that the test sets.
type machine struct {
	now wallclock.Reading
}

func (m *machine) read() wallclock.Reading { return m.now }

func (m *machine) pass(d protocol.Duration) {
	m.now.Steady += d
	m.now.Wall = m.now.Wall.Add(d)
}

const noon = protocol.Instant(1_795_348_800_000) // 2026-11-22 12:00Z

// TestTimeOfTheCore sets the wall clock at will: the time of the core never runs back, is the wall
// clock's unless that was set back, and catches up else; it skips only what the wall clock does.
func TestTimeOfTheCore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{wallclock.Reading{Wall: noon, Steady: 1000}}
		c := node.NewClock(m.read)
		last, _ := c.Step()
		gone, skipped := protocol.Duration(0), protocol.Duration(0)
		first := last
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			d := protocol.Duration(rapid.SampledFrom([]int64{0, 1, 300, 7_000, 3_600_000}).Draw(t, "pass"))
			ahead := last.Sub(m.now.Wall) >= wallclock.Tolerance
			m.pass(d)
			gone += d
			set := rapid.IntRange(0, 3).Draw(t, "set") == 0
			if set {
				m.now.Wall = m.now.Wall.Add(protocol.Duration(rapid.SampledFrom([]int64{-200, 200, -3_000, 3_000, -7_200_000, 7_200_000}).Draw(t, "by")))
			}
			now, jumped := c.Step()
			skipped += jumped
			behind := m.now.Wall.Sub(now)
			switch {
			case now < last:
				t.Fatalf("it runs back by %v", last.Sub(now))
			case behind >= wallclock.Tolerance:
				t.Fatalf("it is %v behind the wall clock", behind)
			case jumped < 0:
				t.Fatalf("it has skipped %v", jumped)
			case now.Sub(first) > gone+skipped:
				t.Fatalf("after %v, of which %v skipped, %v have gone by", gone+skipped, skipped, now.Sub(first))
			case ahead && !set && behind <= -wallclock.Tolerance && now.Sub(last) > d/2+1:
				t.Fatalf("it is %v ahead, and has gone by %v in %v", -behind, now.Sub(last), d)
			}
			at := now.Add(protocol.Duration(rapid.Int64Range(0, 20_000_000).Draw(t, "instant")))
			wait := protocol.DurationOf(c.Until(at))
			m.pass(wait)
			gone += wait
			if last, jumped = c.Step(); last < at || last > at.Add(1) && wait > 0 || jumped != 0 {
				t.Fatalf("after %v it is %v past the instant that was waited for", wait, last.Sub(at))
			}
		}
	})
}

// TestTimeCatchesUp: after the clock was set back by an hour, two hours bring the time of the core
// back to it. The log says so.
func TestTimeCatchesUp(t *testing.T) {
	t.Parallel()
	m := &machine{wallclock.Reading{Wall: noon, Steady: 1000}}
	c := node.NewClock(m.read)
	if note := c.Note(); note != "" {
		t.Errorf("of a clock that nobody has set is said %q", note)
	}
	m.now.Wall = noon.Add(-protocol.Hour)
	m.pass(0)
	if note := c.Note(); note != "the clock was set back, at 2026-11-22 11:00Z by 1:00:00: the time of this peer is 1:00:00 ahead of it,"+
		" and goes at half its pace until 2026-11-22 13:00Z; to end that at once, start the peer again" {
		t.Errorf("it says %q", note)
	}
	m.pass(protocol.Hour)
	if now, _ := c.Step(); now != noon.Add(protocol.Hour/2) {
		t.Errorf("half way it is %v", now.Time())
	}
	m.pass(protocol.Hour)
	if now, _ := c.Step(); now != m.now.Wall {
		t.Errorf("in the end it is %v", now.Time())
	}
	if note := c.Note(); note != "the clock was set back by 1:00:00 to 2026-11-22 11:00Z" {
		t.Errorf("then it says %q", note)
	}
	m.now.Wall = m.now.Wall.Add(2 * protocol.Minute)
	if note := c.Note(); note != "the clock was set forward by 0:02:00 to 2026-11-22 13:02Z, or the machine was suspended" {
		t.Errorf("it says %q", note)
	}
	m.now.Wall = m.now.Wall.Add(protocol.Second)
	if note := c.Note(); !strings.Contains(note, "0:02:00") {
		t.Errorf("after a step of a second it says %q", note)
	}
	m.pass(protocol.Day)
	if note := c.Note(); note != "" {
		t.Errorf("a day later it says %q", note)
	}
}

// timed is a machine that notes when it was stepped, and asks to be woken.
type timed struct {
	mu    sync.Mutex
	steps []timedStep
	wake  func(now protocol.Instant, ev event.Event) protocol.Instant
}

type timedStep struct {
	now   protocol.Instant
	event event.Event
	at    time.Time
}

func (c *timed) core() *script {
	return &script{step: func(now protocol.Instant, ev event.Event) event.Ready {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.steps = append(c.steps, timedStep{now, ev, time.Now()})
		return event.Ready{Wake: c.wake(now, ev)}
	}}
}

func (c *timed) seen() []timedStep {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps
}

// set is an option: the machine's clocks, of which the wall clock is ahead by what by says.
func set(by func() protocol.Duration) option {
	system := wallclock.System()
	return func(cfg *node.Config) {
		cfg.Clock = func() wallclock.Reading {
			now := system()
			now.Wall = now.Wall.Add(by())
			return now
		}
	}
}

// TestNodeReportsTheClock sets the clock of an idle node forward: its machine hears of it within
// about a second, and only then of the time.
func TestNodeReportsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ahead := func() protocol.Duration {
			if time.Since(begin) < time.Minute {
				return 0
			}
			return 2 * protocol.Hour
		}
		c := &timed{wake: func(protocol.Instant, event.Event) protocol.Instant { return 0 }}
		r := start(t, c.core(), set(ahead))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		steps := c.seen()
		if len(steps) != 3 {
			t.Fatalf("steps: %+v", steps)
		}
		reported, tick := steps[1], steps[2]
		if reported.event != (event.ClockSet{By: 2 * protocol.Hour}) || tick.event != (event.Tick{}) {
			t.Errorf("it is told %+v and %+v", reported.event, tick.event)
		}
		if late := reported.at.Sub(begin) - time.Minute; late > 2*time.Second {
			t.Errorf("it is told after %v", late)
		}
		if want := protocol.InstantOf(reported.at).Add(2 * protocol.Hour); reported.now != want || tick.now != want {
			t.Errorf("it is %d and %d then, want %d", reported.now, tick.now, want)
		}
		if note := r.ClockNote(); !strings.Contains(note, "set forward by 2:00:00") {
			t.Errorf("people are told %q", note)
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

// TestNodeBehindTheClock sets the clock back: the machine is woken for its instants all the same,
// after twice the time, and no step is before the last.
func TestNodeBehindTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ahead := func() protocol.Duration {
			if time.Since(begin) < 100*time.Second {
				return 0
			}
			return -protocol.Hour
		}
		c := &timed{}
		c.wake = func(now protocol.Instant, _ event.Event) protocol.Instant { return now.Add(protocol.Minute) }
		r := start(t, c.core(), set(ahead))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		last := protocol.Instant(0)
		woken := 0
		for _, step := range c.seen() {
			if step.now < last {
				t.Errorf("it is %v earlier than before", last.Sub(step.now))
			}
			if step.now > last {
				woken++
			}
			last = step.now
		}
		// At once, after a minute, after another one, which is too early by then, and every two.
		if woken != 7 {
			t.Errorf("it was woken %d times: %+v", woken, c.seen())
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

// TestNothingIsDroppedByAWrongClock sets the clock forward by a year, when all jobs seem old.
func TestNothingIsDroppedByAWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := protocol.Duration(0)
		memory := newMemory()
		for i := range protocol.Instant(10) {
			memory.apply(finishedJob(t, protocol.JobID(1000+i), protocol.InstantOf(time.Now())-i))
		}
		cfg := liveConfig(memory)
		set(func() protocol.Duration { return by })(&cfg)
		n, err := node.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			by   protocol.Duration
			wait time.Duration
			left int
		}{{0, time.Hour, 10}, {365 * protocol.Day, time.Hour, 10}, {0, 6 * 24 * time.Hour, 10}, {0, 24 * time.Hour, 0}} {
			by += step.by
			time.Sleep(step.wait)
			if n.PruneOnce(t.Context()); count(t, memory, "archive") != step.left {
				t.Errorf("%v after the clock was set by %v, %d jobs are left, want %d", step.wait, step.by, count(t, memory, "archive"), step.left)
			}
		}
	})
}
