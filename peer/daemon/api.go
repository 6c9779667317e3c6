package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
)

// notes are what the operator of the site should know.
func (d *Daemon) notes() (all []string) {
	if lacks := d.queue.Uncontained(); lacks != "" {
		all = append(all, lacks)
	}
	if note := d.node.ClockNote(); note != "" {
		all = append(all, note)
	}
	return all
}

// startAPI opens the socket for the people of the site.
func (d *Daemon) startAPI(ctx context.Context) error {
	ready := make(chan struct{})
	d.launch(ctx, "the API", func(ctx context.Context) error {
		err := api.Serve(ctx, api.Config{
			Socket: string(d.cfg.Site.Socket), Node: d.node, Site: d.cfg.Site.Name, Number: d.cfg.Site.Number,
			Version: d.options.Build.Version, Log: d.log, Ready: func() { close(ready) }, Rules: d.rules, Reload: d.reload,
			Plugins: d.pluginStatus, Power: d.power, ExportRemote: d.cfg.Submit.ExportRemote,
			Private: d.cfg.API.Private, Admins: d.cfg.API.Admins,
			Alarms: d.budget.Alarms, Notes: d.notes, Gossip: d.gossip != nil, Mail: d.cfg.Mail != nil,
		})
		if err != nil {
			return fmt.Errorf("[site] socket: %w", err)
		}
		return nil
	})
	select {
	case <-ready:
	case <-d.failed:
		d.failed <- struct{}{} // run sees it too
	}
	return nil
}

// loadTimeout bounds how long the batch system may take to say what its jobs draw.
const loadTimeout = 2 * time.Second

// power is what the jobs of this site draw and may draw; nil without a budget.
func (d *Daemon) power(ctx context.Context) *api.Power {
	if !d.active.Load().Power.Budgeted() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	load, err := d.queue.Scheduler().Load(limited)
	if err != nil {
		d.log.Debug("power_query_failed", "error", err)
		return nil
	}
	power := d.budget.Power(load.Draw)
	power.Pending = d.queue.PendingDraw()
	return power
}
