package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config says what grid to make. Dir, Binary and Sites are required.
type Config struct {
	Dir    string   // an existing directory; everything is kept in it
	Binary string   // the switchyard binary
	Env    []string // added to the peers' environment
	Sites  []Machine

	Initiation         string            // of rounds; "": "sender"
	Policy             string            // that decides rounds; "": "tc"
	LocalPolicy        string            // of the local queues; "": "easy"
	LocalWaitThreshold protocol.Duration // φ; 0: 1 s
	CheckInterval      protocol.Duration // σ; 0: 5 min
	QuoteTimeout       protocol.Duration // for quotes; 0: 1 s
	CycleInterval      protocol.Duration // under the initiation cycle; 0: 1 s
	MaxJobsPerCycle    int               // jobs that a site takes in a cycle; 0: any number
	OnStop             string            // what becomes of running jobs when a peer stops: "leave" or "end"; "" is "leave"
}

// Machine is a site to make.
type Machine struct {
	Name protocol.SiteName
	CPUs int

	LocalSched string // TOML of the table [localsched]; "": the built-in batch system with the site's CPUs
	Policy     string // that decides rounds; "": that of the grid
	Currency   string // of the site's money; "": it names none
	More       string // further tables in TOML
	Shared     string // a directory below that of the grid that it says it shares with all others; "": none
	Recording  string // a new file in which the peer records its inputs; "": none
}

// Grid is a grid on this machine.
type Grid struct {
	Dir   string
	Sites []*Site
}

// New writes the keys and configurations of a grid. Nothing runs yet.
func New(ctx context.Context, cfg Config) (*Grid, error) {
	cfg = cfg.withDefaults()
	account, err := JobAccount(ctx)
	if err != nil {
		return nil, err
	}
	// Other accounts may pass through, because their jobs run below.
	if err = os.Chmod(cfg.Dir, 0o711); err != nil { //nolint:gosec // see above
		return nil, fmt.Errorf("open %s for the jobs' account: %w", cfg.Dir, err)
	}
	ring := filepath.Join(cfg.Dir, "gossip.keys")
	if err = os.WriteFile(ring, []byte(gossip.NewKey()+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("write the gossip keyring: %w", err)
	}
	grid := &Grid{Dir: cfg.Dir}
	addresses, err := FreePorts(2 * len(cfg.Sites))
	if err != nil {
		return nil, err
	}
	for i, machine := range cfg.Sites {
		site, err := newSite(cfg, machine, protocol.SiteNumber(i+1), addresses[2*i], addresses[2*i+1])
		if err != nil {
			return nil, err
		}
		grid.Sites = append(grid.Sites, site)
	}
	for _, site := range grid.Sites {
		text := settingsText(ctx, cfg, site, grid.Sites, ring, account)
		if err := os.WriteFile(site.Config, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("write the configuration of %s: %w", site.Name, err)
		}
	}
	return grid, nil
}

func (c Config) withDefaults() Config {
	c.Initiation = cmp.Or(c.Initiation, "sender")
	c.Policy = cmp.Or(c.Policy, "tc")
	c.LocalPolicy = cmp.Or(c.LocalPolicy, "easy")
	c.LocalWaitThreshold = cmp.Or(c.LocalWaitThreshold, protocol.Second)
	c.CheckInterval = cmp.Or(c.CheckInterval, 5*protocol.Minute)
	c.QuoteTimeout = cmp.Or(c.QuoteTimeout, protocol.Second)
	c.CycleInterval = cmp.Or(c.CycleInterval, protocol.Second)
	c.OnStop = cmp.Or(c.OnStop, "leave")
	return c
}

// Start starts all peers and waits until each sees all others.
func (g *Grid) Start(ctx context.Context) error {
	for _, site := range g.Sites {
		if err := site.Start(); err != nil {
			return err
		}
	}
	return g.Linked(ctx)
}

// Linked waits until every running peer answers and has a link to all others.
func (g *Grid) Linked(ctx context.Context) error {
	for _, site := range g.Sites {
		if err := site.linked(ctx, len(g.Sites)-1); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends all peers, at first kindly.
func (g *Grid) Stop(patience time.Duration) error {
	var stopped []error
	for _, site := range g.Sites {
		site.ask()
	}
	for _, site := range g.Sites {
		stopped = append(stopped, site.Stop(patience))
	}
	return errors.Join(stopped...)
}
