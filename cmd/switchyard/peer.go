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
		Long: "Run this site's peer until SIGTERM or SIGINT. It logs to the standard error. When it stops,\n" +
			"running jobs continue unless [localsched] on_stop ends them; the next start finds them again. As\n" +
			"root the peer runs each job as its user's account, otherwise all jobs as its own account. On\n" +
			"SIGHUP the peer reads its configuration again, as with \"switchyard reload\".",
		Example: "  switchyard peer --config /etc/switchyard\n" +
			"  switchyard peer --config site.toml --record /srv/recordings",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isFirstProcess() {
				return runAsFirstProcess()
			}
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
		"record the inputs of the peer, without scripts, to this new file, or to a new file in this directory")
	cmd.Flags().BoolVar(&newStore, "new-store", false,
		"give up the jobs of a lost or damaged database: move its files aside, and start with an empty one")
	from.addTo(a, cmd)
	return cmd
}
