package sim

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// reserve holds room for a job, as [localsched.Reserver] wants it: for the time too that it
// may be held up by its data.
func (b *batchSystem) reserve(now protocol.Instant, hold localsched.Hold) (protocol.Instant, error) {
	holder, ok := b.engine.(localsched.Holder)
	if !ok {
		return 0, &localsched.RefusedError{Reason: "this site's batch system holds no room"}
	}
	index, err := b.site.grid.indexOf(hold.Tag.Job)
	if err != nil {
		return 0, err
	}
	hold.Request.WallTime = hold.Request.WallTime.Plus(b.site.grid.transfer(index, b.site.index))
	at, actions, err := holder.Hold(now, hold, false)
	if err != nil {
		return 0, fmt.Errorf("hold room for %v: %w", hold.Tag, err)
	}
	b.held[hold.Tag] = at.Add(hold.Request.WallTime)
	b.wakes = true
	b.carryOut(now, actions)
	return at, nil
}

// release gives up a hold that no job has taken. There need not be one.
func (b *batchSystem) release(now protocol.Instant, tag protocol.Tag) error {
	holder, ok := b.engine.(localsched.Holder)
	if !ok {
		return nil
	}
	delete(b.held, tag)
	actions, err := holder.Drop(now, tag)
	if err != nil {
		return fmt.Errorf("release the room held for %v: %w", tag, err)
	}
	b.carryOut(now, actions)
	return nil
}

// holds says whether room is held for a job that has not come.
func (b *batchSystem) holds(now protocol.Instant, tag protocol.Tag) bool {
	until, ok := b.held[tag]
	return ok && now < until
}
