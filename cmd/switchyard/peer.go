package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/daemon"
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
			return daemon.New(daemon.Options{
				Config: cfg, Paths: from, Build: build(), Log: a.stderr, Recording: recording, NewStore: newStore,
				Reload: hangups(), Manager: daemon.ManagerOf(a.getenv, os.Getpid()),
			}).Run(untilSignal(cmd.Context()))
		},
	}
	cmd.Flags().StringVar(&recording, "record", "",
		"record all that the peer is told, but no scripts, to this new file, or to a new file in this folder")
	cmd.Flags().BoolVar(&newStore, "new-store", false,
		"give up the jobs of a database that is lost or damaged: set aside what is left of them, and begin with an empty one")
	from.addTo(a, cmd)
	return cmd
}
