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
	if stepped != 0 && s.engine != nil {
		s.replan(now, stepped)
	}
	return now
}

// replan plans for a clock that was set. What has a duration goes on as if nothing had
// happened: jobs run and wait as long as before, so that their limits, and the starts that were
// promised, move with the clock. What is an instant stays: holds, and the hours of a budget.
func (s *Scheduler) replan(now protocol.Instant, stepped protocol.Duration) {
	s.config.Log.Info("planned_anew", "why", "the clock was set", "by", stepped.String())
	promised := s.engine.Promised()
	for i := range promised {
		promised[i].Start = promised[i].Start.Add(stepped)
	}
	for _, j := range s.jobs {
		if j.state == queued {
			j.submitted = j.submitted.Add(stepped)
		}
	}
	s.plan(now, promised)
}
