package localsched

import (
	"context"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// PlannedStarts are those of a scheduler, as [StartPlanner.PlannedStarts] says them; none of one that is no [StartPlanner].
func PlannedStarts(ctx context.Context, s Scheduler, tags []protocol.Tag) ([]PlannedStart, error) {
	if planner, ok := s.(StartPlanner); ok {
		return planner.PlannedStarts(ctx, tags)
	}
	return nil, nil
}

// SetPriorities gives jobs of a scheduler other priorities. One that is no [Prioritizer] has another order, and ignores them.
func SetPriorities(ctx context.Context, s Scheduler, priorities []Priority) error {
	if under, ok := s.(Prioritizer); ok {
		return under.SetPriorities(ctx, priorities)
	}
	return nil
}
