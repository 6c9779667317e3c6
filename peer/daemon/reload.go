package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// changeTimeout bounds how long the peer may take to change its rules.
const changeTimeout = 10 * time.Second

// rules are the active ones.
func (d *Daemon) rules() api.Rules {
	cfg := d.active.Load()
	rules := api.Rules{
		Initiation: string(cfg.Rounds.Initiation), Policy: *d.deciding.Load(), LocalPolicy: cfg.LocalSched.Plugin,
	}
	if d.queue.BuiltIn() {
		rules.LocalPolicy = cfg.LocalSched.Policy
	}
	return rules
}

// errNotReady says that a reload comes too soon.
var errNotReady = errors.New("the peer is still starting")

// Reload reads the configuration again and applies what may change while the peer runs:
// all of it, or nothing when something is wrong with the files, which is then among the
// problems of what it returns. By says in the log who wants it. It may be called from any
// goroutine between Ready and the end of Run; calls wait for each other.
func (d *Daemon) Reload(ctx context.Context, by string) (api.Reloaded, error) {
	select {
	case <-d.ready:
		return d.reload(ctx, by)
	default:
		return api.Reloaded{}, errNotReady
	}
}

// reload reads the configuration again and applies what may change while
// the peer runs: all of it, or nothing when something is wrong with the files.
func (d *Daemon) reload(ctx context.Context, by string) (api.Reloaded, error) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	before := d.active.Load()
	next, err := config.Load(d.options.Paths...)
	if err != nil {
		return d.notReloaded(by, err), nil
	}
	mixed := before.With(next)
	if err = d.queue.Accepts(mixed); err != nil {
		return d.notReloaded(by, err), nil
	}
	key, err := d.keyOf(mixed)
	if err != nil {
		return d.notReloaded(by, err), nil
	}
	changed, restart := changesOf(before, next)
	if key != d.key {
		changed = withKey(changed, d.key.Public(), key.Public())
	}
	feeds, err := pricefeed.Reopen(d.feedFiles, slices.Concat(changed, restart), d.log)
	if err != nil {
		return d.notReloaded(by, err), nil
	}
	if err = noteRoster(mixed); err != nil {
		return d.notReloaded(by, err), nil
	}
	if err = d.apply(ctx, mixed, changed, key); err != nil {
		return api.Reloaded{}, err
	}
	d.noteSettings(by)
	for i := range feeds {
		changed = append(changed, feeds[i].Use())
	}
	var late error
	if len(feeds) > 0 {
		d.budget.Wake()
		late = d.changePrices(ctx)
	}
	done := api.Reloaded{Changed: changed, Restart: restart, Rules: d.rules()}
	done.Added, done.Removed = before.OtherPartners(mixed)
	done.Changed = slices.DeleteFunc(done.Changed, func(c api.Change) bool {
		return concerns(c, done.Added) || concerns(c, done.Removed)
	})
	done.Warnings = d.logWarnings(next)
	if what := d.compareKey(); what != "" {
		done.Warnings = append(done.Warnings, what)
	}
	done.Warnings = append(done.Warnings, d.missingPartnersHere(ctx, next)...)
	if late != nil {
		done.Warnings = append(done.Warnings, fmt.Sprintf("quotes use the previous prices until the next refresh: %v", late))
	}
	d.log.Info("config_reloaded", "by", by, "changed", lines(done.Changed), "needs_restart", lines(restart),
		"added_partners", done.Added, "removed_partners", done.Removed)
	return done, nil
}

// notReloaded returns what is wrong with the files, of which nothing was applied.
func (d *Daemon) notReloaded(by string, err error) api.Reloaded {
	problems := config.ProblemsOf(err)
	d.log.Error("config_reload_failed", "by", by, "problems", problems)
	return api.Reloaded{Problems: problems, Changed: []api.Change{}, Restart: []api.Change{}, Rules: d.rules()}
}

// concerns says whether a key is in the table of one of the partners.
func concerns(c api.Change, partners []protocol.SiteName) bool {
	return slices.ContainsFunc(partners, func(site protocol.SiteName) bool {
		return strings.HasPrefix(c.Key, fmt.Sprintf("partner[%s].", site))
	})
}

func changesOf(before, next *config.Config) (changed, restart []api.Change) {
	changed, restart = []api.Change{}, []api.Change{}
	for _, c := range before.Changes(next) {
		if c.Live {
			changed = append(changed, changeOf(c))
		} else {
			restart = append(restart, changeOf(c))
		}
	}
	return changed, restart
}

func changeOf(c config.Change) api.Change { return api.Change{Key: c.Key, From: c.From, To: c.To} }

// withKey are changes with that of the site's own key, which has one line: also if the file has another path, it is the public key that
// partners need to know.
func withKey(changed []api.Change, from, to string) []api.Change {
	const name = "site.key"
	at := slices.IndexFunc(changed, func(c api.Change) bool { return c.Key == name })
	if at < 0 {
		return append(changed, api.Change{Key: name, From: from, To: to})
	}
	changed[at].From += " (" + from + ")"
	changed[at].To += " (" + to + ")"
	return changed
}

// keyOf is the site's key by a configuration: the present one, unless the file has another.
func (d *Daemon) keyOf(cfg *config.Config) (*identity.Key, error) {
	key, err := readKey(cfg)
	if err == nil && key.Public() == d.key.Public() {
		return d.key, nil
	}
	return key, err
}

// apply activates a configuration that differs in some keys, and the key of the site.
func (d *Daemon) apply(ctx context.Context, next *config.Config, changed []api.Change, key *identity.Key) error {
	in := func(prefixes ...string) bool {
		return slices.ContainsFunc(changed, func(c api.Change) bool {
			return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(c.Key, prefix) })
		})
	}
	local, err := engine.Named(next.LocalSched.Policy)
	if err != nil {
		return fmt.Errorf("[localsched] policy: %w", err)
	}
	if in("power.") {
		if err = d.budget.CheckChange(next); err != nil {
			return err
		}
	}
	if in("rounds.", "policy.", "staging.") {
		before := d.plugins.names()
		if err = d.changePolicy(ctx, next); err != nil {
			return errors.Join(err, d.plugins.keep(before)) // a fixed file may be read again
		}
	}
	if in("localsched.") {
		if err = d.queue.SetPolicy(local); err != nil {
			return fmt.Errorf("change the policy of the local queue: %w", err)
		}
	}
	if in("power.") {
		if err = d.budget.Change(ctx, next); err != nil {
			return fmt.Errorf("change the power budget: %w", err)
		}
	}
	if err = d.changePartners(ctx, next, key, in("partner[", "association[")); err != nil {
		return fmt.Errorf("change the partners: %w", err)
	}
	if in("api.oidc[") {
		for i, issuer := range d.issuers {
			issuer.SetRules(next.API.OIDC[i].Rules())
		}
	}
	if in("log.") {
		d.level.Set(levelOf(next.Log))
	}
	d.active.Store(next)
	rules := d.rules()
	d.meter.Rules(rules.Initiation, rules.Policy, rules.LocalPolicy)
	return nil
}

// changePrices has the node ask the feed of prices, which may be another one now.
func (d *Daemon) changePrices(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	_, err := d.node.Ask(limited, func(asked event.AskID) event.Event { return event.ChangePrices{Asked: asked} })
	return err
}

func lines(changes []api.Change) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.Text()
	}
	return out
}
