// Package wallclock tells the time by a clock that may be set while the program runs.
//
// A machine has two clocks. The wall clock says which instant it is, and may be set: by NTP
// after the start, by hand, or when a virtual machine goes on after a pause. The steady clock
// says how much time has gone by since the machine was started; it is never set, and it stands
// while the machine is suspended. Time-outs belong to the steady clock, and what people and
// other sites mean by an instant to the wall clock.
//
// A [Clock] has the instants of the wall clock at the pace of the steady one. It says when
// the wall clock was set, so that whoever keeps instants can move those that mean "so long
// after something" and leave those that mean a time of day.
package wallclock

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tolerance is how far the wall clock may be from a [Clock] before that follows it. Readings of
// the two clocks on a busy machine differ by less, and NTP makes smaller corrections without
// setting the clock.
const Tolerance = 500 * protocol.Millisecond

// Reading is what both clocks say at one moment.
type Reading struct {
	Wall   protocol.Instant
	Steady protocol.Duration // since the machine was started, without the time for which it was suspended
}

// Source reads both clocks. The steady one never goes back.
type Source func() Reading

// System reads the clocks of this machine. All processes since it was started have the same
// steady clock.
func System() Source {
	steady, base := began()
	return func() Reading {
		const rounds = 10
		before := time.Now()
		for range rounds {
			now := time.Now() // the wall clock is read first, then the steady one
			if now.Sub(before) < interrupted {
				before = now
				break
			}
			before = now
		}
		return Reading{Wall: protocol.InstantOf(before), Steady: protocol.Duration((steady + before.Sub(base)).Milliseconds())}
	}
}

// interrupted is how long two readings of a clock, one after the other, take only if this
// process was put off in between.
const interrupted = time.Millisecond

// began reads the steady clock as all processes see it, and what Go makes of it at that moment.
func began() (steady time.Duration, base time.Time) {
	const rounds = 10
	for range rounds {
		var now unix.Timespec
		base = time.Now()
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // every Linux has it
		if steady = time.Duration(now.Nano()); time.Since(base) < interrupted {
			break
		}
	}
	return steady, base
}

// Clock has the pace of the steady clock and the instants of the wall clock. It is not safe for
// use from several goroutines.
type Clock struct {
	read   Source
	offset protocol.Duration // from the steady clock to the instants
}

// New returns a clock that shows what the wall clock does; nil is [System].
func New(read Source) *Clock {
	if read == nil {
		read = System()
	}
	now := read()
	return &Clock{read: read, offset: protocol.Duration(now.Wall) - now.Steady}
}

// Now is the present instant. Stepped is by how much the wall clock was set since the last
// call, forward or, negative, back; 0: by less than the [Tolerance]. While it is 0, instants
// never decrease. A machine that was suspended is seen as one whose clock was set forward.
func (c *Clock) Now() (now protocol.Instant, stepped protocol.Duration) {
	r := c.read()
	if off := r.Wall.Sub(c.Instant(r.Steady)); off >= Tolerance || off <= -Tolerance {
		c.offset += off
		stepped = off
	}
	return c.Instant(r.Steady), stepped
}

// Instant is the instant of a reading of the steady clock, by what the wall clock has shown
// since it was last set.
func (c *Clock) Instant(steady protocol.Duration) protocol.Instant {
	return protocol.Instant(steady + c.offset)
}

// Steady is the reading of the steady clock at an instant, by the same offset.
func (c *Clock) Steady(at protocol.Instant) protocol.Duration {
	return protocol.Duration(at) - c.offset
}
