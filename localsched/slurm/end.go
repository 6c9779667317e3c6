package slurm

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Withdraw implements [localsched.Runner]. The claim decides, whatever Slurm does
// meanwhile: its queue is cleared of the job soon afterwards. A tag that never came is
// withdrawn too, durably: should it come later, it is refused.
func (s *Scheduler) Withdraw(ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	j, err := s.lockJob(ctx, tag)
	if err != nil {
		return 0, err
	}
	defer j.unlock()
	switch s.stateOf(j) {
	case withdrawn:
		return localsched.Withdrawn, nil
	case running, ended:
		return localsched.Started, nil
	case making:
		return s.withdrawUnknown(j)
	case unsettled, queued:
	}
	c, err := takeClaim(j.dir, j.owner(), withdrawnBy)
	if err != nil {
		return 0, fmt.Errorf("withdraw job %v: %w", tag, spool.ExplainFull(err))
	}
	if c.wrapper() {
		s.nowRuns(j, c)
		return localsched.Started, nil
	}
	s.nowWithdrawn(j)
	s.watchOrphan(j)
	s.cancel(cancellation{tag: tag, name: j.name, uid: j.owner().UID})
	return localsched.Withdrawn, nil
}

// nowWithdrawn enters that the job never starts.
func (s *Scheduler) nowWithdrawn(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.state = withdrawn
	s.changes.Forget(&j.reported)
}

// withdrawUnknown withdraws a job that never came.
func (s *Scheduler) withdrawUnknown(j *job) (localsched.Withdrawal, error) {
	if err := s.addTombstone(j.tag); err != nil {
		s.drop(j)
		return 0, fmt.Errorf("withdraw job %v: %w", j.tag, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j.state = withdrawn
	return localsched.Withdrawn, nil
}

// Kill implements [localsched.Runner]. Slurm is asked soon after it has returned, and again
// after each look at the queue until the job ends. The error wraps [localsched.ErrNotStarted] for a job that waits,
// and [localsched.ErrUnknownJob].
func (s *Scheduler) Kill(ctx context.Context, tag protocol.Tag) error {
	j, err := s.get(tag)
	if err != nil {
		return err
	}
	if j == nil {
		return localsched.UnknownJob(tag)
	}
	if err = j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	switch s.stateOf(j) {
	case ended, withdrawn:
		return nil
	case making:
		return localsched.UnknownJob(tag)
	case unsettled, queued:
		c, unread := readClaim(j.dir, j.owner())
		if unread != nil || !c.wrapper() {
			return fmt.Errorf("kill job %v: %w", tag, localsched.ErrNotStarted)
		}
		s.nowRuns(j, c)
	case running:
	}
	s.mu.Lock()
	j.killed = true
	s.mu.Unlock()
	s.end(j)
	return nil
}

// end has a job taken out of Slurm, whether it runs or not.
func (s *Scheduler) end(j *job) {
	s.cancel(cancellation{tag: j.tag, name: j.name, uid: j.owner().UID, job: j})
}

// Forget implements [localsched.Runner]. Repeating it is no error; one that wraps
// [localsched.ErrNotEnded] is about a job that waits or runs.
func (s *Scheduler) Forget(ctx context.Context, tag protocol.Tag) error {
	j, err := s.get(tag)
	if err != nil || j == nil {
		return err
	}
	if err = j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	switch s.stateOf(j) {
	case making:
		return nil // its submission has failed meanwhile
	case unsettled, queued, running:
		return fmt.Errorf("job %v: %w", tag, localsched.ErrNotEnded)
	case ended, withdrawn:
	}
	if err = s.spool.Remove(tag); err != nil {
		return fmt.Errorf("forget job %v: %w", tag, err)
	}
	s.drop(j)
	return nil
}

// finish enters how a job ended, durably before it is reported.
func (s *Scheduler) finish(j *job, end spool.End) {
	end, err := j.record.Settle(j.dir, end)
	if err != nil {
		s.config.Log.Error("job_end_save_failed", "job", j.tag.String(), "error", spool.ExplainFull(err), "advice", "free space in the spool; the peer retries")
		return
	}
	if !s.addFiles(j, &end) {
		return // the next look, or the next Open, finds it ended again
	}
	err = s.saveEnd(j, endRecord{End: end})
	if err != nil {
		s.config.Log.Error("job_end_save_failed", "job", j.tag.String(), "error", err, "advice", "free space in the spool; the peer retries")
		return
	}
	s.mu.Lock()
	j.state = ended
	at := s.changes.Report(&j.reported, end.Change(j.tag, j.submitted))
	s.mu.Unlock()
	// Where it was reported matters less: without it, it is reported again after a
	// restart.
	if err = s.saveEnd(j, endRecord{End: end, Place: at}); err != nil {
		s.config.Log.Warn("job_end_cursor_save_failed", "job", j.tag.String(), "error", err)
	}
}

// packing is a job that has ended and whose files wait for room on the disk.
type packing struct {
	end   spool.End // with what was there of its output at once
	pause time.Duration
	again time.Time // no earlier are they packed
	lost  bool      // the disk was full while the job ran; that it is full afterwards takes none of its output
}

// The pauses between attempts to pack files on a full disk.
const (
	firstFullPause = 5 * time.Second
	lastFullPause  = 5 * time.Minute
)

// addFiles adds a job's files to how it ended. It returns false if that is to be done again at a later look: there is
// no room for what goes back with it, and the job's end was not asked for.
func (s *Scheduler) addFiles(j *job, end *spool.End) (done bool) {
	killed := s.wasKilled(j)
	waiting := j.packing
	var full bool
	switch {
	case waiting == nil:
		full = j.record.AddOutputFiles(s.ctx, j.dir, end)
		waiting = &packing{pause: firstFullPause, lost: s.lostOutput(j)}
	case !killed && time.Now().Before(waiting.again):
		return false
	default:
		*end = waiting.end
		full = j.record.AddArchive(s.ctx, j.dir, end)
		waiting.pause = min(2*waiting.pause, lastFullPause)
	}
	if full && killed {
		j.record.GiveUpArchive(end)
		full = false
	}
	if s.ctx.Err() != nil {
		return false
	}
	if !full {
		j.packing = nil
		if waiting.lost {
			j.record.LoseOutput(end)
		}
		return true
	}
	waiting.end, waiting.again = *end, time.Now().Add(waiting.pause)
	j.packing = waiting
	s.config.Log.Error("job_files_pack_failed", "job", j.tag.String(), "advice", "free space in the spool; the peer retries")
	return false
}

func (s *Scheduler) saveEnd(j *job, end endRecord) error {
	return spool.ExplainFull(spool.ReplaceRecord(j.dir, endFile, end))
}

// nowRuns enters that a wrapper has claimed the job.
func (s *Scheduler) nowRuns(j *job, c claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.state == running {
		return
	}
	j.claim, j.state = c, running
	if c.started == 0 {
		j.claim.started = protocol.InstantOf(time.Now())
	}
	s.changes.Report(&j.reported, j.change(protocol.Running, ""))
	s.record.add(kindOf(j.record.Submission.Spec.Request), j.native.Estimates, max(0, j.claim.started.Sub(j.submitted)))
}
