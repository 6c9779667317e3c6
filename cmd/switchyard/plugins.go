package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/catalog"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pluginSet are the plugins that a peer has started, by name.
type pluginSet struct {
	mu   sync.Mutex
	open map[string]*catalog.Plugin
	up   chan struct{} // gets one when some plugin has come up
}

func newPluginSet() *pluginSet {
	return &pluginSet{open: map[string]*catalog.Plugin{}, up: make(chan struct{}, 1)}
}

// names lists what has been started.
func (s *pluginSet) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.open))
}

// keep ends all but these.
func (s *pluginSet) keep(names []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for name, running := range s.open {
		if !slices.Contains(names, name) {
			errs = append(errs, running.Close())
			delete(s.open, name)
		}
	}
	return errors.Join(errs...)
}

// openPlugins has the plugins end with the peer, after all that asks them.
func (p *peerProcess) openPlugins(context.Context) error {
	p.onStop("the plugins", func() error { return p.plugins.keep(nil) })
	return nil
}

// plugin starts the plugin of a table, or finds it again. It may not be up yet. The
// error says what is wrong with the table.
func (p *peerProcess) plugin(table *config.Plugin) (*catalog.Plugin, error) {
	p.plugins.mu.Lock()
	defer p.plugins.mu.Unlock()
	if running := p.plugins.open[table.Name]; running != nil {
		return running, nil
	}
	spec, err := p.specOf(table)
	if err != nil {
		return nil, fmt.Errorf("[[plugin]] %s: %w", table.Name, err)
	}
	started, err := catalog.Open(spec, p.log)
	if err != nil {
		return nil, fmt.Errorf("[[plugin]] %s: %w", table.Name, err)
	}
	p.plugins.open[table.Name] = started
	return started, nil
}

// pluginSpec says what plugin a table names.
func pluginSpec(table *config.Plugin) (catalog.Spec, error) {
	spec := catalog.Spec{
		Name: table.Name, Kind: catalog.Kind(table.Kind),
		Path: string(table.Path), Args: table.Args, SHA256: table.SHA256, Plain: !table.MTLS,
		Timing: catalog.Timing{Start: table.StartTimeout.Std(), Call: table.CallTimeout.Std()},
	}
	err := spec.ReadConfig(string(table.Config))
	return spec, err
}

// checkPlugins says which plugins of a configuration cannot be started.
func checkPlugins(cfg *config.Config) error {
	var errs []error
	for i := range cfg.Plugins {
		spec, err := pluginSpec(&cfg.Plugins[i])
		if err == nil {
			err = spec.Check()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("[[plugin]] %s: %w", cfg.Plugins[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// specOf says how to start the plugin of a table.
func (p *peerProcess) specOf(table *config.Plugin) (catalog.Spec, error) {
	spec, err := pluginSpec(table)
	if err != nil {
		return catalog.Spec{}, err
	}
	spec.Host = sdk.Host{
		Site: p.cfg.Site.Name, Seed: p.seed(), Software: "switchyard " + version,
		StateDir: filepath.Join(string(p.cfg.Site.StateDir), "plugins", table.Name),
	}
	spec.OnState = func(s catalog.Status) { p.pluginIs(table, s) }
	// Jobs of other accounts run in folders below and must pass through.
	if err := os.MkdirAll(spec.Host.StateDir, 0o711); err != nil { //nolint:gosec // see above
		return catalog.Spec{}, fmt.Errorf("make a folder for its state: %w", err)
	}
	return spec, nil
}

// pluginIs hears how a plugin is.
func (p *peerProcess) pluginIs(table *config.Plugin, s catalog.Status) {
	up := s.State == catalog.Up
	p.meter.Plugin(table.Name, table.Kind, up, s.Restarts)
	if up {
		select {
		case p.plugins.up <- struct{}{}:
		default:
		}
	}
}

// policyOf is the policy that a configuration names. A plugin that is not up, after
// it had its time to start, is an error that wraps errNotUp.
func (p *peerProcess) policyOf(ctx context.Context, cfg *config.Config) (policy.Policy, error) {
	if builtin := cfg.BuiltIn(cfg.Policy.Name); builtin != nil {
		return catalog.CheckedPolicy(builtin), nil
	}
	table := cfg.Plugin(config.PolicyKind, cfg.Policy.Name)
	if table == nil {
		return nil, errors.New("its [[plugin]] has changed; start the peer again for that")
	}
	started, err := p.plugin(table) //nolint:contextcheck // it runs until it is closed
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
func (p *peerProcess) fallback() policy.Policy {
	return catalog.CheckedPolicy(p.cfg.BuiltIn(p.cfg.Policy.Fallback))
}

// fronter lays out choices between cost and time where the policy does not.
func (p *peerProcess) fronter() policy.Fronter {
	fronter, _ := catalog.CheckedPolicy(builtin.Fronter()).(policy.Fronter) // it is one
	return fronter
}

// firstPolicy is the policy that the peer begins with: the fallback, when the one
// that is configured is not up. That takes its place later.
func (p *peerProcess) firstPolicy(ctx context.Context) (decides policy.Policy, name string, err error) {
	wanted, err := p.policyOf(ctx, p.cfg)
	if errors.Is(err, errNotUp) && ctx.Err() == nil {
		p.log.Error("policy_not_up", "policy", p.cfg.Policy.Name, "error", err, "instead", p.cfg.Policy.Fallback)
		return p.fallback(), p.cfg.Policy.Fallback, nil
	}
	return wanted, p.cfg.Policy.Name, err
}

// takeUp puts the configured policy in force when that has come up at last.
func (p *peerProcess) takeUp(ctx context.Context) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	cfg := p.inForce.Load()
	if cfg.Policy.Name == *p.deciding.Load() {
		return
	}
	if err := p.repolicy(ctx, cfg); err != nil {
		p.log.Error("policy_not_in_force", "policy", cfg.Policy.Name, "error", err, "instead", *p.deciding.Load())
		return
	}
	p.log.Info("policy_in_force", "policy", cfg.Policy.Name)
}

// pluginStates lists how the plugins are.
func (p *peerProcess) pluginStates() []api.Plugin {
	p.plugins.mu.Lock()
	defer p.plugins.mu.Unlock()
	var all []api.Plugin
	plugins := slices.Clone(p.inForce.Load().Plugins)
	slices.SortFunc(plugins, func(a, b config.Plugin) int { return strings.Compare(a.Name, b.Name) })
	for i := range plugins {
		table := &plugins[i]
		running := p.plugins.open[table.Name]
		if running == nil {
			continue
		}
		s := running.Status()
		one := api.Plugin{
			Name: table.Name, Kind: table.Kind, Path: string(table.Path), Version: running.Info().Version,
			State: s.State.String(), Since: protocol.InstantOf(s.Since), Restarts: s.Restarts, PID: s.PID,
			Failure: s.Failure,
		}
		if !s.RetryAt.IsZero() {
			one.RetryAt = protocol.InstantOf(s.RetryAt)
		}
		all = append(all, one)
	}
	return all
}
