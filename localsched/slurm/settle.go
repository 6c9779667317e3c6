package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// enter gives an unsettled job to Slurm. Unless Slurm says clearly that it has
// taken or refused it, the queue is asked.
func (s *Scheduler) enter(ctx context.Context, j *job) error {
	err := s.sbatch(ctx, j)
	if err == nil {
		return nil
	}
	if refused, ok := refusal(err); ok {
		if started, gone := s.discardUnsettled(j); started || gone != nil {
			return gone
		}
		return refused
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Timeout)
	defer cancel()
	if unclear := s.lookUpUnsettled(asking, j); unclear != nil {
		return fmt.Errorf("submit job %v: whether Slurm has taken it is not known: %w", j.tag, err)
	}
	if s.stateOf(j) != unsettled {
		return nil
	}
	if started, gone := s.discardUnsettled(j); started || gone != nil {
		return gone
	}
	return fmt.Errorf("submit job %v: %w", j.tag, err)
}

// sbatch submits the job's wrapper and notes Slurm's number.
func (s *Scheduler) sbatch(ctx context.Context, j *job) error {
	seen, err := s.fresh(ctx)
	if err != nil {
		return err
	}
	of := j.record.Submission.Spec.Association
	w := seen.admitted(j.record.Submission.Spec.Request, of.Partition)
	if len(w.partitions) == 0 {
		return &localsched.RefusedError{Reason: seen.refuses(w.Request, of.Partition)}
	}
	held := s.inReservation(j.tag)
	where, guess := w.partitions[:1], estimates{} // a reservation is made in the first
	if len(held) == 0 {
		where, guess = s.where(seen, w, of)
	}
	submit := func(where []*partition, more []string) (uint32, error) {
		args := s.shapeFor(w.Request, strings.Join(namesOf(where), ","), seen.machine, of)
		return s.commands.sbatch(ctx, j.dir, j.record, j.name, slices.Concat(more, args))
	}
	id, err := submit(where, held)
	if _, refused := refusal(err); refused && len(where) > 1 { // one of them may not be for this account
		id, err = submit(where[:1], held)
	}
	if len(held) > 0 && says(err, []string{noReservation}) {
		s.config.Log.Error("reservation_is_gone", "job", j.tag.String(), "advice", "the job waits as others do; see who has deleted its reservation")
		id, err = submit(where, nil)
	}
	if err != nil {
		return err
	}
	return s.acknowledge(j, native{ID: id}, guess)
}

// where is in which partitions a job may start: the one in which it would start first, then
// the others that admit it, of which Slurm takes the first that has room. Slurm gives a job
// whole nodes everywhere if one of its partitions does: these are not mixed.
func (s *Scheduler) where(seen *snapshot, w admittedJob, of protocol.Association) ([]*partition, estimates) {
	first, guess := s.estimate(seen, w, of)
	where := []*partition{first}
	for _, p := range w.partitions {
		if p != first && p.wholeNode == first.wholeNode {
			where = append(where, p)
		}
	}
	return where, guess
}

// lookUpUnsettled asks the queue whether Slurm has an unsettled job. Without an error the
// answer is clear: the job is queued, or still unsettled because Slurm does not
// have it.
func (s *Scheduler) lookUpUnsettled(ctx context.Context, j *job) error {
	entries, err := s.commands.queue(ctx)
	if err != nil {
		return fmt.Errorf("ask Slurm for job %v: %w", j.tag, err)
	}
	for _, e := range entries {
		if e.name == j.name && e.uid == j.record.Account.UID && !e.over() {
			return s.acknowledge(j, e.native, estimates{})
		}
	}
	return nil
}

// acknowledge notes, durably, which job of Slurm's it is.
func (s *Scheduler) acknowledge(j *job, is native, guess estimates) error {
	s.mu.Lock()
	record := j.native
	s.mu.Unlock()
	record.native, record.Estimates = is, guess
	record.Tries++
	if err := s.saveNative(j, record); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j.native, j.since, j.missing, j.absent, j.launched = record, time.Now(), 0, time.Time{}, time.Time{}
	if j.state == unsettled {
		j.state = queued
		s.changes.Report(&j.reported, j.change(protocol.Pending, ""))
	}
	return nil
}

func (s *Scheduler) saveNative(j *job, record nativeRecord) error {
	if err := spool.ReplaceRecord(j.dir, nativeFile, record); err != nil {
		return fmt.Errorf("note Slurm's number of job %v: %w", j.tag, spool.ExplainFull(err))
	}
	return nil
}

// discardUnsettled drops a job that Slurm does not have, for good: the claim is taken, so
// that a wrapper which comes late after all finds it taken, or no directory. It
// returns true when a wrapper was faster, and the job runs.
func (s *Scheduler) discardUnsettled(j *job) (started bool, err error) {
	c, err := takeClaim(j.dir, j.owner(), closedBy)
	if err != nil {
		return false, fmt.Errorf("take job %v back: %w", j.tag, spool.ExplainFull(err))
	}
	if c.wrapper() {
		if err = s.acknowledge(j, native{ID: c.id}, estimates{}); err == nil {
			s.nowRuns(j, c)
		}
		return true, err
	}
	s.watchOrphan(j)
	if err = s.spool.Remove(j.tag); err != nil {
		return false, fmt.Errorf("take job %v back: %w", j.tag, err)
	}
	s.drop(j)
	return false, nil
}
