package main

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// loadPatience bounds how long the batch system may take to say what its jobs draw.
const loadPatience = 2 * time.Second

// power is what the jobs of this site draw and may draw; nil without a budget.
func (p *peerProcess) power(ctx context.Context) *api.Power {
	if !p.inForce.Load().Power.Budgeted() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	load, err := p.scheduler.Load(limited)
	if err != nil {
		p.log.Debug("power_not_known", "error", err)
		return nil
	}
	told := powerOf(p.budget.current().Signal, load.Draw, protocol.InstantOf(time.Now()))
	if p.pendingDraw != nil {
		told.Pending = p.pendingDraw()
	}
	return told
}

// powerOf tells the budget of an instant, and the one after it.
func powerOf(signal power.Signal, draw int64, now protocol.Instant) *api.Power {
	limit, until := signal.At(now)
	told := &api.Power{Draw: draw, Budget: budgetTold(limit)}
	if until != power.End {
		next, _ := signal.At(until)
		told.Until, told.Next = until, budgetTold(next)
	}
	return told
}

// budgetTold is a budget as the API tells it.
func budgetTold(limit int64) *int64 {
	if limit == power.Unlimited {
		return nil
	}
	return &limit
}
