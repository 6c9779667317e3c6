package wallclock_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestClockFollows sets the wall clock, and lets time go by.
func TestClockFollows(t *testing.T) {
	t.Parallel()
	const begin = protocol.Instant(1_800_000_000_000)
	r := wallclock.Reading{Wall: begin, Steady: 5000}
	c := wallclock.New(func() wallclock.Reading { return r })
	for i, step := range []struct {
		pass, set protocol.Duration // what goes by, and by how much the wall clock is set
		now       protocol.Instant
		stepped   protocol.Duration
	}{
		{0, 0, begin, 0},
		{protocol.Minute, 0, begin.Add(protocol.Minute), 0},
		{0, 2 * protocol.Hour, begin.Add(protocol.Minute + 2*protocol.Hour), 2 * protocol.Hour},
		{protocol.Second, 0, begin.Add(protocol.Minute + 2*protocol.Hour + protocol.Second), 0},
		{protocol.Second, -2 * protocol.Hour, begin.Add(protocol.Minute + 2*protocol.Second), -2 * protocol.Hour},
		{0, 499, begin.Add(protocol.Minute + 2*protocol.Second), 0},
		{0, -998, begin.Add(protocol.Minute + 2*protocol.Second), 0},
		{0, -1, begin.Add(protocol.Minute + 2*protocol.Second - 500), -500}, // small ones add up
	} {
		r.Steady += step.pass
		r.Wall = r.Wall.Add(step.pass).Add(step.set)
		if now, stepped := c.Now(); now != step.now || stepped != step.stepped {
			t.Errorf("%d: got %d after the beginning, set by %v, want %d, %v", i, now-begin, stepped, step.now-begin, step.stepped)
		}
	}
}

// TestClockIsSteady: whatever the wall clock does, what is so long after something stays so, the
// clock is never farther from the wall clock than it tolerates, and it goes back only when it
// says so.
func TestClockIsSteady(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := wallclock.Reading{Wall: 1_800_000_000_000, Steady: 1}
		c := wallclock.New(func() wallclock.Reading { return r })
		last, _ := c.Now()
		moved := protocol.Duration(0)
		first := r.Steady
		begin := c.Instant(first)
		for range rapid.IntRange(1, 50).Draw(t, "readings") {
			pass := protocol.Duration(rapid.IntRange(0, 10_000).Draw(t, "pass"))
			r.Steady += pass
			r.Wall = r.Wall.Add(pass).Add(protocol.Duration(rapid.IntRange(-3000, 3000).Draw(t, "set")))
			now, stepped := c.Now()
			moved += stepped
			if want := last.Add(pass + stepped); now != want {
				t.Fatalf("after %v, set by %v, it is %d, want %d", pass, stepped, now, want)
			}
			if off := r.Wall.Sub(now); off >= wallclock.Tolerance || off <= -wallclock.Tolerance {
				t.Fatalf("the wall clock is %v ahead", off)
			}
			if c.Instant(first) != begin.Add(moved) || c.Steady(now) != r.Steady {
				t.Fatalf("the beginning is now at %d, after %v; the steady clock said %v", c.Instant(first), moved, c.Steady(now))
			}
			last = now
		}
	})
}

// TestSystem: the clocks of the machine go, at one pace, and two who read them agree.
func TestSystem(t *testing.T) {
	t.Parallel()
	one, two := wallclock.System(), wallclock.System()
	for range 1000 {
		a, b, c := one(), two(), one()
		if a.Steady > b.Steady+1 || b.Steady > c.Steady+1 || a.Steady < 1 {
			t.Fatalf("the steady clock says %v, %v, %v", a.Steady, b.Steady, c.Steady)
		}
		if off := time.Until(a.Wall.Time()); off > time.Minute || off < -time.Minute {
			t.Fatalf("the wall clock is off by %v", off)
		}
	}
}
