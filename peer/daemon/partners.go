package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// askTimeout bounds how long a check waits for the peer that runs.
const askTimeout = 10 * time.Second

// MissingPartners warns of the partners that a configuration lacks and jobs concern, with how
// many jobs do. A database that cannot be read does not make the configuration wrong: the error
// says that nothing was counted, and why.
func MissingPartners(ctx context.Context, cfg *config.Config) (warnings []string, err error) {
	jobs, err := partnerJobs(ctx, cfg)
	if err != nil {
		return nil, notCounted(err)
	}
	return missingPartners(cfg, jobs), nil
}

// notCounted says that there are no figures, and why.
func notCounted(why error) error {
	return fmt.Errorf("jobs of partners that are not configured were not counted: %w", why)
}

// missingPartners is a warning for each partner that the configuration lacks and jobs concern,
// in the order of names.
func missingPartners(cfg *config.Config, jobs row.PartnerCount) (warnings []string) {
	for _, site := range slices.Sorted(maps.Keys(jobs)) {
		configured := slices.ContainsFunc(cfg.Partners, func(p config.Partner) bool { return p.Name == site })
		if n := jobs[site]; !configured && n != (row.PartnerJobs{}) {
			warnings = append(warnings, fmt.Sprintf("partner %q: %s", site, n.Missing()))
		}
	}
	return warnings
}

// partnerJobs counts the jobs that concern each partner: in the database when it is free and
// may be read, else by what the peer says that has it open.
func partnerJobs(ctx context.Context, cfg *config.Config) (row.PartnerCount, error) {
	jobs, err := storedPartnerJobs(statedir.Database(string(cfg.Site.StateDir)))
	if !errors.Is(err, store.ErrLocked) && !errors.Is(err, fs.ErrPermission) {
		return jobs, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	client := api.Dial(string(cfg.Site.Socket))
	defer client.Close()
	sites, asked := client.Sites(ctx)
	if asked != nil {
		return nil, fmt.Errorf("%w; nor can the peer be asked: %w", err, asked)
	}
	if !slices.ContainsFunc(sites.Sites, func(s view.Site) bool { return s.Self && s.Site == cfg.Site.Name }) {
		return nil, fmt.Errorf("%w; and the peer at %s is not that of site %s", err, cfg.Site.Socket, cfg.Site.Name)
	}
	return knownPartnerJobs(sites), nil
}

// storedPartnerJobs counts in a database that no peer has open; none when there is none.
func storedPartnerJobs(path string) (row.PartnerCount, error) {
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
func knownPartnerJobs(sites view.Sites) row.PartnerCount {
	jobs := row.PartnerCount{}
	for _, site := range sites.Sites {
		if !site.Self {
			jobs[site.Site] = row.PartnerJobs{Sent: site.SentJobs, Here: site.GuestJobs}
		}
	}
	return jobs
}

// missingPartnersHere warns of the partners that a configuration lacks and jobs of this peer concern.
func (d *Daemon) missingPartnersHere(ctx context.Context, next *config.Config) []string {
	reply, err := d.node.Ask(ctx, func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} })
	if err != nil {
		return []string{notCounted(err).Error()}
	}
	sites, _ := reply.(view.Sites)
	return missingPartners(next, knownPartnerJobs(sites))
}

// sitesNode is the node, whose answers about sites have those too that are no partners because of the roster.
type sitesNode struct {
	*node.Node

	unused func() []config.UnusedPartner
}

func (d *Daemon) sitesNode() sitesNode {
	return sitesNode{d.node, func() []config.UnusedPartner { return d.active.Load().UnusedPartners() }}
}

// Ask asks the node.
func (n sitesNode) Ask(ctx context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	reply, err := n.Node.Ask(ctx, question)
	if sites, ok := reply.(view.Sites); ok {
		return withUnused(sites, n.unused()), err
	}
	return reply, err
}

// withUnused adds to sites those that the configuration names as partners and that are none because of the roster.
func withUnused(sites view.Sites, unused []config.UnusedPartner) view.Sites {
	for _, one := range unused {
		at := slices.IndexFunc(sites.Sites, func(s view.Site) bool { return s.Site == one.Site })
		switch {
		case at < 0:
			sites.Sites = append(sites.Sites, view.Site{Site: one.Site, Link: "missing", Reason: one.Reason})
		case sites.Sites[at].Link == "missing": // jobs name it
			sites.Sites[at].Reason = one.Reason + "; " + sites.Sites[at].Reason
		}
	}
	slices.SortFunc(sites.Sites[min(1, len(sites.Sites)):], func(a, b view.Site) int { return cmp.Compare(a.Site, b.Site) }) // after this one
	return sites
}

// changePartners applies the partners of a configuration if they are others, and the site's key if it is another one.
func (d *Daemon) changePartners(ctx context.Context, next *config.Config, key *identity.Key, others bool) error {
	if !others && key == d.key {
		return nil
	}
	if err := d.prepareKey(ctx, key); err != nil {
		return err
	}
	err := d.setPartners(ctx, next, key)
	if err != nil { // all or nothing
		return errors.Join(err, d.setPartners(ctx, d.active.Load(), d.key))
	}
	before := d.active.Load()
	d.key = key
	if !reflect.DeepEqual(before.Associations, next.Associations) || !reflect.DeepEqual(before.PeerPartners(), next.PeerPartners()) { // cards have them
		d.links.SendCard()
	}
	return nil
}

// prepareKey does what must be done before the site shows a key: the lock is taken, and the state directory names the key.
func (d *Daemon) prepareKey(ctx context.Context, key *identity.Key) error {
	if key.Public() == d.key.Public() {
		return nil
	}
	if err := d.lock(ctx, key); err != nil {
		return err
	}
	_, err := noteKey(string(d.cfg.Site.StateDir), key)
	return err
}

// setPartners gives all parts of the peer the partners: first who may run jobs here, then the
// node, which must know whose messages the links bring.
func (d *Daemon) setPartners(ctx context.Context, cfg *config.Config, key *identity.Key) error {
	limited, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	d.accounts.set(cfg)
	_, err := d.node.Ask(limited, func(asked event.AskID) event.Event {
		return event.SetPartners{Asked: asked, PublicKey: key.Public(), Partners: cfg.PeerPartners(), Associations: cfg.AssociationTable()}
	})
	if err != nil {
		return err
	}
	if err = d.links.SetPartners(key, busPartners(cfg)); err != nil { //nolint:contextcheck // a dial for files ends with their path
		return err
	}
	return d.changeGossip(cfg, key) //nolint:contextcheck // it runs until it is closed
}
