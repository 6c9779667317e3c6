package slurm

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Watch implements [localsched.Runner]. A withdrawn job is not reported: the
// answer to its withdrawal was the report. Cursors outlive the adapter. After Open
// the state of each job that has not ended is reported again.
func (s *Scheduler) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	return s.changes.Watch(ctx, &s.mu, s.gone, after, func() (protocol.Load, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.load(), nil
	})
}
