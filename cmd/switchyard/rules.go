package main

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
	"github.com/switchyard-hpc/switchyard/plugins/catalog"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// retunePatience bounds how long the peer may take to change its rules.
const retunePatience = 10 * time.Second

// rules are those in force.
func (d *Daemon) rules() api.Rules {
	cfg := d.inForce.Load()
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

// Reload reads the configuration again and puts in force what may change while the peer runs:
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

// reload reads the configuration again and puts in force what may change while
// the peer runs: all of it, or nothing when something is wrong with the files.
func (d *Daemon) reload(ctx context.Context, by string) (api.Reloaded, error) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	before := d.inForce.Load()
	next, err := config.Load(d.options.Paths...)
	if err != nil {
		return d.notReloaded(by, err), nil
	}
	mixed := before.With(next)
	changed, restart := changesOf(before, next)
	feeds, err := pricefeed.Reopen(d.feedFiles, slices.Concat(changed, restart), d.log)
	if err != nil {
		return d.notReloaded(by, err), nil
	}
	if err = d.apply(ctx, mixed, changed); err != nil {
		return api.Reloaded{}, err
	}
	for i := range feeds {
		changed = append(changed, feeds[i].Use())
	}
	if len(feeds) > 0 {
		d.budget.Wake()
	}
	done := api.Reloaded{Changed: changed, Restart: restart, Rules: d.rules()}
	done.Added, done.Removed = before.OtherPartners(mixed)
	done.Changed = slices.DeleteFunc(done.Changed, func(c api.Change) bool {
		return isOf(c, done.Added) || isOf(c, done.Removed)
	})
	for _, odd := range next.Warnings {
		done.Warnings = append(done.Warnings, odd.String())
	}
	done.Warnings = append(done.Warnings, d.missingWith(ctx, next)...)
	d.log.Info("config_reloaded", "by", by, "changed", lines(done.Changed), "needs_restart", lines(restart),
		"added_partners", done.Added, "removed_partners", done.Removed)
	return done, nil
}

// notReloaded tells what is wrong with the files, of which nothing was put in force.
func (d *Daemon) notReloaded(by string, err error) api.Reloaded {
	problems := config.ProblemsOf(err)
	d.log.Error("config_not_reloaded", "by", by, "problems", problems)
	return api.Reloaded{Problems: problems, Changed: []api.Change{}, Restart: []api.Change{}, Rules: d.rules()}
}

// isOf says whether a key is in the table of one of the partners.
func isOf(c api.Change, partners []protocol.SiteName) bool {
	return slices.ContainsFunc(partners, func(site protocol.SiteName) bool {
		return strings.HasPrefix(c.Key, fmt.Sprintf("partner[%s].", site))
	})
}

func changesOf(before, next *config.Config) (changed, restart []api.Change) {
	changed, restart = []api.Change{}, []api.Change{}
	for _, c := range before.Changes(next) {
		one := api.Change{Key: c.Key, From: c.From, To: c.To}
		if c.Live {
			changed = append(changed, one)
		} else {
			restart = append(restart, one)
		}
	}
	return changed, restart
}

// apply puts a configuration in force that differs in some keys.
func (d *Daemon) apply(ctx context.Context, next *config.Config, changed []api.Change) error {
	in := func(prefix string) bool {
		return slices.ContainsFunc(changed, func(c api.Change) bool { return strings.HasPrefix(c.Key, prefix) })
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
	if in("rounds.") || in("policy.") {
		before := d.plugins.names()
		if err = d.repolicy(ctx, next); err != nil {
			return errors.Join(err, d.plugins.keep(before)) // a mended file may be read again
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
	if in("partner[") {
		if err = d.repartner(ctx, next); err != nil {
			return fmt.Errorf("change the partners: %w", err)
		}
	}
	if in("log.") {
		d.level.Set(levelOf(next.Log))
	}
	d.inForce.Store(next)
	rules := d.rules()
	d.meter.Rules(rules.Initiation, rules.Policy, rules.LocalPolicy)
	return nil
}

func lines(changes []api.Change) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.Text()
	}
	return out
}

// policyOf is the policy that a configuration names. A plugin that is not up, after
// it had its time to start, is an error that wraps errNotUp.
func (d *Daemon) policyOf(ctx context.Context, cfg *config.Config) (policy.Policy, error) {
	if builtin := cfg.BuiltIn(cfg.Policy.Name); builtin != nil {
		return catalog.CheckedPolicy(builtin), nil
	}
	table := cfg.Plugin(config.PolicyKind, cfg.Policy.Name)
	if table == nil {
		return nil, errors.New("its [[plugin]] has changed; start the peer again for that")
	}
	started, err := d.plugin(table) //nolint:contextcheck // it runs until it is closed
	if err != nil {
		return nil, err
	}
	if err := started.Wait(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotUp, err)
	}
	return started.Policy(), nil
}

// errNotUp says that a plugin does not answer yet.
var errNotUp = errors.New("the policy is not there yet")

// fallback decides while the policy cannot.
func (d *Daemon) fallback() policy.Policy {
	return catalog.CheckedPolicy(d.cfg.BuiltIn(d.cfg.Policy.Fallback))
}

// firstPolicy is the policy that the peer begins with: the fallback, when the one
// that is configured is not up. That takes its place later.
func (d *Daemon) firstPolicy(ctx context.Context) (decides policy.Policy, name string, err error) {
	wanted, err := d.policyOf(ctx, d.cfg)
	if errors.Is(err, errNotUp) && ctx.Err() == nil {
		d.log.Error("policy_not_up", "policy", d.cfg.Policy.Name, "error", err, "instead", d.cfg.Policy.Fallback)
		return d.fallback(), d.cfg.Policy.Fallback, nil
	}
	return wanted, d.cfg.Policy.Name, err
}

// takeUp puts the configured policy in force when that has come up at last.
func (d *Daemon) takeUp(ctx context.Context) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	cfg := d.inForce.Load()
	if cfg.Policy.Name == *d.deciding.Load() {
		return
	}
	if err := d.repolicy(ctx, cfg); err != nil {
		d.log.Error("policy_not_in_force", "policy", cfg.Policy.Name, "error", err, "instead", *d.deciding.Load())
		return
	}
	d.log.Info("policy_in_force", "policy", cfg.Policy.Name)
}

// decides notes which policy is in force.
func (d *Daemon) decides(name string) {
	d.deciding.Store(&name)
	rules := d.rules()
	d.meter.Rules(rules.Initiation, rules.Policy, rules.LocalPolicy)
}

// repolicy puts the policy and the rules of rounds of a configuration in force.
func (d *Daemon) repolicy(ctx context.Context, cfg *config.Config) error {
	wanted, err := d.policyOf(ctx, cfg)
	if err != nil {
		return fmt.Errorf("change the policy to %s: %w", cfg.Policy.Name, err)
	}
	return d.retune(ctx, cfg, wanted)
}

// retune puts rules of rounds in force, with the policy that decides by them.
func (d *Daemon) retune(ctx context.Context, cfg *config.Config, decides policy.Policy) error {
	limited, cancel := context.WithTimeout(ctx, retunePatience)
	defer cancel()
	if err := d.node.Retune(limited, cfg.Tuning(decides.Info()), decides); err != nil {
		return fmt.Errorf("change the rules of rounds: %w", err)
	}
	d.decides(cfg.Policy.Name)
	return nil
}
