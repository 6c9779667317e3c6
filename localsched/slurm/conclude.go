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

// maxTries bounds how often a job is submitted again that ends without having
// started.
const maxTries = 8

// conclude ends a job that Slurm reports as ended. Without a claim the job has not
// started, so it may be submitted again.
func (s *Scheduler) conclude(ctx context.Context, j *job, e entry) {
	c, err := readClaim(j.dir, j.owner())
	if errors.Is(err, fs.ErrNotExist) {
		again, unclear := s.worthAnother(ctx, j, &e)
		if unclear != nil {
			s.config.Log.Warn("job_end_check_failed", "job", j.tag.String(), "slurm_job", e.ID, "state", e.state, "error", unclear,
				"advice", "none: it is tried again after the next look")
			return
		}
		if again {
			s.discard(ctx, j, e)
			return
		}
		c, err = takeClaim(j.dir, j.owner(), closedBy)
	}
	if err != nil {
		s.config.Log.Error("claim_read_failed", "job", j.tag.String(), "error", err, "advice", adviceSpool)
		return
	}
	if !c.wrapper() {
		s.unstarted(j, c, spool.End{State: finalState(e.state), Reason: e.state + ": it ended in Slurm's queue before it started (" + e.reason + ")"})
		return
	}
	s.nowRuns(j, c)
	if c.id != 0 && c.id != e.ID {
		s.follow(j, c)
		return // the other one, which has the claim, is looked at the next time
	}
	s.finishRun(ctx, j, s.outcome(ctx, j, e))
}

// unstarted ends a job that has not started, and does so no more: a wrapper that came too late has
// withdrawn it, or it was closed.
func (s *Scheduler) unstarted(j *job, c claim, end spool.End) {
	if c.by == withdrawnBy {
		s.nowWithdrawn(j)
		return
	}
	s.finish(j, end)
}

// adviceSpool is what to do when what a job has claimed cannot be read.
const adviceSpool = "see whether this machine reaches the spool; the peer retries"

// follow has a job stand for Slurm's job that has claimed it.
func (s *Scheduler) follow(j *job, c claim) {
	s.mu.Lock()
	j.claim, j.native.ID, j.native.Submitted = c, c.id, 0
	record := j.native
	s.mu.Unlock()
	if err := s.saveNative(j, record); err != nil {
		s.config.Log.Warn("slurm_job_id_save_failed", "job", j.tag.String(), "error", err)
	}
}

// worthAnother reports whether a job that has ended without a start should be
// submitted again: unless somebody cancelled it while it waited, or it ends so each
// time. A controller that was killed cancels jobs by itself:
//
//   - one that has nodes, since slurmd will not launch a number that it has seen before: the
//     controller gives numbers out again;
//   - one that waits and whose number it was starting when it was killed, for this job or for
//     another that it has forgotten: slurmd finds that it cannot launch that number.
//
// The error says why the controller could not be asked.
func (s *Scheduler) worthAnother(ctx context.Context, j *job, e *entry) (bool, error) {
	s.mu.Lock()
	tried, reused := len(j.native.Past), s.numberOfAnother(j, e.ID)
	s.mu.Unlock()
	if tried >= maxTries {
		return false, nil
	}
	if e.state != "CANCELLED" || e.placed || reused {
		return true, nil
	}
	booted, err := s.commands.booted(ctx)
	return err == nil && s.afterKill(e, booted), err
}

// afterKill reports whether a job was submitted or cancelled about when the controller was started,
// by the controller's clock. Then Slurm may have cancelled it by itself, and whoever has done so
// has to do so again.
func (s *Scheduler) afterKill(e *entry, booted protocol.Instant) bool {
	about := func(at protocol.Instant) bool {
		return at != 0 && max(at.Sub(booted), booted.Sub(at)).Std() < s.config.timeouts.killed
	}
	return booted != 0 && (about(e.Submitted) || about(e.end))
}

// numberOfAnother reports whether another job has, or had, the number. The lock is held.
func (s *Scheduler) numberOfAnother(j *job, id uint32) bool {
	for _, other := range s.jobs {
		if other != j && (other.native.ID == id || other.claim.id == id) {
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
		s.config.Log.Error("slurm_job_id_save_failed", "job", j.tag.String(), "error", err, "advice", "free space in the spool; the peer retries")
		return
	}
	s.mu.Lock()
	j.native, j.failed = record, e.state+", "+e.reason
	if failed := s.launchFailure(j); j.state == queued {
		j.reason = failed
		s.changes.Report(&j.reported, j.change(protocol.Pending, failed))
	}
	s.mu.Unlock()
	s.config.Log.Warn("job_ended_before_start", "job", j.tag.String(), "slurm_job", e.ID, "state", e.state, "reason", e.reason,
		"advice", "it is submitted again; see whether its node reaches the spool")
	s.again(ctx, j)
}

// launchFailure is the reason of a job that Slurm has ended before it started, and that was submitted again; empty: Slurm has
// not. The lock is held.
func (s *Scheduler) launchFailure(j *job) string {
	times := len(j.native.Past)
	if times == 0 {
		return ""
	}
	why := ""
	if j.failed != "" {
		why = " (" + j.failed + ")"
	}
	return fmt.Sprintf("Slurm ended it before it started%s, %s of %d; see whether its account reaches the spool %s on the nodes",
		why, protocol.Count(times, "time"), maxTries+1, s.config.Dir)
}

// Unlaunched says how many jobs wait that Slurm has ended before they started, and what to do; empty: none.
func (s *Scheduler) Unlaunched() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := 0
	for _, j := range s.jobs {
		if j.state == queued && len(j.native.Past) > 0 {
			jobs++
		}
	}
	if jobs == 0 {
		return ""
	}
	return fmt.Sprintf("Slurm ended %s before the start, and has them again: see whether the accounts reach the spool %s on the nodes, "+
		"and the logs of slurmd", protocol.Count(jobs, "waiting job"), s.config.Dir)
}

