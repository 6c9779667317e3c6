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
		if !slices.ContainsFunc(seen.own[one.name], waits) {
			continue
		}
		s.driver.Go(func() {
			if err := s.cancelStray(one); err != nil && s.ctx.Err() == nil {
				s.config.Log.Warn("stray_job_still_queued", "name", one.name, "error", err)
			}
		})
	}
}

// cancelStray takes a stray out of Slurm's queue, unless its tag has come again
// meanwhile and has a job of the same name there. While it does so, none can come.
func (s *Scheduler) cancelStray(one stray) error {
	tag, _ := parseName(s.config.Site, one.name)
	j, err := s.take(s.ctx, tag)
	if err != nil {
		return err
	}
	defer j.release()
	switch s.stateOf(j) {
	case making:
		defer s.drop(j)
	case withdrawn:
	case unsettled, queued, running, ended:
		return nil
	}
	return s.commands.cancelPending(s.ctx, one.name, one.uid)
}
