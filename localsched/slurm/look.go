package slurm

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// pendingLook is one look at Slurm that is under way, for all who need one.
type pendingLook struct {
	began time.Time
	done  chan struct{} // closed: the rest is there
	seen  *snapshot
	err   error
}

// lookSince looks at Slurm. If somebody's look is under way that began at an instant or
// later, it waits for that one: who needs to see a change says when the change was.
func (s *Scheduler) lookSince(ctx context.Context, since time.Time) (*snapshot, error) {
	for {
		one, err := s.startLook()
		if err != nil {
			return nil, err
		}
		select {
		case <-one.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !one.began.Before(since) {
			return one.seen, one.err
		}
	}
}

// startLook is the look that is under way, or a new one. It goes on when those who wait for it
// have given up, for the others.
func (s *Scheduler) startLook() (*pendingLook, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, localsched.ErrClosed
	}
	if s.look != nil {
		return s.look, nil
	}
	one := &pendingLook{began: time.Now(), done: make(chan struct{})}
	s.look = one
	s.driver.Go(func() {
		one.seen, one.err = s.see(s.ctx)
		s.mu.Lock()
		s.look = nil
		s.mu.Unlock()
		close(one.done)
	})
	return one, nil
}
