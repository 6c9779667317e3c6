package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/identity"
)

// configFlag is where commands that need a configuration find it.
type configFlag []string

func (f *configFlag) addTo(a *app, cmd *cobra.Command) {
	var from []string
	if named := a.getenv("SWITCHYARD_CONF"); named != "" {
		from = []string{named}
	}
	cmd.Flags().StringSliceVar((*[]string)(f), "config", from,
		"TOML file, or directory of TOML files; repeatable (default: SWITCHYARD_CONF, or "+config.DefaultDir+")")
}

// load reads the configuration and tells all that is wrong with it.
func (f *configFlag) load(a *app) (*config.Config, error) {
	return a.valid(config.Load(*f...))
}

// valid is a configuration that was read without an error; what is wrong with another one is printed.
func (a *app) valid(cfg *config.Config, err error) (*config.Config, error) {
	if err == nil {
		return cfg, nil
	}
	for _, problem := range config.ProblemsOf(err) {
		a.notice("%s", problem)
	}
	return nil, &exitError{code: exitFailed}
}

// dir is the directory among the paths, the last one if there are several: files that are added there are read, too.
func (f *configFlag) dir() (string, error) {
	paths := []string(*f)
	if len(paths) == 0 {
		paths = []string{config.DefaultDir}
	}
	for _, path := range slices.Backward(paths) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not a directory, and the table of a partner gets a file of its own: have the peer read a directory, as %s, and name it by --config",
		strings.Join(paths, ", "), config.DefaultDir)
}

// siteOf reads the configuration and the key of the site. Without --socket the peer is that of the configuration.
func (a *app) siteOf(cmd *cobra.Command, from *configFlag) (*config.Config, *identity.Key, error) {
	cfg, err := from.load(a)
	if err != nil {
		return nil, nil, err
	}
	key, err := identity.LoadKey(string(cfg.Site.Key))
	if err != nil {
		return nil, nil, err
	}
	if socket := cmd.Flag("socket"); socket != nil && !socket.Changed && a.getenv("SWITCHYARD_SOCKET") == "" {
		a.socket = string(cfg.Site.Socket)
	}
	return cfg, key, nil
}

// warn prints the warnings about a configuration.
func (a *app) warn(cfg *config.Config) {
	for _, warning := range cfg.Warnings {
		a.notice("warning: %s", warning)
	}
}

// warnOfMissing says how many jobs concern partners that the configuration lacks.
func (a *app) warnOfMissing(ctx context.Context, cfg *config.Config) {
	warnings, err := daemon.MissingPartners(ctx, cfg)
	if err != nil {
		a.notice("%s", console.Plain(err.Error()))
		return
	}
	for _, warning := range warnings {
		a.notice("warning: %s", console.Plain(warning))
	}
}

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check and print a peer's configuration",
		Args:  noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("missing subcommand: use config check, config show, config changes or config sample; see %s --help", cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.configCheckCommand(), a.configShowCommand(), a.configChangesCommand(), a.configSampleCommand())
	return cmd
}

func (a *app) configCheckCommand() *cobra.Command {
	var from configFlag
	cmd := &cobra.Command{
		Use:   "check [--config PATH]",
		Short: "Print all errors of a configuration",
		Long: "Print all errors of a configuration, including those that only a start finds: keys and secrets\n" +
			"that are missing or that other users can read or change, accounts that are missing on this machine,\n" +
			"a Slurm that is not installed or too old or that lacks a partition, a spool that the accounts of jobs\n" +
			"cannot reach, price areas that are unknown to a feed, and plugins of policies and feeds that do not\n" +
			"start. Warn if Slurm's commands are installed and [localsched] plugin is not set, and, if the site has\n" +
			"a database, of partners that are not configured although jobs concern them, with the number of these\n" +
			"jobs. Without errors, print the local scheduler and its CPUs. Run it as root, or as the account of the\n" +
			"peer.",
		Example: "  switchyard config check --config site.toml",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := from.load(a)
			if err != nil {
				return err
			}
			if err = a.checkConfig(cmd.Context(), cfg); err != nil {
				return err
			}
			a.printf("Configuration OK: site %s.\nLocal scheduler: %s.\n", cfg.Site.Name, daemon.LocalScheduler(cfg))
			return nil
		},
	}
	from.addTo(a, cmd)
	return cmd
}

// checkConfig prints what a start with the configuration would find, and the warnings.
func (a *app) checkConfig(ctx context.Context, cfg *config.Config) error {
	a.warn(cfg)
	found := daemon.Check(ctx, cfg, build())
	for _, warning := range slices.Concat(found.Warnings, found.Unseen) {
		a.notice("warning: %s", warning)
	}
	for _, problem := range found.Problems {
		a.notice("%s", problem)
	}
	if len(found.Problems) > 0 {
		return &exitError{code: exitFailed}
	}
	a.warnOfMissing(ctx, cfg)
	if warning := daemon.UnusedSlurm(cfg, a.getenv("PATH")); warning != "" {
		a.notice("warning: %s", warning)
	}
	return nil
}

func (a *app) configChangesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "changes",
		Annotations: anyPeer(),
		Short:       "List what has changed in the settings of the peer",
		Long: "List what has changed in the settings of the peer, the last change first: by a reload, with the user\n" +
			"who asked for it or SIGHUP, or by a restart with other files or another version. FROM and TO are in\n" +
			"TOML. Users see the settings on which placing jobs depends; root, the peer's account and [api] admins\n" +
			"see all. The peer keeps the last 200 changes, of 2000 keys together.",
		Example: "  switchyard config changes\n  switchyard config changes --json",
		Args:    noArgs,
	}
	return lists(a, cmd, func(ctx context.Context, _ []string) (api.SettingsHistory, error) {
		return a.client().SettingsChanges(ctx)
	}, display.SettingsChanges)
}

func (a *app) configShowCommand() *cobra.Command {
	var from configFlag
	var effective bool
	cmd := &cobra.Command{
		Use:     "show [--config PATH]",
		Short:   "Print a configuration and the source of each value",
		Example: "  switchyard config show --config site.toml\n  switchyard config show --effective",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := from.load(a)
			if err != nil {
				return err
			}
			a.warn(cfg)
			return cfg.Show(a.stdout, effective)
		},
	}
	cmd.Flags().BoolVar(&effective, "effective", false, "also print the defaults")
	from.addTo(a, cmd)
	return cmd
}

func (a *app) configSampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "sample",
		Short:   "Print a sample configuration: every key, its default and its meaning",
		Example: "  switchyard config sample >/etc/switchyard/switchyard.toml",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			a.printf("%s", config.Sample())
			return nil
		},
	}
}
