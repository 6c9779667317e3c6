package localschedtest

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// forgetDrops forgets a job that has ended: neither output nor changes are left.
func forgetDrops(ctx context.Context, s *session) error {
	job := s.guest("echo out")
	if _, err := s.finish(ctx, job); err != nil {
		return err
	}
	for range 3 {
		if err := s.Forget(ctx, job.Tag); err != nil {
			return fmt.Errorf("forget job %v: %w", job.Tag, err)
		}
	}
	if err := s.present(ctx, job.Tag, localsched.Absent); err != nil {
		return err
	}
	_, err := s.Fetch(ctx, job.Tag, protocol.Stdout, 0, 10)
	if err = isUnknown("fetch from a forgotten job", err); err != nil {
		return err
	}
	marker := s.logging(s.one()) // its end is the last change that the scheduler has
	if _, err = s.finish(ctx, marker); err != nil {
		return err
	}
	s.cursor, s.seen = "", map[protocol.Tag][]localsched.Change{}
	if _, err = s.ended(ctx, marker.Tag); err != nil {
		return err
	}
	if len(s.seen[job.Tag]) > 0 {
		return fmt.Errorf("job %v is forgotten, and reported to be %v", job.Tag, statesOf(s.seen[job.Tag]))
	}
	return nil
}
