package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

func (a *app) pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Create, check and list plugins",
		Long: "Create, check and list plugins: policies, local schedulers and price feeds that run as separate\n" +
			"programs. docs/plugins.md is the guide for plugin authors.",
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.pluginNewCommand(), a.pluginInfoCommand(), a.pluginCheckCommand(), a.pluginListCommand())
	return cmd
}

func (a *app) pluginListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: anyPeer(),
		Short:       "List the plugins of the peer and their states",
		Long: "List the plugins that the peer has started. STATE is starting, up, down or closed. The peer\n" +
			"restarts a plugin that is down; NOTE has the reason of the last failure.",
		Example: "  switchyard plugin list\n  switchyard plugin list --json",
		Args:    noArgs,
	}
	return lists(a, cmd, func(ctx context.Context, _ []string) (api.Plugins, error) {
		all, err := a.client().Plugins(ctx)
		return api.Plugins{Plugins: all}, err
	}, display.Plugins)
}

// pluginFile is a plugin that a command line names.
type pluginFile struct {
	path   string
	args   []string
	config string // path; empty: none
	noTLS  bool
}

func (f *pluginFile) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "TOML configuration file of the plugin")
	cmd.Flags().StringArrayVar(&f.args, "arg", nil, "argument of the plugin; repeatable")
	cmd.Flags().BoolVar(&f.noTLS, "no-tls", false, "connect without TLS, over a private socket (the Python example requires it)")
}

// spec says how to start the plugin outside a peer.
func (f *pluginFile) spec() (spec pluginhost.Spec, err error) {
	spec, err = pluginhost.SpecOf(f.path, f.config, sdk.Host{Software: "switchyard " + version})
	spec.Args, spec.Plain = f.args, f.noTLS
	return spec, err
}

// start starts the plugin outside a peer, and waits until it is up.
func (f *pluginFile) start(ctx context.Context, kind pluginhost.Kind) (*pluginhost.Plugin, error) {
	spec, err := f.spec()
	if err != nil {
		return nil, err
	}
	spec.Kind = kind
	return pluginhost.Start(ctx, spec, io.Discard)
}

func (a *app) pluginInfoCommand() *cobra.Command {
	var file pluginFile
	cmd := &cobra.Command{
		Use:     "info PATH",
		Short:   "Start a plugin and print its description",
		Long:    "Start a plugin with its configuration, print its description, and stop it.",
		Example: "  switchyard plugin info ./cheapest\n  switchyard plugin info ./cheapest --config cheapest.toml --json",
		Args:    onePlugin,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			file.path = args[0]
			spec, err := file.spec()
			if err != nil {
				return err
			}
			started, err := pluginhost.Start(cmd.Context(), spec, io.Discard)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, started.Close()) }()
			info := started.Info()
			if a.json {
				return a.printJSON(pluginInfoJSON{
					string(info.Kind), info.Name, info.Version, info.About, spec.Path, spec.SHA256, info.Services,
					append([]string{}, info.Capabilities...),
				})
			}
			a.printf("%s", display.PluginInfo(info, spec.SHA256))
			if info.Kind == pluginhost.PolicyKind {
				a.printf("%s", display.PolicyInfo(started.Policy()))
			}
			return nil
		},
	}
	file.addTo(cmd)
	return a.query(cmd)
}

// pluginInfoJSON is what plugin info prints as JSON.
type pluginInfoJSON struct {
	Kind         string   `json:"kind"`
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	About        string   `json:"about"`
	Path         string   `json:"path"`
	SHA256       string   `json:"sha256"`
	Services     []string `json:"services"`
	Capabilities []string `json:"capabilities"`
}

func onePlugin(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("%s requires one plugin: the path of its executable", cmd.CommandPath())
	}
	return nil
}
