package node

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	// lookAtClock is how often it is looked whether the clock was set.
	lookAtClock = time.Second
	// noteworthy is by how much the clock must be set for people to hear of it, and noteFor for
	// how long they do.
	noteworthy = 5 * protocol.Second
	noteFor    = protocol.Day
	// After a step of leap or more nothing is dropped by its age for mistrust: the clock may be
	// wrong now, and there is time to notice.
	leap     = protocol.Day
	mistrust = 7 * protocol.Day
)

// clock is the time of the core: the wall clock's, but it never runs back.
//
// When the wall clock is set forward, or the machine was suspended, it follows at once, so that
// what it says is right again; the core gets [event.ClockSet], so that nothing seems overdue.
// When the wall clock is set back, it goes on at half its pace until that has caught up: order
// is kept, and time-outs still come, late. Until then it is ahead.
type clock struct {
	log *slog.Logger

	mu      sync.Mutex
	wall    *wallclock.Clock
	slow    slowed
	skipped protocol.Duration // forward, not yet reported to the core
	last    setting
	leapt   setting // the last one forward by a leap or more
}

// slowed is a time at half the pace of the steady clock. The zero slowed is over.
type slowed struct {
	from  protocol.Instant
	since protocol.Duration // by the steady clock
}

func (s slowed) at(steady protocol.Duration) protocol.Instant {
	return s.from.Add((steady - s.since) / 2)
}

// reaches is when it comes to an instant, by the steady clock.
func (s slowed) reaches(at protocol.Instant) protocol.Duration { return s.since + 2*at.Sub(s.from) }

// setting is a time at which the wall clock was set.
type setting struct {
	by     protocol.Duration // forward, or negative, back; 0: never
	to     protocol.Instant
	steady protocol.Duration
}

func newClock(source wallclock.Source, log *slog.Logger) *clock {
	return &clock{wall: wallclock.New(source), log: log}
}

// now is the present instant.
func (c *clock) now() protocol.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, _ := c.read()
	return now
}

// step is now, and how much of the time since the last step has not gone by.
func (c *clock) step() (now protocol.Instant, skipped protocol.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, _ = c.read()
	skipped, c.skipped = c.skipped, 0
	return now, skipped
}

// look says whether [event.ClockSet] is due to the core.
func (c *clock) look() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	return c.skipped > 0
}

// until is how long to sleep for an instant, at least 0. It never ends early, unless the wall
// clock is set forward.
func (c *clock) until(at protocol.Instant) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, steady := c.read()
	due := c.wall.Steady(at)
	if c.slow != (slowed{}) {
		due = min(due, c.slow.reaches(at))
	}
	return max(0, due-steady).Std()
}

// read reads the clocks. The lock is held.
func (c *clock) read() (now protocol.Instant, steady protocol.Duration) {
	wall, stepped := c.wall.Now()
	steady = c.wall.Steady(wall)
	before := c.at(wall.Add(-stepped), steady)
	if stepped < 0 {
		c.slow = slowed{from: before, since: steady}
	}
	now = c.at(wall, steady)
	if stepped != 0 {
		c.skipped += now.Sub(before)
		c.wasSet(setting{by: stepped, to: wall, steady: steady}, now.Sub(wall))
	}
	if now == wall {
		c.slow = slowed{}
	}
	return now, steady
}

// at is the instant for readings of both clocks.
func (c *clock) at(wall protocol.Instant, steady protocol.Duration) protocol.Instant {
	if c.slow == (slowed{}) {
		return wall
	}
	return max(wall, c.slow.at(steady))
}

// wasSet notes that the wall clock was set.
func (c *clock) wasSet(s setting, ahead protocol.Duration) {
	if s.by >= leap {
		c.leapt = s
	}
	if s.by < noteworthy && s.by > -noteworthy {
		c.log.Info("clock_set", "by", s.by.String())
		return
	}
	c.last = s
	advice := "none: it is followed; the machine may have been suspended"
	if ahead > 0 {
		advice = "the peer's time goes at half its pace until the clock has caught up; to end that at once, start the peer again"
	}
	c.log.Warn("clock_set", "by", s.by.String(), "to", s.to.Time(), "ahead", ahead.String(), "advice", advice)
}

// trusted says whether what is old by the clock may be dropped.
func (c *clock) trusted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, steady := c.read()
	return c.leapt.by == 0 || steady-c.leapt.steady >= mistrust
}

// note says for people what they should know of the clock; empty: nothing.
func (c *clock) note() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, steady := c.read()
	wall := c.wall.Instant(steady)
	const minutes = "2006-01-02 15:04Z"
	switch ahead := now.Sub(wall); {
	case ahead >= noteworthy:
		return fmt.Sprintf("the clock was set back, at %s by %s: the time of this peer is %s ahead of it, and goes at half its pace until %s;"+
			" to end that at once, start the peer again",
			c.last.to.Time().Format(minutes), (-c.last.by).Text(), ahead.Text(), wall.Add(2*ahead).Time().Format(minutes))
	case c.last.by > 0 && steady-c.last.steady < noteFor:
		return fmt.Sprintf("the clock was set forward by %s to %s, or the machine was suspended", c.last.by.Text(), c.last.to.Time().Format(minutes))
	case c.last.by < 0 && steady-c.last.steady < noteFor:
		return fmt.Sprintf("the clock was set back by %s to %s", (-c.last.by).Text(), c.last.to.Time().Format(minutes))
	}
	return ""
}

// watchClock has the core hear of it when the clock was set forward, until ctx ends.
func (n *Node) watchClock(ctx context.Context) {
	ticker := time.NewTicker(lookAtClock)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if n.clock.look() {
				n.post(event.Tick{})
			}
		}
	}
}

// ClockNote says for people what they should know of the machine's clock; empty: nothing.
func (n *Node) ClockNote() string { return n.clock.note() }
