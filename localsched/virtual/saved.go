package virtual

import (
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Saved is what a system would have on disk at some time, but for advance reservations.
type Saved[T any] struct {
	feed *changefeed.Feed
	jobs []Job[T]
	seq  uint64
}

// Save is what the system has now.
func (s *System[T]) Save() Saved[T] {
	saved := Saved[T]{feed: s.feed.Clone(), seq: s.seq}
	for _, j := range s.Jobs() {
		saved.jobs = append(saved.jobs, j.clone())
	}
	return saved
}

func (j *Job[T]) clone() Job[T] {
	c := *j
	c.Reported = j.Reported.Clone()
	return c
}

// Open returns a system that finds what another one had saved: what is pending is so in the
// same order, and what has ended is known. How a job ended that ran is what lost says of it; one
// of which it says nothing is not known any more.
func Open[T any](machine engine.Machine, rules driver.Rules, saved Saved[T], lost func(*Job[T]) protocol.Outcome, runner Runner[T]) (*System[T], error) {
	s := newSystem(runner)
	s.feed, s.seq = saved.feed.Clone(), saved.seq
	s.driver = driver.New(machine, rules, s.feed)
	for i := range saved.jobs {
		j := saved.jobs[i].clone()
		if j.State == protocol.Running {
			outcome := lost(&j)
			if outcome.State == 0 {
				continue
			}
			s.setEnded(&j, outcome)
		}
		s.jobs[j.Tag] = &j
		if j.pending() {
			s.driver.Add(&j.Job, false)
		}
	}
	s.driver.Rebuild(runner.Now(), nil)
	return s, s.carryOut()
}
