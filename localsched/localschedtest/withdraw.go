package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// withdrawn withdraws a job that waits, more than once.
func (s *session) withdrawn(ctx context.Context, tag protocol.Tag) error {
	return s.withdraws(ctx, tag, localsched.Withdrawn)
}

// withdraws expects an answer, each time.
func (s *session) withdraws(ctx context.Context, tag protocol.Tag, want localsched.Withdrawal) error {
	for range 3 {
		got, err := s.Withdraw(ctx, tag)
		if err != nil {
			return fmt.Errorf("withdraw job %v: %w", tag, err)
		}
		if got != want {
			return fmt.Errorf("withdraw job %v: it is %v, want %v", tag, got, want)
		}
	}
	return nil
}

// withdrawnNeverRuns withdraws a job behind another one, and looks on until one
// that came later has ended.
func withdrawnNeverRuns(ctx context.Context, s *session) error {
	blocker, err := s.full(ctx)
	if err != nil {
		return err
	}
	job := s.logging(s.one())
	if _, err = s.submit(ctx, job); err != nil {
		return err
	}
	if err = s.withdrawn(ctx, job.Tag); err != nil {
		return err
	}
	if err = s.present(ctx, job.Tag, localsched.Absent); err != nil {
		return err
	}
	if err = s.release(blocker); err != nil {
		return err
	}
	if err = s.after(ctx); err != nil {
		return err
	}
	if err = s.neverRan(job.Tag); err != nil {
		return err
	}
	for _, change := range s.seen[job.Tag] {
		if change.State == protocol.Running || change.Started != 0 {
			return fmt.Errorf("job %v was withdrawn, and is reported to be %v", job.Tag, change.State)
		}
	}
	if err = s.withdrawn(ctx, job.Tag); err != nil {
		return err
	}
	for range 2 {
		if err = s.Forget(ctx, job.Tag); err != nil {
			return fmt.Errorf("forget job %v, which was withdrawn: %w", job.Tag, err)
		}
	}
	return s.comesAgain(ctx, job)
}

// comesAgain submits a job that was withdrawn and then forgotten: it runs.
func (s *session) comesAgain(ctx context.Context, job localsched.Submission) error {
	if _, err := s.submit(ctx, job); err != nil {
		return fmt.Errorf("job %v was withdrawn and forgotten, and comes again: %w", job.Tag, err)
	}
	if _, err := s.completed(ctx, job.Tag); err != nil {
		return fmt.Errorf("job %v was withdrawn and forgotten, and came again: %w", job.Tag, err)
	}
	return nil
}

// withdrawTooLate withdraws a job that runs, and once it has ended. It must end well.
func withdrawTooLate(ctx context.Context, s *session) error {
	job := s.gated(s.one())
	if err := s.start(ctx, job); err != nil {
		return err
	}
	if err := s.withdraws(ctx, job.Tag, localsched.Started); err != nil {
		return err
	}
	if err := s.release(job.Tag); err != nil {
		return err
	}
	if _, err := s.completed(ctx, job.Tag); err != nil {
		return err
	}
	return s.withdraws(ctx, job.Tag, localsched.Started)
}

// withdrawUnknown: a scheduler may know how to withdraw what has yet to come. Then
// it must refuse it when it comes.
func withdrawUnknown(ctx context.Context, s *session) error {
	job := s.logging(s.one())
	s.jobs = append(s.jobs, job.Tag)
	got, err := s.Withdraw(ctx, job.Tag)
	if err != nil {
		return isUnknown("withdraw a job that never came", err)
	}
	if got != localsched.Withdrawn {
		return fmt.Errorf("withdraw a job that never came: it is %v", got)
	}
	_, err = s.Submit(ctx, job)
	if refused := new(localsched.RefusedError); !errors.As(err, &refused) {
		return fmt.Errorf("job %v was withdrawn before it came; then submit gave the error %w, want a *localsched.RefusedError", job.Tag, errOf(err))
	}
	return s.present(ctx, job.Tag, localsched.Absent)
}

// racers is how many jobs are withdrawn while they may be about to start.
const racers = 32

// withdrawRaces withdraws each job a little later after its submission than the one
// before it. Some have started by then, some have not, some are on the way.
func withdrawRaces(ctx context.Context, s *session) error {
	jobs := make([]localsched.Submission, racers)
	for i := range jobs {
		jobs[i] = s.logging(s.one())
		s.jobs = append(s.jobs, jobs[i].Tag)
	}
	became := make([]localsched.Withdrawal, len(jobs))
	err := conformance.Together(len(jobs), func(i int) (err error) {
		if _, err = s.take(ctx, jobs[i]); err != nil {
			return err
		}
		if err = pause(ctx, time.Duration(i*i)*s.pace()/20_000); err != nil {
			return err
		}
		became[i], err = s.Withdraw(ctx, jobs[i].Tag)
		return err
	})
	if err != nil {
		return err
	}
	if err = s.after(ctx); err != nil {
		return err
	}
	for i, job := range jobs {
		switch became[i] {
		case localsched.Started:
			if _, err = s.completed(ctx, job.Tag); err == nil {
				err = s.ranOnce(job.Tag)
			}
		case localsched.Withdrawn:
			err = s.neverRan(job.Tag)
		}
		if err != nil {
			return fmt.Errorf("withdraw said %v: %w", became[i], err)
		}
	}
	return nil
}
