package experiment

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Plugin is a policy or a batch system that is a program of its own, by the table of a site's
// configuration.
type Plugin = config.Plugin

// PluginFile is a plugin that somebody names by its file: this file is the pinned one. Config
// is the path of its configuration; empty: it has none. Plain is one that cannot speak TLS.
func PluginFile(kind pluginhost.Kind, path, config string, plain bool) (g Plugin, err error) {
	g.SetDefaults()
	full, err := filepath.Abs(path)
	if err != nil {
		return g, err
	}
	g.Name, g.Kind, g.Path, g.MTLS = path, string(kind), Path(full), !plain
	if g.SHA256, err = pluginhost.SumOf(full); err != nil || config == "" {
		return g, err
	}
	config, err = filepath.Abs(config)
	g.Config = Path(config)
	return g, err
}

func (p *Plan) checkPlugins(c *checker) {
	for i := range p.Plugins {
		g, key := &p.Plugins[i], fmt.Sprintf("plugin[%d]", i)
		p.checkPluginName(c, i)
		if kind := pluginhost.Kind(g.Kind); kind != pluginhost.PolicyKind && kind != pluginhost.SchedulerKind {
			c.Problem(key+".kind", "invalid plugin kind %q; in a simulation use %q or %q", g.Kind, pluginhost.PolicyKind, pluginhost.SchedulerKind)
		}
		if g.Path == "" {
			c.Problem(key+".path", "is missing; name the plugin's executable file")
		}
		if sum, err := hex.DecodeString(g.SHA256); g.SHA256 != "" && (err != nil || len(sum) != 32) {
			c.Problem(key+".sha256", "invalid SHA-256; write 64 hexadecimal digits, as printed by: sha256sum %s", g.Path)
		}
		if !g.MTLS && g.SHA256 == "" {
			c.Problem(key+".mtls", "false requires sha256; set it to the output of: sha256sum %s", g.Path)
		}
		c.Positive(key+".start_timeout", g.StartTimeout)
		c.Positive(key+".call_timeout", g.CallTimeout)
	}
}

func (p *Plan) checkPluginName(c *checker, i int) {
	name, key := p.Plugins[i].Name, fmt.Sprintf("plugin[%d].name", i)
	_, unknown := engine.Named(name)
	switch {
	case name == "":
		c.Problem(key, "is missing; other keys name the plugin by it")
	case slices.Contains(builtin.Names(), name) || unknown == nil:
		c.Problem(key, "%q is built in; choose another name", name)
	case slices.IndexFunc(p.Plugins, func(o Plugin) bool { return o.Name == name }) != i:
		c.Problem(key, "%q is the name of another plugin too", name)
	}
}

// plugin is the plugin of a name and kind; nil: there is none.
func (p *Plan) plugin(kind pluginhost.Kind, name string) *Plugin {
	for i := range p.Plugins {
		if g := &p.Plugins[i]; g.Kind == string(kind) && g.Name == name {
			return g
		}
	}
	return nil
}

// WithPlugin returns a plan in which the plugin, by its kind, decides all rounds or
// rules all local queues. The error names the key and what it may be.
func (p *Plan) WithPlugin(g Plugin) (*Plan, error) {
	changed := p.clone()
	changed.Plugins = append(changed.Plugins, g)
	if g.Kind == string(pluginhost.PolicyKind) {
		return changed.With(Setting{Key: "policy.name", Value: g.Name})
	}
	return changed.With(Setting{Key: "policy", Value: g.Name})
}

// Start starts the plan's plugins and waits until they are up. [Plan.Close] ends
// them. Plans that are made of this one afterwards share them.
func (p *Plan) Start(ctx context.Context, log *slog.Logger) error {
	p.started = map[string]*pluginhost.Plugin{}
	var errs []error
	for i := range p.Plugins {
		g := &p.Plugins[i]
		started, err := p.start(g, log) //nolint:contextcheck // it runs until it is closed
		if err == nil {
			p.started[g.Name] = started
			err = started.Wait(ctx)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(append(errs, p.Close())...)
	}
	return nil
}

func (p *Plan) start(g *Plugin, log *slog.Logger) (*pluginhost.Plugin, error) {
	spec := pluginhost.Spec{
		Name: g.Name, Kind: pluginhost.Kind(g.Kind), Path: string(g.Path), Args: g.Args, SHA256: g.SHA256, Plain: !g.MTLS,
		Host:   sdk.Host{Seed: uint64(p.Seed), Software: "switchyard simulator"}, //nolint:gosec // checked: not negative
		Timing: pluginhost.Timing{Start: g.StartTimeout.Std(), Call: g.CallTimeout.Std()},
	}
	if err := spec.ReadConfig(string(g.Config)); err != nil {
		return nil, err
	}
	return pluginhost.Open(spec, log)
}

// Close ends the plugins that Start has started.
func (p *Plan) Close() error {
	var errs []error
	for _, g := range p.started {
		errs = append(errs, g.Close())
	}
	p.started = nil
	return errors.Join(errs...)
}

// localOf sets what rules a site's queue: the built-in engine with a policy, or a
// plugin.
func (p *Plan) localOf(s *Site) (local engine.Policy, other func(protocol.Capacity) (localsched.Engine, error), err error) {
	if s.scheduler(p) == nil {
		local, err = engine.Named(s.LocalSched.Policy)
		return local, nil, err
	}
	started := p.started[s.LocalSched.Plugin]
	if started == nil {
		return nil, nil, errNotStarted
	}
	return nil, started.Engine, nil
}

var errNotStarted = errors.New("the plan's plugins have not been started; this is a mistake in the program")
