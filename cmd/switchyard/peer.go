package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/config"
)

func (a *app) peerCommand() *cobra.Command {
	var from configFlag
	cmd := &cobra.Command{
		Use:   "peer [--config PATH]",
		Short: "Run this site's peer",
		Long: "Run this site's peer until SIGTERM or SIGINT. It logs to the standard error. Running jobs go\n" +
			"on when it stops, unless [localsched] on_stop says otherwise, and are found again when it\n" +
			"starts. As root it runs each job as its user's account, else all as its own.",
		Example: "  switchyard peer --config /etc/switchyard",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := from.load(a)
			if err != nil {
				return err
			}
			p := &peerProcess{
				cfg: cfg, log: a.logger(cfg.Log), notify: newNotifier(a.getenv, os.Getpid()),
				failed: make(chan struct{}, 8),
			}
			return p.run(untilTold(cmd.Context()))
		},
	}
	from.addTo(a, cmd)
	return cmd
}

func (a *app) logger(cfg config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		level = slog.LevelInfo // the configuration was checked
	}
	options := &slog.HandlerOptions{Level: level}
	if cfg.Format == config.Text {
		return slog.New(slog.NewTextHandler(a.stderr, options))
	}
	return slog.New(slog.NewJSONHandler(a.stderr, options))
}
