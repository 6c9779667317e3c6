package driver

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// PlannedStarts says when the engine plans to start pending jobs, as [localsched.StartPlanner] requires; of an engine
// that is no [localsched.PlanningEngine], no start is known.
func (d *Driver) PlannedStarts(now protocol.Instant, tags []protocol.Tag) ([]localsched.PlannedStart, error) {
	if planner, ok := d.engine.(localsched.PlanningEngine); ok {
		return planner.PlannedStarts(now, tags)
	}
	return nil, nil
}
