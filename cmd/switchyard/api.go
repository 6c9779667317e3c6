package main

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/api"
)

// notes are what the operator of the site should know.
func (p *peerProcess) notes() (all []string) {
	if lacks := p.queue.Uncontained(); lacks != "" {
		all = append(all, lacks)
	}
	if note := p.node.ClockNote(); note != "" {
		all = append(all, note)
	}
	return all
}

// startAPI opens the socket for the people of the site.
func (p *peerProcess) startAPI(ctx context.Context) error {
	ready := make(chan struct{})
	p.launch(ctx, "the API", func(ctx context.Context) error {
		err := api.Serve(ctx, api.Config{
			Socket: string(p.cfg.Site.Socket), Node: p.node, Site: p.cfg.Site.Name, Number: p.cfg.Site.Number,
			Version: version, Log: p.log, Ready: func() { close(ready) }, Rules: p.rules, Reload: p.reload,
			Plugins: p.pluginStates, Power: p.power, ExportRemote: p.cfg.Submit.ExportRemote,
			Private: p.cfg.API.Private, Admins: p.cfg.API.Admins,
			Alarms: p.budget.Alarms, Notes: p.notes,
		})
		if err != nil {
			return fmt.Errorf("[site] socket: %w", err)
		}
		return nil
	})
	select {
	case <-ready:
	case <-p.failed:
		p.failed <- struct{}{} // run sees it too
	}
	return nil
}
