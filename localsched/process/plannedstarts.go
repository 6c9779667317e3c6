package process

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var _ localsched.StartPlanner = (*Scheduler)(nil)

// PlannedStarts implements [localsched.StartPlanner].
func (s *Scheduler) PlannedStarts(_ context.Context, tags []protocol.Tag) ([]localsched.PlannedStart, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, localsched.ErrClosed
	}
	return s.driver.PlannedStarts(s.driver.Now(), tags)
}
