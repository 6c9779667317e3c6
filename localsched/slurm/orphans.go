package slurm

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// orphan is a job of Slurm's that may still wait in its queue, or come late, though
// it will find nothing to run.
type orphan struct {
	name  string
	uid   uint32
	until time.Time
}

// orphanTime is how long the queue is watched for a stray.
const orphanTime = 10 * time.Minute

// watchOrphan has the queue watched for a job that was withdrawn or dropped.
func (s *Scheduler) watchOrphan(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orphans = append(s.orphans, orphan{name: j.name, uid: j.owner().UID, until: time.Now().Add(orphanTime)})
}

// clearOrphans has Slurm's queue cleared of what is left of an earlier submission of a job, which
// was withdrawn and forgotten: a cancellation that is under way by the name, which is the same,
// would take the new one along.
func (s *Scheduler) clearOrphans(ctx context.Context, j *job, uid uint32) error {
	mine := func(one orphan) bool { return one.name == j.name && one.uid == uid }
	s.mu.Lock()
	known := slices.ContainsFunc(s.orphans, mine)
	s.mu.Unlock()
	for known {
		s.cancelAll(ctx)
		entries, err := s.commands.queue(ctx)
		if err != nil {
			return fmt.Errorf("see whether Slurm still has job %v from before it was withdrawn: %w", j.tag, err)
		}
		known = slices.ContainsFunc(entries, func(e entry) bool { return e.name == j.name && e.uid == uid && !e.over() })
		if !known {
			break
		}
		s.cancel(cancellation{tag: j.tag, name: j.name, uid: uid})
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until Slurm has given up job %v, which was withdrawn before: %w", j.tag, ctx.Err())
		case <-time.After(s.config.Poll):
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orphans = slices.DeleteFunc(s.orphans, mine)
	return nil
}

// sweepOrphans takes strays that wait out of Slurm's queue.
func (s *Scheduler) sweepOrphans(seen *snapshot) {
	s.mu.Lock()
	s.orphans = slices.DeleteFunc(s.orphans, func(one orphan) bool { return time.Now().After(one.until) })
	strays := slices.Clone(s.orphans)
	s.mu.Unlock()
	for _, one := range strays {
		waits := func(e entry) bool { return e.uid == one.uid && e.waits() }
		if slices.ContainsFunc(seen.own[one.name], waits) {
			tag, _ := parseName(s.config.Site, one.name)
			s.cancel(cancellation{tag: tag, name: one.name, uid: one.uid})
		}
	}
}