// again submits a job once more that has neither an entry in Slurm nor a claim. If
// Slurm still has the earlier submission, the claim lets only one of the two run.
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
		s.config.Log.Warn("job_submitted_again", "job", j.tag.String(), "slurm_job", j.native.ID,
			"why", "Slurm has lost it, or has ended it before it started")
		s.trouble()
		return
	}
	if refused, ok := refusal(err); ok {
		c, unread := takeClaim(j.dir, j.owner(), closedBy)
		if unread == nil && !c.wrapper() {
			s.finish(j, spool.End{State: protocol.Failed, Reason: "Slurm had lost the job and does not take it again: " + refused.Reason})
		}
		return
	}
	s.config.Log.Warn("job_resubmit_failed", "job", j.tag.String(), "error", err, "advice", "none: the peer retries")
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
	return func(ctx context.Context) { s.setLost(ctx, j) }
}

// setLost deals with a job that Slurm has forgotten, because it ended long ago or
// because the controller was killed.
func (s *Scheduler) setLost(ctx context.Context, j *job) {
	c, err := readClaim(j.dir, j.owner())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.config.Log.Error("claim_read_failed", "job", j.tag.String(), "error", err, "advice", adviceSpool)
		return
	}
	claimed := err == nil && c.wrapper()
	s.mu.Lock()
	is, since, past := j.native.native, j.gone, j.native.Past
	s.mu.Unlock()
	if claimed && c.id != 0 {
		is = native{ID: c.id}
	}
	last, unread := readExit(j.dir, j.owner())
	if s.concluded(ctx, j, is, past, func() bool {
		if !claimed || unread != nil || last.term != termAbsent || time.Since(since) <= s.config.timeouts.lost {
			return false
		}
		s.nowRuns(j, c) // Slurm might only add that memory ran out
		s.finishRun(ctx, j, s.byExit(j, last))
		return true
	}) {
		return
	}
	switch {
	case err != nil:
		s.again(ctx, j)
		return
	case !claimed: // closed, before a crash
		s.unstarted(j, c, spool.End{State: protocol.NodeFail, Reason: "it ended in Slurm's queue before it started"})
		return
	}
	s.nowRuns(j, c)
	s.lostRun(ctx, j, last, unread)
}

// lostRun deals with a job that a wrapper has claimed and that Slurm has forgotten, by what the wrapper
// has written down.
func (s *Scheduler) lostRun(ctx context.Context, j *job, last exit, unread error) {
	s.mu.Lock()
	since := j.gone
	s.mu.Unlock()
	switch {
	case unread == nil || j.neverBegan():
		s.finishRun(ctx, j, s.byExit(j, last))
	case time.Since(since) > s.config.timeouts.lost:
		s.finish(j, spool.End{
			State: protocol.NodeFail, Started: j.claim.started,
			Reason: fmt.Sprintf("Slurm has lost the job after it had started on node %s; how it ended is not known", j.claim.node),
		})
	}
}

// concluded has the history say how a job ended that Slurm has forgotten. It returns false once the
// history surely does not know. While it cannot be asked, otherwise may end the job.
func (s *Scheduler) concluded(ctx context.Context, j *job, is native, past []native, otherwise func() bool) bool {
	e, ok, err := s.history.find(ctx, j, is, past)
	switch {
	case ctx.Err() != nil:
		return true
	case err != nil:
		if !otherwise() {
			s.endUnknown(j, err)
		}
		return true
	case ok:
		s.conclude(ctx, j, e)
		return true
	}
	return !s.surelyAbsent(j)
}

// endUnknown reports once that a job is no longer in the queue and not in the history yet. An administrator may have cancelled it, so it is not submitted again.
func (s *Scheduler) endUnknown(j *job, err error) {
	reason := "it has left Slurm's queue, and how it ended is not known yet: " + err.Error()
	s.mu.Lock()
	j.absent = time.Time{}
	known := j.reason == reason
	if !known && j.state == queued {
		s.changes.Report(&j.reported, j.change(protocol.Pending, reason))
	}
	j.reason = reason
	s.mu.Unlock()
	if !known {
		s.config.Log.Warn("job_end_unknown", "job", j.tag.String(), "error", err)
	}
}

// surelyAbsent reports whether the history does not know how a job has ended, and will not come to know
// it. The database may be behind by what the controller has just sent, which sdiag does not count, so
// it has to answer so for a while without a failure between.
func (s *Scheduler) surelyAbsent(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.absent.IsZero() {
		j.absent = time.Now()
	}
	return !s.history.sacct || time.Since(j.absent) >= s.config.timeouts.account
}
