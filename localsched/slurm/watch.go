package slurm

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// Watch implements [localsched.Runner]. A withdrawn job is not reported: the
// answer to its withdrawal was the report. Cursors outlive the adapter. After Open
// the state of each job that has not ended is reported again.
func (s *Scheduler) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	for {
		s.mu.Lock()
		list, cursor, moved := s.changes.After(after)
		news, load := s.changes.News(), s.load()
		s.mu.Unlock()
		if moved {
			return localsched.Watched{Changes: list, Cursor: cursor, Load: load}, nil
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
