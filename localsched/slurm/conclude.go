package slurm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// mostTries bounds how often a job is submitted again that ends without having
// started.
const mostTries = 8

// conclude ends a job that Slurm says has ended. If nobody has claimed it, it has
// not started: then it may be submitted again.
func (s *Scheduler) conclude(ctx context.Context, j *job, e entry) {
	c, err := readClaim(j.dir, j.owner())
	if errors.Is(err, fs.ErrNotExist) {
		if s.worthAnother(j, &e) {
			s.discard(ctx, j, e)
			return
		}
		c, err = takeClaim(j.dir, j.owner(), closedBy)
	}
	if err != nil {
		s.config.Log.Error("claim_not_read", "job", j.tag.String(), "error", err)
		return
	}
	if !c.wrapper() {
		s.finish(j, spool.End{State: finalState(e.state), Reason: e.state + ": it ended in Slurm's queue before it started (" + e.reason + ")"})
		return
	}
	s.nowRuns(j, c)
	if c.id != 0 && c.id != e.ID {
		s.follow(j, c)
		return // the other one, which has the claim, is looked at the next time
	}
	s.finishRun(ctx, j, s.outcome(ctx, j, e))
}

// follow has a job stand for Slurm's job that has claimed it.
func (s *Scheduler) follow(j *job, c claim) {
	s.mu.Lock()
	j.claim, j.native.ID, j.native.Submitted = c, c.id, 0
	record := j.native
	s.mu.Unlock()
	if err := s.saveNative(j, record); err != nil {
		s.config.Log.Warn("number_not_noted", "job", j.tag.String(), "error", err)
	}
}

// worthAnother says whether a job that has ended without a start should be
// submitted again: unless somebody cancelled it while it waited, or it ends so each
// time. A killed controller gives numbers out again, and then Slurm itself cancels: one that
// has nodes, since slurmd will not launch a number that it has seen before; one that waits,
// when the run that has its number from before ends.
func (s *Scheduler) worthAnother(j *job, e *entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancelled := e.state == "CANCELLED" && !e.placed && !s.numberOfAnother(j, e.ID)
	return !cancelled && len(j.native.Past) < mostTries
}

// numberOfAnother says whether another job has, or had, the number. The lock is held.
func (s *Scheduler) numberOfAnother(j *job, id uint32) bool {
	for _, other := range s.jobs {
		if other != j && other.native.ID == id {
			return true
		}
	}
	return false
}

// discard sets an ended job of Slurm's aside and submits another.
func (s *Scheduler) discard(ctx context.Context, j *job, e entry) {
	s.mu.Lock()
	record := j.native
	s.mu.Unlock()
	record.Past = append(slices.Clip(record.Past), e.native)
	if err := s.saveNative(j, record); err != nil {
		s.config.Log.Error("number_not_noted", "job", j.tag.String(), "error", err)
		return
	}
	s.mu.Lock()
	j.native = record
	s.mu.Unlock()
	s.config.Log.Warn("job_ended_before_start", "job", j.tag.String(), "slurm_job", e.ID, "state", e.state, "reason", e.reason)
	s.again(ctx, j)
}

// again submits a job for which Slurm has no entry and nobody a claim. Should
// Slurm find the earlier one after all, the claim lets one of them run.
func (s *Scheduler) again(ctx context.Context, j *job) {
	s.mu.Lock()
	early := time.Now().Before(j.retry)
	if !early { // a look that comes too early must not put the next try off
		j.retry = time.Now().Add(time.Duration(j.native.Tries) * s.config.Poll)
	}
	s.mu.Unlock()
	if early {
		return
	}
	err := s.sbatch(ctx, j)
	if err == nil {
		s.config.Log.Warn("job_submitted_again", "job", j.tag.String(), "slurm_job", j.native.ID)
		return
	}
	if refused, ok := refusal(err); ok {
		c, unread := takeClaim(j.dir, j.owner(), closedBy)
		if unread == nil && !c.wrapper() {
			s.finish(j, spool.End{State: protocol.Failed, Reason: "Slurm had lost the job and does not take it again: " + refused.Reason})
		}
		return
	}
	s.config.Log.Warn("job_not_submitted_again", "job", j.tag.String(), "error", err)
}

// unseen is what to do about a job that the queue does not show. Once is not
// enough: Slurm may just have moved it.
func (s *Scheduler) unseen(j *job) (work func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.missing++; j.missing == 1 {
		j.gone = time.Now()
		return nil
	}
	return func(ctx context.Context) { s.lost(ctx, j) }
}

// lost deals with a job that Slurm has forgotten, because it ended long ago or
// because the controller was killed.
func (s *Scheduler) lost(ctx context.Context, j *job) {
	c, err := readClaim(j.dir, j.owner())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.config.Log.Error("claim_not_read", "job", j.tag.String(), "error", err)
		return
	}
	claimed := err == nil && c.wrapper()
	s.mu.Lock()
	is, since, past := j.native.native, j.gone, j.native.Past
	s.mu.Unlock()
	if claimed && c.id != 0 {
		is = native{ID: c.id}
	}
	if e, ok := s.history.find(ctx, j, is, past); ok {
		s.conclude(ctx, j, e)
		return
	}
	switch {
	case err != nil:
		s.again(ctx, j)
		return
	case !claimed: // closed, before a crash
		s.finish(j, spool.End{State: protocol.NodeFail, Reason: "it ended in Slurm's queue before it started"})
		return
	}
	s.nowRuns(j, c)
	last, err := readExit(j.dir, j.owner())
	switch {
	case err == nil:
		s.finishRun(ctx, j, s.byExit(j, last))
	case time.Since(since) > s.config.patience.lost:
		s.finish(j, spool.End{
			State: protocol.NodeFail, Started: j.claim.started,
			Reason: fmt.Sprintf("Slurm has lost the job after it had started on node %s; how it ended is not known", c.node),
		})
	}
}
