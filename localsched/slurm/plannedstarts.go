package slurm

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var _ localsched.StartPlanner = (*Scheduler)(nil)

// PlannedStarts implements [localsched.StartPlanner]: the starts that squeue --start states, and where Slurm states none,
// as of jobs that its backfill scheduler has not reached, those of the plan that quotes are made from. They are as old
// as the last look at the queue.
func (s *Scheduler) PlannedStarts(ctx context.Context, tags []protocol.Tag) ([]localsched.PlannedStart, error) {
	seen, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}
	var planned []localsched.PlannedStart
	for i, e := range s.waiting(seen, tags) {
		if e == nil {
			continue
		}
		if start, known := seen.plannedStart(e); known {
			planned = append(planned, localsched.PlannedStart{Tag: tags[i], Start: start})
		}
	}
	return planned, nil
}

// plannedStart is when a job that waits is planned to start; false: it is not, or no start is in sight.
func (s *snapshot) plannedStart(e *entry) (protocol.Instant, bool) {
	if e.start != 0 {
		return e.start, true
	}
	return s.plan.startOf(e)
}

// waiting are the entries of jobs in the order of their tags; nil: the job does not wait in Slurm's queue.
func (s *Scheduler) waiting(seen *snapshot, tags []protocol.Tag) []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make([]*entry, len(tags))
	for i, tag := range tags {
		j := s.jobs[tag]
		if j == nil || j.state != queued {
			continue
		}
		if e := seen.of(j.name, j.record.Account.UID, j.native, j.claim); e != nil && e.waits() {
			found[i] = e
		}
	}
	return found
}
