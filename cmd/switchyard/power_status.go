package main

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
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
	load, err := p.queue.Scheduler().Load(limited)
	if err != nil {
		p.log.Debug("power_not_known", "error", err)
		return nil
	}
	told := p.budget.Power(load.Draw)
	told.Pending = p.queue.PendingDraw()
	return told
}
