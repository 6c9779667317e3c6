package localschedtest

import (
	"context"
	"errors"
	"time"
)

// eventually waits until something is so that no change tells of.
func (s *session) eventually(ctx context.Context, is func() (bool, error), otherwise func() string) error {
	ctx, cancel := context.WithTimeout(ctx, s.bench.target.Timeout)
	defer cancel()
	for {
		if done, err := is(); done || err != nil {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return errors.New(otherwise())
		}
	}
}

// pace is what the cases that spread their calls over the life of a job, or give a job
// time to come, go by. A patience that is ample for a busy machine does not slow them.
func (s *session) pace() time.Duration {
	const most = 30 * time.Second
	return min(s.bench.target.Timeout, most)
}

// pause waits; the error is the context's.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// after runs a job that needs the whole machine. When it has ended, so has whatever
// was in the queue before it.
func (s *session) after(ctx context.Context) error {
	_, err := s.finish(ctx, s.logging(s.all()))
	return err
}
