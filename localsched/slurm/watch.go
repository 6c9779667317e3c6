package slurm

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// Watch implements [localsched.Runner]. A withdrawn job is not reported: the
// answer to its withdrawal was the report. Cursors outlive the adapter. After Open
// the state of each job that has not ended is reported again.
func (s *Scheduler) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	from := parseCursor(after)
	for {
		s.mu.Lock()
		list, at := s.changes.after(from)
		news, load := s.changes.news, s.load()
		s.mu.Unlock()
		if len(list) > 0 {
			return localsched.Watched{Changes: list, Cursor: at.cursor(), Load: load}, nil
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
