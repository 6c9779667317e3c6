package localschedtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func runsToItsEnd(ctx context.Context, s *session) error {
	job := s.logging(s.one())
	if _, err := s.finish(ctx, job); err != nil {
		return err
	}
	return s.ranOnce(job.Tag)
}

// submitRepeated submits a job again while it waits, while it runs and after its
// end.
func submitRepeated(ctx context.Context, s *session) error {
	blocker, err := s.full(ctx)
	if err != nil {
		return err
	}
	job := s.gated(s.one())
	first, err := s.submit(ctx, job)
	if err != nil {
		return err
	}
	if err = s.sameID(ctx, job, first); err != nil {
		return fmt.Errorf("while it waits: %w", err)
	}
	if err = s.release(blocker); err != nil {
		return err
	}
	if _, err = s.running(ctx, job.Tag); err != nil {
		return err
	}
	if err = s.sameID(ctx, job, first); err != nil {
		return fmt.Errorf("while it runs: %w", err)
	}
	if err = s.release(job.Tag); err != nil {
		return err
	}
	if _, err = s.completed(ctx, job.Tag); err != nil {
		return err
	}
	if err = s.sameID(ctx, job, first); err != nil {
		return fmt.Errorf("after its end: %w", err)
	}
	if err = s.after(ctx); err != nil {
		return err
	}
	return s.ranOnce(job.Tag)
}

// sameID repeats a submission a few times.
func (s *session) sameID(ctx context.Context, job localsched.Submission, first localsched.LocalID) error {
	for range 3 {
		id, err := s.take(ctx, job)
		if err != nil {
			return err
		}
		if id != first {
			return fmt.Errorf("job %v is called %q at first, then %q", job.Tag, first, id)
		}
	}
	return nil
}

// submitTogether submits one job from many goroutines.
func submitTogether(ctx context.Context, s *session) error {
	job := s.logging(s.one())
	s.jobs = append(s.jobs, job.Tag)
	ids := make([]localsched.LocalID, 8)
	err := conformance.Together(len(ids), func(i int) (err error) {
		ids[i], err = s.take(ctx, job)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id != ids[0] {
			return fmt.Errorf("job %v is called %q to one, and %q to another that submitted it", job.Tag, ids[0], id)
		}
	}
	if _, err = s.completed(ctx, job.Tag); err != nil {
		return err
	}
	if err = s.after(ctx); err != nil {
		return err
	}
	return s.ranOnce(job.Tag)
}

// crowd is how many jobs are submitted at once.
const crowd = 32

func submitMany(ctx context.Context, s *session) error {
	jobs := make([]localsched.Submission, crowd)
	for i := range jobs {
		jobs[i] = s.logging(s.one())
		s.jobs = append(s.jobs, jobs[i].Tag)
	}
	ids := make([]localsched.LocalID, len(jobs))
	err := conformance.Together(len(jobs), func(i int) (err error) {
		ids[i], err = s.take(ctx, jobs[i])
		return err
	})
	if err != nil {
		return err
	}
	of := map[localsched.LocalID]protocol.Tag{}
	for i, id := range ids {
		if other, taken := of[id]; taken {
			return fmt.Errorf("the jobs %v and %v are both called %q", other, jobs[i].Tag, id)
		}
		of[id] = jobs[i].Tag
	}
	for _, job := range jobs {
		if _, err = s.completed(ctx, job.Tag); err != nil {
			return err
		}
	}
	if err = s.after(ctx); err != nil {
		return err
	}
	for _, job := range jobs {
		if err = s.ranOnce(job.Tag); err != nil {
			return err
		}
	}
	return nil
}

func submitRefuses(ctx context.Context, s *session) error {
	job := s.logging(s.tooLarge())
	s.jobs = append(s.jobs, job.Tag)
	for range 3 {
		_, err := s.Submit(ctx, job)
		if refused := new(localsched.RefusedError); !errors.As(err, &refused) || refused.Reason == "" {
			return fmt.Errorf("submit a job of %d CPUs to %d: got the error %w, want a *localsched.RefusedError with a reason",
				job.Spec.CPUs, s.capacity.CPUs, errOf(err))
		}
	}
	return s.present(ctx, job.Tag, localsched.Absent)
}
