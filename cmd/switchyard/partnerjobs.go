package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
)

// askPatience bounds how long a check waits for the peer that runs.
const askPatience = 10 * time.Second

// warnOfMissing says how many jobs concern partners that the configuration lacks. A database
// that cannot be read does not make the configuration wrong.
func (a *app) warnOfMissing(ctx context.Context, cfg *config.Config) {
	jobs, err := partnerJobs(ctx, cfg)
	if err != nil {
		a.notice(notCounted, console.Plain(err.Error()))
		return
	}
	for _, warning := range missingPartners(cfg, jobs) {
		a.notice("warning: %s", console.Plain(warning))
	}
}

// notCounted is the notice that there are no figures, with why.
const notCounted = "jobs of partners that are not configured were not counted: %s"

// missingPartners is a warning for each partner that the configuration lacks and jobs concern,
// in the order of names.
func missingPartners(cfg *config.Config, jobs peer.PartnerCount) (warnings []string) {
	for _, site := range slices.Sorted(maps.Keys(jobs)) {
		configured := slices.ContainsFunc(cfg.Partners, func(p config.Partner) bool { return p.Name == site })
		if n := jobs[site]; !configured && n != (peer.PartnerJobs{}) {
			warnings = append(warnings, fmt.Sprintf("partner %q: %s", site, n.Missing()))
		}
	}
	return warnings
}

// partnerJobs counts the jobs that concern each partner: in the database when it is free and
// may be read, else by what the peer says that has it open.
func partnerJobs(ctx context.Context, cfg *config.Config) (peer.PartnerCount, error) {
	jobs, err := storedPartnerJobs(statedir.Database(string(cfg.Site.StateDir)))
	if !errors.Is(err, store.ErrLocked) && !errors.Is(err, fs.ErrPermission) {
		return jobs, err
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	client := api.Dial(string(cfg.Site.Socket))
	defer client.Close()
	sites, asked := client.Sites(ctx)
	if asked != nil {
		return nil, fmt.Errorf("%w; nor can the peer be asked: %w", err, asked)
	}
	if !slices.ContainsFunc(sites.Sites, func(s peer.SiteView) bool { return s.Self && s.Site == cfg.Site.Name }) {
		return nil, fmt.Errorf("%w; and the peer at %s is not that of site %s", err, cfg.Site.Socket, cfg.Site.Name)
	}
	return knownPartnerJobs(sites), nil
}

// storedPartnerJobs counts in a database that no peer has open; none when there is none.
func storedPartnerJobs(path string) (peer.PartnerCount, error) {
	var counter node.PartnerCounter
	report, err := store.Verify(path, counter.Add)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case len(report.Damage) > 0:
		return nil, fmt.Errorf("the database %s is damaged; see switchyard store verify: %w", path, report.Damage[0])
	}
	return counter.Count()
}

// knownPartnerJobs is what a running peer says of its partners.
func knownPartnerJobs(sites peer.Sites) peer.PartnerCount {
	jobs := peer.PartnerCount{}
	for _, site := range sites.Sites {
		if !site.Self {
			jobs[site.Site] = peer.PartnerJobs{Sent: site.JobsSent, Here: site.JobsHere}
		}
	}
	return jobs
}

// missingWith warns of the partners that a configuration lacks and jobs of this peer concern.
func (p *peerProcess) missingWith(ctx context.Context, next *config.Config) []string {
	reply, err := p.node.Ask(ctx, func(asked peer.AskID) peer.Event { return peer.AskSites{Asked: asked} })
	if err != nil {
		return []string{fmt.Sprintf(notCounted, err)}
	}
	sites, _ := reply.(peer.Sites)
	return missingPartners(next, knownPartnerJobs(sites))
}
