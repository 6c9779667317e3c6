package slurm

import (
	"slices"
	"time"
)

// stray is a job of Slurm's that may still wait in its queue, or come late, though
// it will find nothing to run.
type stray struct {
	name  string
	uid   uint32
	until time.Time
}

// strayTime is how long the queue is watched for a stray.
const strayTime = 10 * time.Minute

// stray has the queue watched for a job that was withdrawn or dropped.
func (s *Scheduler) stray(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strays = append(s.strays, stray{name: j.name, uid: j.owner().UID, until: time.Now().Add(strayTime)})
}

// sweepStrays takes strays that wait out of Slurm's queue.
func (s *Scheduler) sweepStrays(seen *sight) {
	s.mu.Lock()
	s.strays = slices.DeleteFunc(s.strays, func(one stray) bool { return time.Now().After(one.until) })
	strays := slices.Clone(s.strays)
	s.mu.Unlock()
	for _, one := range strays {
		waits := func(e entry) bool { return e.uid == one.uid && e.waits() }
		if slices.ContainsFunc(seen.own[one.name], waits) {
			tag, _ := parseName(s.config.Site, one.name)
			s.cancel(cancellation{tag: tag, name: one.name, uid: one.uid})
		}
	}
}
