package engine

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// PlannedStarts says when pending jobs would start if nothing more came, all estimates held and jobs past their estimate
// ended in the next millisecond, as [Engine.Plan] says it of new jobs. The whole queue is planned once, up to the last of
// these starts. Jobs that are not pending, or for which no start is in sight, are left out.
func (e *Engine) PlannedStarts(now protocol.Instant, tags []protocol.Tag) []localsched.PlannedStart {
	c, slots := e.core, make(map[int]bool, len(tags))
	for _, tag := range tags {
		if slot, err := e.tags.get(tag); err == nil && (c.entries[slot].state == queued || c.entries[slot].state == claimed) {
			slots[slot] = true
		}
	}
	if len(slots) == 0 {
		return nil
	}
	now = max(now, c.state.now)
	starts := c.trialAt(now, nil).startsOf(slots, !c.passDone || c.due(now))
	planned := make([]localsched.PlannedStart, 0, len(slots))
	for _, tag := range tags {
		slot, err := e.tags.get(tag)
		if err != nil || !slots[slot] || starts[slot] == lastInstant {
			continue
		}
		slots[slot] = false // a tag that is named twice
		planned = append(planned, localsched.PlannedStart{Tag: tag, Start: starts[slot]})
	}
	return planned
}

// PlannedStarts implements [localsched.PlanningEngine].
func (b fallibleEngine) PlannedStarts(now protocol.Instant, tags []protocol.Tag) ([]localsched.PlannedStart, error) {
	return b.Engine.PlannedStarts(now, tags), nil
}

var _ localsched.PlanningEngine = fallibleEngine{}
