package process

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Watch implements [localsched.Runner]. A withdrawn job is not reported: the
// answer to its withdrawal was the report. After Open the state of each job is
// reported again, whatever the cursor. It returns without a change when the power
// budget has become another.
func (s *Scheduler) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	return s.changes.Watch(ctx, &s.mu, s.gone, after, func() (protocol.Load, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.driver.Load()
	})
}
