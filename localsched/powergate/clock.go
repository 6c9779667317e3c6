package powergate

import (
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// lookAtClock is how often the driver looks at least whether the clock was set.
const lookAtClock = 5 * time.Second

// now is the time for the engine: the wall clock's. When that was set, the engine is made anew
// first, so that the caller must not be in the midst of anything: what has a duration goes on as
// if nothing had happened, and the hours of the budget are those of the clock. The lock is held.
func (g *Gate) now() protocol.Instant {
	now, stepped := g.clock.Now()
	if stepped != 0 && g.restored {
		g.config.Log.Info("planned_anew", "why", "the clock was set", "by", stepped.String())
		g.replanned(g.driver.ClockSet(now, stepped))
	}
	return now
}

// time is now for who does not hold the lock.
func (g *Gate) time() protocol.Instant {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now()
}
