package main

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
)

// loadPatience bounds how long the batch system may take to say what its jobs draw.
const loadPatience = 2 * time.Second

// power is what the jobs of this site draw and may draw; nil without a budget.
func (d *Daemon) power(ctx context.Context) *api.Power {
	if !d.inForce.Load().Power.Budgeted() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	load, err := d.queue.Scheduler().Load(limited)
	if err != nil {
		d.log.Debug("power_not_known", "error", err)
		return nil
	}
	told := d.budget.Power(load.Draw)
	told.Pending = d.queue.PendingDraw()
	return told
}
