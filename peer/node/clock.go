package node

import (
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// clock gives instants that never decrease: the wall time of its making plus the
// monotonic time since. Setting the system's clock does not touch it.
type clock struct {
	wall  protocol.Instant
	start time.Time
}

func newClock() clock {
	now := time.Now()
	return clock{wall: protocol.InstantOf(now), start: now}
}

func (c clock) now() protocol.Instant {
	return c.wall.Add(protocol.Duration(time.Since(c.start).Milliseconds()))
}

// until is how long to sleep for an instant, at least 0. It never ends early.
func (c clock) until(at protocol.Instant) time.Duration {
	return max(0, at.Sub(c.wall).Std()-time.Since(c.start))
}
