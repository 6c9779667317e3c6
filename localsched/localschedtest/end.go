package localschedtest

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// killed kills a job, more than once.
func (s *session) killed(ctx context.Context, tag protocol.Tag) error {
	for range 3 {
		if err := s.Kill(ctx, tag); err != nil {
			return fmt.Errorf("kill job %v: %w", tag, err)
		}
	}
	return nil
}

// killCancels kills a job that would otherwise end by itself, some time later.
func killCancels(ctx context.Context, s *session) error {
	job := s.gated(s.one())
	if err := s.start(ctx, job); err != nil {
		return err
	}
	if err := s.killed(ctx, job.Tag); err != nil {
		return err
	}
	change, err := s.ended(ctx, job.Tag)
	if err == nil && change.State != protocol.Cancelled {
		err = fmt.Errorf("job %v was killed, and ended %v", job.Tag, change.State)
	}
	return err
}

func killEnded(ctx context.Context, s *session) error {
	job := s.logging(s.one())
	first, err := s.finish(ctx, job)
	if err != nil {
		return err
	}
	if err = s.killed(ctx, job.Tag); err != nil {
		return err
	}
	again, err := s.fromBeginning(ctx, job.Tag)
	if err == nil && again.State != first.State {
		err = fmt.Errorf("job %v ended %v, was killed, and is now reported to have ended %v", job.Tag, first.State, again.State)
	}
	return err
}

func killUnknown(ctx context.Context, s *session) error {
	return isUnknown("kill a job that never came", s.Kill(ctx, s.newTag()))
}

// endsAreReported has jobs end in several ways.
func endsAreReported(ctx context.Context, s *session) error {
	ends := []struct {
		script string
		want   protocol.Outcome
	}{
		{"exit 0", protocol.Outcome{State: protocol.Completed}},
		{"exit 3", protocol.Outcome{State: protocol.Failed, ExitCode: 3}},
		{"exit 255", protocol.Outcome{State: protocol.Failed, ExitCode: 255}},
		{"kill -USR1 $$; sleep 10", protocol.Outcome{State: protocol.Failed, Signal: 10}},
		{"kill -KILL $$; sleep 10", protocol.Outcome{State: protocol.Failed, Signal: 9}},
	}
	tags := make([]protocol.Tag, len(ends))
	for i, end := range ends {
		job := s.local(s.one(), end.script)
		if _, err := s.submit(ctx, job); err != nil {
			return err
		}
		tags[i] = job.Tag
	}
	for i, end := range ends {
		change, err := s.endedAs(ctx, tags[i], end.want)
		if err == nil && change.Outcome.Ran >= s.wall(short) {
			err = fmt.Errorf("job %v is reported to have run %v", tags[i], change.Outcome.Ran)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", end.script, err)
		}
	}
	return nil
}

func endedAtLimit(ctx context.Context, s *session) error {
	limit := s.bench.target.Limit
	if limit == 0 {
		return conformance.Skip("the target names no time limit that is short enough")
	}
	request := s.one()
	request.WallTime = limit
	job := s.local(request, fmt.Sprintf("sleep %d", 10+2*int64(limit/protocol.Second)))
	if err := s.start(ctx, job); err != nil {
		return err
	}
	if err := pause(ctx, limit.Std()); err != nil {
		return err
	}
	change, err := s.ended(ctx, job.Tag)
	if err == nil && (change.State != protocol.Timeout || change.Outcome.Ran < limit/2) {
		err = fmt.Errorf("job %v ended %v after %v; its limit was %v", job.Tag, change.State, change.Outcome.Ran, limit)
	}
	return err
}
