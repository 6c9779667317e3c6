package slurm

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Submit implements [localsched.Runner].
func (s *Scheduler) Submit(ctx context.Context, submission localsched.Submission) (localsched.LocalID, error) {
	j, err := s.lockJob(ctx, submission.Tag)
	if err != nil {
		return "", err
	}
	defer j.unlock()
	switch s.stateOf(j) {
	case making:
		err = s.make(ctx, j, submission)
	case unsettled:
		if err = s.lookUpUnsettled(ctx, j); err == nil && s.stateOf(j) == unsettled {
			err = s.enter(ctx, j)
		}
	case withdrawn:
		return "", &localsched.RefusedError{Reason: fmt.Sprintf("job %v was withdrawn before it came", j.tag)}
	case queued, running, ended:
	}
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return j.id(), nil
}

// lockJob returns the job with this tag, made if need be, to work at. The caller releases
// it.
func (s *Scheduler) lockJob(ctx context.Context, tag protocol.Tag) (*job, error) {
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return nil, localsched.ErrClosed
		}
		j := s.jobs[tag]
		if j == nil {
			j = newJob(tag, nameOf(s.config.Site, tag), s.spool.JobDir(tag))
			s.jobs[tag] = j
		}
		s.mu.Unlock()
		if err := j.lock(ctx); err != nil {
			return nil, err
		}
		s.mu.Lock()
		same := s.jobs[tag] == j
		s.mu.Unlock()
		if same {
			return j, nil
		}
		j.unlock() // it was dropped meanwhile
	}
}

// drop takes a job out of the map.
func (s *Scheduler) drop(j *job) {
	s.mu.Lock()
	delete(s.jobs, j.tag)
	s.changes.Forget(&j.reported)
	past := s.history
	s.mu.Unlock()
	if past != nil {
		past.forget(j.name)
	}
}

// make checks the job, makes its directory and gives it to Slurm. After an error the
// job is either unsettled or dropped.
func (s *Scheduler) make(ctx context.Context, j *job, submission localsched.Submission) error {
	record, err := s.admit(ctx, submission)
	if err == nil {
		err = s.clearOrphans(ctx, j, record.Account.UID)
	}
	if err == nil {
		if err = s.addJob(ctx, record, submission.Payload.Script); err != nil {
			err = fmt.Errorf("submit job %v: %w", j.tag, err)
		}
	}
	if err != nil {
		s.drop(j)
		return err
	}
	s.mu.Lock()
	j.describe(record)
	j.state = unsettled
	s.mu.Unlock()
	return s.enter(ctx, j)
}

// admit checks a submission. The error is a *[localsched.RefusedError] where the
// job can never run here.
func (s *Scheduler) admit(ctx context.Context, submission localsched.Submission) (spool.Job, error) {
	if reason := spool.UnfitReason(submission, s.config.Container); reason != "" {
		return spool.Job{}, &localsched.RefusedError{Reason: reason}
	}
	seen, err := s.fresh(ctx)
	if err != nil {
		return spool.Job{}, err
	}
	if reason := seen.refuses(submission.Spec.Request, submission.Spec.Partition); reason != "" {
		return spool.Job{}, &localsched.RefusedError{Reason: reason}
	}
	owner, err := s.accounts.Runnable(ctx, submission.Account)
	if err != nil {
		return spool.Job{}, err
	}
	return spool.NewJob(submission, owner, s.config.Site, s.config.MaxOutput).Staging(s.config.MaxStaging).InContainer(s.config.Container), nil
}
