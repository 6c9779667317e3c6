package powergate

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var _ localsched.StartPlanner = (*Gate)(nil)

// PlannedStarts implements [localsched.StartPlanner]. Of jobs that are held here it says when the power budget would let
// them go, and the batch system may start them later.
func (g *Gate) PlannedStarts(ctx context.Context, tags []protocol.Tag) ([]localsched.PlannedStart, error) {
	planned, released, err := g.heldStarts(tags)
	if err != nil || len(released) == 0 {
		return planned, err
	}
	behind, err := localsched.PlannedStarts(ctx, g.Scheduler, released)
	return append(planned, behind...), err
}

// heldStarts is when the jobs among the tags that are held here would be let go; the others are released.
func (g *Gate) heldStarts(tags []protocol.Tag) (planned []localsched.PlannedStart, released []protocol.Tag, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, nil, localsched.ErrClosed
	}
	var held []protocol.Tag
	for _, tag := range tags {
		if j := g.jobs[tag]; j != nil && j.state == stateHeld {
			held = append(held, tag)
		} else {
			released = append(released, tag)
		}
	}
	planned, err = g.driver.PlannedStarts(g.driver.Now(), held)
	return planned, released, err
}
