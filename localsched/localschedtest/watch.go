package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// changesInOrder has a job wait, run and end, each for long enough to be seen. What
// [follows] finds wrong is wrong in every case; here nothing may be left out.
func changesInOrder(ctx context.Context, s *session) error {
	blocker, err := s.full(ctx)
	if err != nil {
		return err
	}
	job := s.gated(s.one())
	if _, err = s.submit(ctx, job); err != nil {
		return err
	}
	if err = s.waiting(ctx, job.Tag); err != nil {
		return err
	}
	if err = s.release(blocker); err != nil {
		return err
	}
	began, err := s.running(ctx, job.Tag)
	if err != nil {
		return err
	}
	if err = s.release(job.Tag); err != nil {
		return err
	}
	if _, err = s.completed(ctx, job.Tag); err != nil {
		return err
	}
	now := protocol.InstantOf(time.Now())
	if off := now.Sub(began.Started); off < -protocol.Minute || off > protocol.Hour {
		return fmt.Errorf("job %v is reported to have started at %v; it is %v", job.Tag, began.Started.Time(), now.Time())
	}
	// A stale change would come with the next news.
	return s.after(ctx)
}

// fromBeginning watches with the empty cursor until the end of a job is reported.
func (s *session) fromBeginning(ctx context.Context, tag protocol.Tag) (localsched.Change, error) {
	kept, cursor := s.seen, s.cursor
	s.seen, s.cursor = map[protocol.Tag][]localsched.Change{}, ""
	defer func() { s.seen, s.cursor = kept, cursor }()
	return s.ended(ctx, tag)
}

// watchFromBeginning looks at an end twice, with the cursor of one watcher in the
// way of no other.
func watchFromBeginning(ctx context.Context, s *session) error {
	job := s.logging(s.one())
	first, err := s.finish(ctx, job)
	if err != nil {
		return err
	}
	for range 2 {
		again, err := s.fromBeginning(ctx, job.Tag)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(first, again) {
			return fmt.Errorf("the end of job %v is reported as %+v, then as %+v", job.Tag, first, again)
		}
	}
	return nil
}

// quiet is how long a scheduler is watched while nothing happens, and maxReturns
// how often Watch may return meanwhile. A scheduler elsewhere may see the end of that
// time a moment before.
const (
	quiet      = time.Second
	maxReturns = 10
	moment     = 20 * time.Millisecond
)

// watchWaits watches while nothing happens. Then the context ends, and Watch must
// return soon.
func watchWaits(ctx context.Context, s *session) error {
	job := s.gated(s.one())
	if err := s.start(ctx, job); err != nil {
		return err
	}
	end := time.Now().Add(quiet)
	still, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	returns := 0
	// The clock says when the time is over: on a busy machine the context's timer is late,
	// and until it fires every call finds its deadline past and returns at once.
	for time.Until(end) > moment {
		err := s.look(still)
		if err != nil && time.Until(end) > moment && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if returns++; returns > maxReturns {
			return fmt.Errorf("watch has returned %d times within %v, with %v of the one job that runs", returns, quiet, statesOf(s.seen[job.Tag]))
		}
	}
	if late := time.Since(end); late > s.pace()/2 {
		return fmt.Errorf("watch returned %v after its context had ended", late)
	}
	return nil
}

// watchWakes waits for news before there are any.
func watchWakes(ctx context.Context, s *session) error {
	first := s.logging(s.one())
	if _, err := s.finish(ctx, first); err != nil {
		return err
	}
	job := s.logging(s.one())
	s.jobs = append(s.jobs, job.Tag)
	return conformance.Together(2, func(i int) error {
		if i == 0 {
			_, err := s.completed(ctx, job.Tag)
			return err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
		_, err := s.take(ctx, job)
		return err
	})
}
