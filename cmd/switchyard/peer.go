package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/config"
)

func (a *app) peerCommand() *cobra.Command {
	var from configFlag
	var recording string
	var newStore bool
	cmd := &cobra.Command{
		Use:   "peer [--config PATH] [--record PATH] [--new-store]",
		Short: "Run this site's peer",
		Long: "Run this site's peer until SIGTERM or SIGINT. It logs to the standard error. Running jobs go\n" +
			"on when it stops, unless [localsched] on_stop says otherwise, and are found again when it\n" +
			"starts. As root it runs each job as its user's account, else all as its own. SIGHUP has it\n" +
			"read its configuration again, as \"switchyard reload\" does.",
		Example: "  switchyard peer --config /etc/switchyard\n" +
			"  switchyard peer --config site.toml --record /srv/recordings",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := from.load(a)
			if err != nil {
				return err
			}
			p := &Daemon{
				cfg: cfg, from: from, recording: recording, newStore: newStore, notify: newNotifier(a.getenv, os.Getpid()),
				failed: make(chan struct{}, 8), hangups: hangups(), plugins: newPluginSet(),
			}
			p.inForce.Store(cfg)
			p.level.Set(levelOf(cfg.Log))
			p.log = a.logger(cfg.Log, &p.level)
			return p.run(untilTold(cmd.Context()))
		},
	}
	cmd.Flags().StringVar(&recording, "record", "",
		"record all that the peer is told, but no scripts, to this new file, or to a new file in this folder")
	cmd.Flags().BoolVar(&newStore, "new-store", false,
		"give up the jobs of a database that is lost or damaged: set aside what is left of them, and begin with an empty one")
	from.addTo(a, cmd)
	return cmd
}

// levelOf is the level of the log.
func levelOf(cfg config.Log) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return slog.LevelInfo // the configuration was checked
	}
	return level
}

func (a *app) logger(cfg config.Log, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if cfg.Format == config.Text {
		return slog.New(slog.NewTextHandler(a.stderr, options))
	}
	return slog.New(slog.NewJSONHandler(a.stderr, options))
}
