package process

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
)

var _ localsched.Prioritizer = (*Scheduler)(nil)

// SetPriorities implements [localsched.Prioritizer]. They are not kept over a restart: then jobs have those that they were
// submitted with.
func (s *Scheduler) SetPriorities(_ context.Context, priorities []localsched.Priority) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return localsched.ErrClosed
	}
	s.driver.SetPriorities(s.driver.Now(), priorities)
	s.driver.Done(nil)
	return nil
}
