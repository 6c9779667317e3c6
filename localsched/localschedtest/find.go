package localschedtest

import (
	"cmp"
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// twoEpochs places a job a second time while the first placement waits.
func twoEpochs(ctx context.Context, s *session) error {
	blocker, err := s.full(ctx)
	if err != nil {
		return err
	}
	first, second := s.logging(s.one()), s.logging(s.one())
	second.Tag = protocol.Tag{Job: first.Tag.Job, Epoch: first.Tag.Epoch + 1}
	second.Spec.Job = second.Tag.Job
	second = s.runs(second, "echo ran >> "+s.path(second.Tag, "log"))
	ids := map[localsched.LocalID]bool{}
	for _, job := range []localsched.Submission{first, second} {
		id, failed := s.submit(ctx, job)
		if failed != nil {
			return failed
		}
		ids[id] = true
	}
	if len(ids) != 2 {
		return fmt.Errorf("both epochs of job %v are called the same: %v", first.Tag.Job, ids)
	}
	if err = s.withdrawn(ctx, first.Tag); err != nil {
		return err
	}
	if err = s.present(ctx, second.Tag, localsched.Present); err != nil {
		return err
	}
	if err = s.release(blocker); err != nil {
		return err
	}
	if _, err = s.completed(ctx, second.Tag); err != nil {
		return err
	}
	if err = s.after(ctx); err != nil {
		return err
	}
	return cmp.Or(s.neverRan(first.Tag), s.ranOnce(second.Tag))
}

func foundByTag(ctx context.Context, s *session) error {
	job := s.gated(s.one())
	if err := s.present(ctx, job.Tag, localsched.Absent); err != nil {
		return err
	}
	id, err := s.submit(ctx, job)
	if err != nil {
		return err
	}
	stages := []func() error{
		func() error { return nil },
		func() error { _, failed := s.running(ctx, job.Tag); return failed },
		func() error { return s.release(job.Tag) },
		func() error { _, failed := s.completed(ctx, job.Tag); return failed },
	}
	for _, stage := range stages {
		if err = stage(); err != nil {
			return err
		}
		if err = s.present(ctx, job.Tag, localsched.Present); err != nil {
			return err
		}
	}
	_, found, err := s.FindByTag(ctx, job.Tag)
	if err == nil && found != id {
		err = fmt.Errorf("job %v is called %q when submitted, and %q when found", job.Tag, id, found)
	}
	if err != nil {
		return err
	}
	if err = s.Forget(ctx, job.Tag); err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	return s.present(ctx, job.Tag, localsched.Absent)
}
