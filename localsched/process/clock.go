package process

import (
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// lookAtClock is how often the driver looks at least whether the clock was set.
const lookAtClock = 5 * time.Second

// now is the time for the engine: the wall clock's. When that was set, all is planned anew
// first, so that the caller must not be in the midst of anything. The lock is held.
func (s *Scheduler) now() protocol.Instant {
	now, stepped := s.clock.Now()
	if stepped != 0 && s.driver != nil {
		s.config.Log.Info("planned_anew", "why", "the clock was set", "by", stepped.String())
		s.replanned(s.driver.ClockSet(now, stepped))
	}
	return now
}
