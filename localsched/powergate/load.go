package powergate

import (
	"context"
	"math"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Load implements [localsched.Planner]: the batch system's, and what is held here counts
// as queued.
func (g *Gate) Load(ctx context.Context) (protocol.Load, error) {
	load, err := g.Scheduler.Load(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return protocol.Load{}, localsched.ErrClosed
	}
	if err != nil {
		return protocol.Load{}, err
	}
	g.lastLoadBehind = load
	return g.within(load), nil
}

// lastLoad is the load, as far as the batch system tells it.
func (g *Gate) lastLoad(ctx context.Context) protocol.Load {
	load, err := g.Load(ctx)
	if err == nil {
		return load
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.within(g.lastLoadBehind)
}

// within adds to the batch system's load what is here. Of its idle CPUs those are withheld
// for which the budget leaves no power. The lock is held.
func (g *Gate) within(load protocol.Load) protocol.Load {
	own := g.load()
	load.QueuedJobs += own.QueuedJobs
	load.QueuedWork += min(own.QueuedWork, math.MaxInt64-load.QueuedWork)
	load.Draw, load.Budget = own.Draw-g.pending(), own.Budget
	if g.unrated {
		load.Draw = 0
	}
	if own.PowerIdledCPUs > 0 {
		load.PowerIdledCPUs = max(0, load.CPUs-load.Busy-own.Free())
	}
	return load
}
