package process

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Submit implements [localsched.Runner]. Submissions at once are synced at once;
// those enter the queue in the order in which they are through.
func (s *Scheduler) Submit(ctx context.Context, submission localsched.Submission) (localsched.LocalID, error) {
	j, mine, err := s.claimTag(submission.Tag)
	if err != nil {
		return "", err
	}
	if !mine {
		return s.repeated(ctx, j)
	}
	if err = s.make(ctx, j, submission); err != nil {
		s.failSubmission(j, err)
		return "", err
	}
	return j.id(), nil
}

// claimTag makes the entry of a tag, unless there is one.
func (s *Scheduler) claimTag(tag protocol.Tag) (j *job, mine bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false, localsched.ErrClosed
	}
	if j = s.jobs[tag]; j != nil {
		return j, false, nil
	}
	j = newJob(tag, s.spool.JobDir(tag))
	s.seq++
	j.Seq = s.seq
	s.jobs[tag] = j
	return j, true, nil
}

// failSubmission takes back an entry whose making failed.
func (s *Scheduler) failSubmission(j *job, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, j.Tag)
	j.failed = err
	close(j.made)
}

// repeated answers for a submission that came before.
func (s *Scheduler) repeated(ctx context.Context, j *job) (localsched.LocalID, error) {
	if err := j.wait(ctx); err != nil {
		return "", err
	}
	if j.failed != nil {
		return "", j.failed
	}
	if s.withdrawn(j) {
		return "", &localsched.RefusedError{Reason: fmt.Sprintf("job %v was withdrawn", j.Tag)}
	}
	return j.id(), nil
}

// make checks the job, makes its directory and puts it in the queue.
func (s *Scheduler) make(ctx context.Context, j *job, submission localsched.Submission) error {
	if reason := s.unfitReason(submission); reason != "" {
		return &localsched.RefusedError{Reason: reason}
	}
	owner, err := s.accounts.RunnableWithGroups(ctx, submission.Account)
	if err != nil {
		return err
	}
	request := s.predictPower(submission.Spec.Request)
	record := jobRecord{
		Job:   spool.NewJob(submission, owner, s.config.Site, s.config.MaxOutput).Staging(s.config.MaxStaging).InContainer(s.config.Container),
		Seq:   j.Seq,
		Grace: protocol.DurationOf(s.config.GraceKill),
		Power: request.Power,

		MaxProcesses: s.config.MaxProcesses, Socket: s.config.Socket, Commands: s.config.Commands,
	}
	if err = s.addJob(ctx, record, submission.Payload.Script); err != nil {
		return fmt.Errorf("submit job %v: %w", j.Tag, err)
	}
	j.describe(record)
	if err = s.enqueue(j); err != nil {
		return s.discardRefused(j, err)
	}
	return nil
}

// discardRefused removes the directory of a job that the queue does not take, and returns why. If that
// fails, the next Open could find the job: so it is not refused, and waits as it would then,
// until there are other rules or it is withdrawn.
func (s *Scheduler) discardRefused(j *job, why error) error {
	err := s.spool.Remove(j.Tag)
	if err == nil {
		err = spool.SyncPath(filepath.Dir(j.dir))
	}
	if err == nil {
		return why
	}
	s.config.Log.Error("refused_job_remove_failed", "job", j.Tag.String(), "error", err,
		"advice", "free the spool's disk; the job waits until other rules take it or it is withdrawn")
	s.mu.Lock()
	defer s.mu.Unlock()
	j.state = queued
	close(j.made)
	s.driver.Add(&j.Job, false)
	s.driver.ReportPending(&j.Job, why.Error())
	return nil
}

// enqueue puts a made job in the engine's queue.
func (s *Scheduler) enqueue(j *job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.driver.Now()
	if err := s.driver.Submit(now, &j.Job); err != nil {
		return err
	}
	j.state = queued
	close(j.made)
	s.driver.Done(nil)
	return nil
}

// unfitReason is why a submission can never run here; empty when it can.
func (s *Scheduler) unfitReason(submission localsched.Submission) (reason string) {
	if reason = spool.UnfitReason(submission, s.config.Container); reason == "" {
		_, reason = s.config.Machine.Units(submission.Spec.Request)
	}
	return reason
}

// withdrawn reports whether the job was taken back, before it came or later.
func (s *Scheduler) withdrawn(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return j.state == withdrawn
}

// FindByTag implements [localsched.Runner].
func (s *Scheduler) FindByTag(ctx context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	j, err := s.find(ctx, tag)
	if err != nil {
		return localsched.PresenceUnknown, "", err
	}
	if j == nil {
		presence, err := s.presence(tag)
		return presence, "", err
	}
	if s.withdrawn(j) {
		return localsched.Absent, "", nil
	}
	return localsched.Present, j.id(), nil
}
