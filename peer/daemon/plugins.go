package daemon

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
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pluginSet are the plugins that a peer has started, by name.
type pluginSet struct {
	mu   sync.Mutex
	open map[string]*pluginhost.Plugin
	up   chan struct{} // gets one when some plugin has come up
}

func newPluginSet() *pluginSet {
	return &pluginSet{open: map[string]*pluginhost.Plugin{}, up: make(chan struct{}, 1)}
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
func (d *Daemon) openPlugins(context.Context) error {
	d.onStop("the plugins", func() error { return d.plugins.keep(nil) })
	return nil
}

// plugin starts the plugin of a table, or finds it again. It may not be up yet. The
// error says what is wrong with the table.
func (d *Daemon) plugin(table *config.Plugin) (*pluginhost.Plugin, error) {
	d.plugins.mu.Lock()
	defer d.plugins.mu.Unlock()
	if running := d.plugins.open[table.Name]; running != nil {
		return running, nil
	}
	spec, err := d.hostedSpec(table)
	if err != nil {
		return nil, fmt.Errorf("[[plugin]] %s: %w", table.Name, err)
	}
	started, err := pluginhost.Open(spec, d.log)
	if err != nil {
		return nil, fmt.Errorf("[[plugin]] %s: %w", table.Name, err)
	}
	d.plugins.open[table.Name] = started
	return started, nil
}

// pluginSpec says what plugin a table names.
func pluginSpec(table *config.Plugin) (pluginhost.Spec, error) {
	spec := pluginhost.Spec{
		Name: table.Name, Kind: pluginhost.Kind(table.Kind),
		Path: string(table.Path), Args: table.Args, SHA256: table.SHA256, Plain: !table.MTLS,
		Timing: pluginhost.Timing{Start: table.StartTimeout.Std(), Call: table.CallTimeout.Std()},
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

// hostedSpec says how to start the plugin of a table.
func (d *Daemon) hostedSpec(table *config.Plugin) (pluginhost.Spec, error) {
	spec, err := pluginSpec(table)
	if err != nil {
		return pluginhost.Spec{}, err
	}
	spec.Host = sdk.Host{
		Site: d.cfg.Site.Name, Seed: d.seed(), Software: d.options.Build.software(),
		StateDir: filepath.Join(string(d.cfg.Site.StateDir), "plugins", table.Name),
	}
	spec.OnState = func(s pluginhost.Status) { d.onPluginState(table, s) }
	// Jobs of other accounts run in directories below and must pass through.
	if err := os.MkdirAll(spec.Host.StateDir, 0o711); err != nil { //nolint:gosec // see above
		return pluginhost.Spec{}, fmt.Errorf("make a directory for its state: %w", err)
	}
	return spec, nil
}

// onPluginState is called with each new state of a plugin.
func (d *Daemon) onPluginState(table *config.Plugin, s pluginhost.Status) {
	up := s.State == pluginhost.Up
	d.meter.Plugin(table.Name, table.Kind, up, s.Restarts)
	if up {
		select {
		case d.plugins.up <- struct{}{}:
		default:
		}
	}
}

// pluginStatus lists how the plugins are.
func (d *Daemon) pluginStatus() []api.Plugin {
	d.plugins.mu.Lock()
	defer d.plugins.mu.Unlock()
	var all []api.Plugin
	plugins := slices.Clone(d.active.Load().Plugins)
	slices.SortFunc(plugins, func(a, b config.Plugin) int { return strings.Compare(a.Name, b.Name) })
	for i := range plugins {
		table := &plugins[i]
		running := d.plugins.open[table.Name]
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
