package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// retunePatience bounds how long the peer may take to change its rules.
const retunePatience = 10 * time.Second

// rules are those in force.
func (p *peerProcess) rules() api.Rules {
	cfg := p.inForce.Load()
	rules := api.Rules{
		Initiation: string(cfg.Rounds.Initiation), Policy: *p.deciding.Load(), LocalPolicy: cfg.LocalSched.Plugin,
	}
	if p.process != nil {
		rules.LocalPolicy = cfg.LocalSched.Policy
	}
	return rules
}

// reload reads the configuration again and puts in force what may change while
// the peer runs: all of it, or nothing when something is wrong with the files.
func (p *peerProcess) reload(ctx context.Context, by string) (api.Reloaded, error) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	before := p.inForce.Load()
	next, err := config.Load(p.from...)
	if err != nil {
		return p.notReloaded(by, err), nil
	}
	mixed := before.With(next)
	changed, restart := changesOf(before, next)
	feeds, err := reopen(p.feedFiles, slices.Concat(changed, restart), p.log)
	if err != nil {
		return p.notReloaded(by, err), nil
	}
	if err = p.apply(ctx, mixed, changed); err != nil {
		return api.Reloaded{}, err
	}
	for i := range feeds {
		changed = append(changed, feeds[i].use())
	}
	if len(feeds) > 0 {
		p.budget.hear()
	}
	done := api.Reloaded{Changed: changed, Restart: restart, Rules: p.rules()}
	done.Added, done.Removed = before.OtherPartners(mixed)
	done.Changed = slices.DeleteFunc(done.Changed, func(c api.Change) bool {
		return isOf(c, done.Added) || isOf(c, done.Removed)
	})
	for _, odd := range next.Warnings {
		done.Warnings = append(done.Warnings, odd.String())
	}
	done.Warnings = append(done.Warnings, p.missingWith(ctx, next)...)
	p.log.Info("config_reloaded", "by", by, "changed", lines(done.Changed), "needs_restart", lines(restart),
		"added_partners", done.Added, "removed_partners", done.Removed)
	return done, nil
}

// notReloaded tells what is wrong with the files, of which nothing was put in force.
func (p *peerProcess) notReloaded(by string, err error) api.Reloaded {
	problems := config.ProblemsOf(err)
	p.log.Error("config_not_reloaded", "by", by, "problems", problems)
	return api.Reloaded{Problems: problems, Changed: []api.Change{}, Restart: []api.Change{}, Rules: p.rules()}
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
func (p *peerProcess) apply(ctx context.Context, next *config.Config, changed []api.Change) error {
	in := func(prefix string) bool {
		return slices.ContainsFunc(changed, func(c api.Change) bool { return strings.HasPrefix(c.Key, prefix) })
	}
	local, err := engine.Named(next.LocalSched.Policy)
	if err != nil {
		return fmt.Errorf("[localsched] policy: %w", err)
	}
	if in("power.") {
		if err = p.budget.mayBecome(next); err != nil {
			return err
		}
	}
	if in("rounds.") || in("policy.") {
		before := p.plugins.names()
		if err = p.repolicy(ctx, next); err != nil {
			return errors.Join(err, p.plugins.keep(before)) // a mended file may be read again
		}
	}
	if in("localsched.") && p.process != nil {
		if err = p.process.SetPolicy(local); err != nil {
			return fmt.Errorf("change the policy of the local queue: %w", err)
		}
	}
	if in("power.") {
		if err = p.budget.become(ctx, next); err != nil {
			return fmt.Errorf("change the power budget: %w", err)
		}
	}
	if in("partner[") {
		if err = p.repartner(ctx, next); err != nil {
			return fmt.Errorf("change the partners: %w", err)
		}
	}
	if in("log.") {
		p.level.Set(levelOf(next.Log))
	}
	p.inForce.Store(next)
	rules := p.rules()
	p.meter.Rules(rules.Initiation, rules.Policy, rules.LocalPolicy)
	return nil
}

// repartner puts the partners of a configuration in force.
func (p *peerProcess) repartner(ctx context.Context, next *config.Config) error {
	err := p.setPartners(ctx, next)
	if err != nil { // all or nothing
		return errors.Join(err, p.setPartners(ctx, p.inForce.Load()))
	}
	return nil
}

// setPartners gives all parts of the peer the partners: first who may run jobs here, then the
// node, which must know whose messages the links bring.
func (p *peerProcess) setPartners(ctx context.Context, cfg *config.Config) error {
	limited, cancel := context.WithTimeout(ctx, retunePatience)
	defer cancel()
	p.accounts.become(cfg)
	_, err := p.node.Ask(limited, func(asked peer.AskID) peer.Event {
		return peer.SetPartners{Asked: asked, Partners: cfg.PeerPartners()}
	})
	if err != nil {
		return err
	}
	if err = p.links.SetPartners(busPartners(cfg)); err != nil {
		return err
	}
	if p.gossip != nil {
		p.gossip.SetTrusted(cfg.Trusted())
	}
	return nil
}

// repolicy puts the policy and the rules of rounds of a configuration in force.
func (p *peerProcess) repolicy(ctx context.Context, cfg *config.Config) error {
	wanted, err := p.policyOf(ctx, cfg)
	if err != nil {
		return fmt.Errorf("change the policy to %s: %w", cfg.Policy.Name, err)
	}
	return p.retune(ctx, cfg, wanted)
}

// retune puts rules of rounds in force, with the policy that decides by them.
func (p *peerProcess) retune(ctx context.Context, cfg *config.Config, decides policy.Policy) error {
	limited, cancel := context.WithTimeout(ctx, retunePatience)
	defer cancel()
	if err := p.node.Retune(limited, cfg.Tuning(decides.Info()), decides); err != nil {
		return fmt.Errorf("change the rules of rounds: %w", err)
	}
	p.decides(cfg.Policy.Name)
	return nil
}

func lines(changes []api.Change) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = changeText(c)
	}
	return out
}

func changeText(c api.Change) string {
	return fmt.Sprintf("%s: %s → %s", c.Key, console.OrDash(c.From), console.OrDash(c.To))
}
