package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/peer/accounts"
	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/plugins/catalog"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

// findings are what is wrong with a configuration on this machine, and what could not be looked at.
type findings struct {
	problems []string
	unseen   []string
}

// startFindings says what a start with a configuration would fail on, or jobs would later: what
// is in files, which accounts there are, and how plugins begin. It changes nothing.
func startFindings(ctx context.Context, cfg *config.Config) (f findings) {
	key := func() error { _, err := identity.LoadKey(string(cfg.Site.Key)); return err }()
	f.secret("[site] key", key)
	if cfg.Gossip != nil {
		_, err := gossip.LoadKeys(string(cfg.Gossip.Keyring))
		f.secret("[gossip] keyring", err)
	}
	if n := cfg.NATS; n.URL != "" {
		f.secret("[nats]", (&bus.External{Creds: string(n.Creds), Nkey: string(n.Nkey), Token: string(n.Token), CA: string(n.CA)}).Check())
	}
	own := ownAccount()
	if errors.Is(key, fs.ErrPermission) { // this account is not the peer's
		own = ""
	}
	f.problems = append(f.problems, accountProblems(cfg, own, knownHere(ctx))...)
	f.add(checkPlugins(cfg))
	f.add(checkFeeds(ctx, cfg))
	if len(f.problems) == 0 {
		f.add(tryPlugins(ctx, cfg))
	}
	return f
}

func (f *findings) add(err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range all.Unwrap() {
			f.add(one)
		}
		return
	}
	if err != nil {
		f.problems = append(f.problems, err.Error())
	}
}

// secret adds what is wrong with a file that only the peer's account may read.
func (f *findings) secret(key string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0:
		f.unseen = append(f.unseen, fmt.Sprintf("%s was not looked at: %v; check as root, or as the peer's account", key, err))
	default:
		f.problems = append(f.problems, fmt.Sprintf("%s: %v", key, err))
	}
}

// ownAccount is the one account as which this process can start jobs; empty: as any.
func ownAccount() string {
	if os.Geteuid() == 0 {
		return ""
	}
	return userName()
}

// knownHere says why this machine does not know an account.
func knownHere(ctx context.Context) func(account string) error {
	return func(account string) error { return spool.CheckAccount(ctx, account) }
}

// accountProblems says which accounts of a configuration can run no job: those that this machine
// does not know, and all but the peer's own where that is known and not root.
func accountProblems(cfg *config.Config, own string, known func(account string) error) (problems []string) {
	look := func(where, who, account string) {
		err := known(account)
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s: %s is mapped to account %q: %v; make the account, or name another one",
				where, who, account, err))
		case own != "" && account != own:
			problems = append(problems, fmt.Sprintf("%s: %s is mapped to account %q, and a peer of %s can start jobs only as %s; "+
				"start the peer as root, or map to %q", where, who, account, own, own, own))
		}
	}
	for _, user := range slices.Sorted(maps.Keys(cfg.Accounts.Local)) {
		look("[accounts] local", fmt.Sprintf("user %q", user), cfg.Accounts.Local[user])
	}
	for _, p := range cfg.Partners {
		for _, user := range slices.Sorted(maps.Keys(p.Users)) {
			who := fmt.Sprintf("user %q", user)
			if user == accounts.Anyone {
				who = "everybody else"
			}
			look(fmt.Sprintf("[[partner]] %s: users", p.Name), who, p.Users[user])
		}
	}
	return problems
}

// tryPlugins starts the policies and price feeds of a configuration, each alone and for a moment,
// and says which do not come up. Plugins that are local schedulers are left alone: there may be
// one that has jobs.
func tryPlugins(ctx context.Context, cfg *config.Config) error {
	var errs []error
	for i := range cfg.Plugins {
		if table := &cfg.Plugins[i]; catalog.Kind(table.Kind) != catalog.SchedulerKind {
			errs = append(errs, tryPlugin(ctx, cfg, table))
		}
	}
	return errors.Join(errs...)
}

func tryPlugin(ctx context.Context, cfg *config.Config, table *config.Plugin) (err error) {
	failed := func(err error) error { return fmt.Errorf("[[plugin]] %s: %w", table.Name, err) }
	spec, err := pluginSpec(table)
	if err != nil {
		return failed(err)
	}
	state, err := os.MkdirTemp("", "switchyard-check-")
	if err != nil {
		return failed(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	spec.Host = sdk.Host{Site: cfg.Site.Name, Seed: uint64(cfg.Site.Seed), Software: "switchyard " + version, StateDir: state} //nolint:gosec // any number will do
	started, err := catalog.Start(ctx, spec, io.Discard)
	if err != nil {
		return failed(fmt.Errorf("it does not come up: %w", err))
	}
	defer func() { err = errors.Join(err, started.Close()) }()
	if catalog.Kind(table.Kind) != catalog.FeedKind || cfg.Prices.Feed != table.Name {
		return nil
	}
	described, err := started.Feed().Describe(ctx)
	if err == nil {
		err = knowsArea(described, cfg.Prices.Area)
	}
	if err != nil {
		return fmt.Errorf("[prices] area: %w", err)
	}
	return nil
}

// logOdd has the log say what accounts can run no job.
func (p *peerProcess) logOdd(ctx context.Context) {
	for _, odd := range accountProblems(p.cfg, ownAccount(), knownHere(ctx)) {
		p.log.Warn("config_odd", "what", odd)
	}
}

// knowsArea says why a feed does not know an area.
func knowsArea(described price.Description, area string) error {
	if slices.Contains(described.Areas, area) {
		return nil
	}
	return unknownArea(area, described.Areas)
}
