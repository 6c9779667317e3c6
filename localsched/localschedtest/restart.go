package localschedtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// surviveRestart restarts the scheduler while one job runs and two wait.
func surviveRestart(ctx context.Context, s *session) error {
	running := s.gated(s.all())
	if err := s.start(ctx, running); err != nil {
		return err
	}
	queued, gone := s.logging(s.one()), s.logging(s.one())
	for _, job := range []localsched.Submission{queued, gone} {
		if _, err := s.submit(ctx, job); err != nil {
			return err
		}
	}
	if err := s.withdrawn(ctx, gone.Tag); err != nil {
		return err
	}
	if err := s.restart(ctx, func() error { return nil }); err != nil {
		return err
	}
	for _, job := range []localsched.Submission{running, queued} {
		if err := s.present(ctx, job.Tag, localsched.Present); err != nil {
			return err
		}
		if _, err := s.take(ctx, job); err != nil { // as the peer does that does not know
			return err
		}
	}
	if err := s.withdrawn(ctx, gone.Tag); err != nil {
		return err
	}
	if err := s.release(running.Tag); err != nil {
		return err
	}
	for _, job := range []localsched.Submission{running, queued} {
		if _, err := s.completed(ctx, job.Tag); err != nil {
			return err
		}
	}
	if err := s.after(ctx); err != nil {
		return err
	}
	return cmp.Or(s.ranOnce(running.Tag), s.ranOnce(queued.Tag), s.neverRan(gone.Tag))
}

// reportedAfterRestart has a job end while the scheduler is closed.
func reportedAfterRestart(ctx context.Context, s *session) error {
	job := s.gated(s.one())
	job = s.runs(job, string(job.Payload.Script)+"echo over >> "+s.path(job.Tag, "over")+"\nexit 7")
	if err := s.start(ctx, job); err != nil {
		return err
	}
	err := s.restart(ctx, func() error {
		if err := s.release(job.Tag); err != nil {
			return err
		}
		return s.eventually(ctx, func() (bool, error) {
			over, err := s.wrote(job.Tag, "over")
			return over != "", err
		}, func() string { return fmt.Sprintf("job %v does not run on while the scheduler is closed", job.Tag) })
	})
	if err != nil {
		return err
	}
	if _, err = s.endedAs(ctx, job.Tag, protocol.Outcome{State: protocol.Failed, ExitCode: 7}); err != nil {
		return err
	}
	if over, failed := s.wrote(job.Tag, "over"); failed != nil || over != "over\n" {
		return errors.Join(failed, fmt.Errorf("job %v has written %q, want one line", job.Tag, over))
	}
	return s.ranOnce(job.Tag)
}
