package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
)

// policyOf is the policy that a configuration names. A plugin that is not up, after
// it had its time to start, is an error that wraps errNotUp.
func (d *Daemon) policyOf(ctx context.Context, cfg *config.Config) (policy.Policy, error) {
	if builtin := cfg.BuiltIn(cfg.Policy.Name); builtin != nil {
		return pluginhost.CheckedPolicy(builtin), nil
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

// fronter lays out choices between cost and time where the policy does not.
func (d *Daemon) fronter() policy.ParetoPolicy {
	fronter, _ := pluginhost.CheckedPolicy(builtin.Fronter()).(policy.ParetoPolicy) // it is one
	return fronter
}

// fallback decides while the policy cannot.
func (d *Daemon) fallback() policy.Policy {
	return pluginhost.CheckedPolicy(d.cfg.BuiltIn(d.cfg.Policy.Fallback))
}

// initialPolicy is the policy that the peer begins with: the fallback, when the one
// that is configured is not up. That takes its place later.
func (d *Daemon) initialPolicy(ctx context.Context) (decides policy.Policy, name string, err error) {
	wanted, err := d.policyOf(ctx, d.cfg)
	if errors.Is(err, errNotUp) && ctx.Err() == nil {
		d.log.Error("plugin_unavailable", "policy", d.cfg.Policy.Name, "error", err, "instead", d.cfg.Policy.Fallback)
		return d.fallback(), d.cfg.Policy.Fallback, nil
	}
	return wanted, d.cfg.Policy.Name, err
}

// activateLatePolicy activates the configured policy once its plugin has come up.
func (d *Daemon) activateLatePolicy(ctx context.Context) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	cfg := d.active.Load()
	if cfg.Policy.Name == *d.deciding.Load() {
		return
	}
	if err := d.changePolicy(ctx, cfg); err != nil {
		d.log.Error("policy_change_failed", "policy", cfg.Policy.Name, "error", err, "instead", *d.deciding.Load())
		return
	}
	d.log.Info("policy_in_force", "policy", cfg.Policy.Name)
}

// decides notes which policy is active.
func (d *Daemon) decides(name string) {
	d.deciding.Store(&name)
	rules := d.rules()
	d.meter.Rules(rules.Initiation, rules.Policy, rules.LocalPolicy)
}

// changePolicy applies the policy and the rules of rounds of a configuration.
func (d *Daemon) changePolicy(ctx context.Context, cfg *config.Config) error {
	wanted, err := d.policyOf(ctx, cfg)
	if err != nil {
		return fmt.Errorf("change the policy to %s: %w", cfg.Policy.Name, err)
	}
	return d.activatePolicy(ctx, cfg, wanted)
}

// activatePolicy activates rules of rounds, with the policy that decides by them.
func (d *Daemon) activatePolicy(ctx context.Context, cfg *config.Config, decides policy.Policy) error {
	limited, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	if err := d.node.Reconfigure(limited, cfg.Runtime(policy.Describe(decides)), decides); err != nil {
		return fmt.Errorf("change the rules of rounds: %w", err)
	}
	d.decides(cfg.Policy.Name)
	return nil
}
