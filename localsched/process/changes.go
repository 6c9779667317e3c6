package process

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// Watch implements [localsched.Runner]. A withdrawn job is not reported: the
// answer to its withdrawal was the report. After Open the state of each job is
// reported again, whatever the cursor. It returns without a change when the power
// budget has become another.
func (s *Scheduler) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	for {
		s.mu.Lock()
		list, cursor, moved := s.changes.After(after)
		news := s.changes.News()
		load, err := s.driver.Load()
		s.mu.Unlock()
		if moved || err != nil {
			return localsched.Watched{Changes: list, Cursor: cursor, Load: load}, err
		}
		select {
		case <-news:
		case <-s.gone:
			return localsched.Watched{}, ErrClosed
		case <-ctx.Done():
			return localsched.Watched{}, ctx.Err()
		}
	}
}
