package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

func (a *app) recoverCommand() *cobra.Command {
	var going bool
	var resume api.Resume
	cmd := &cobra.Command{
		Use:         "recover [--resume [--requeue|--cancel]]",
		Annotations: anyPeer(),
		Short:       "Print why the peer starts no jobs, and make it continue",
		Long: "A peer starts no jobs if its database is older than the last known state of its site (a backup was\n" +
			"restored, or the state directory was copied or moved), or if another peer runs as the same site.\n" +
			"An operator must then decide. Without options, print which partners have seen a later state, the\n" +
			"active jobs, and the jobs that the database does not contain.\n" +
			"\n" +
			"--resume makes the peer continue with this database. Make sure first that no other peer of this\n" +
			"site is running. Jobs that the batch system or a partner still has continue. Each other job needs\n" +
			"an operator (switchyard cancel, or requeue --force), because it may have run since; --requeue or\n" +
			"--cancel decides for all of them. With --cancel, partners also drop the jobs of this site that the\n" +
			"database does not contain. Only root and the peer's account may use --resume.",
		Example: "  switchyard recover\n  switchyard recover --json\n  switchyard recover --resume\n  switchyard recover --resume --cancel",
		Args:    noArgs,
	}
	cmd.Flags().BoolVar(&going, "resume", false, "continue with this database; no other peer of the site may be running")
	cmd.Flags().BoolVar(&resume.Requeue, "requeue", false, "with --resume, requeue the jobs whose outcome is unknown; they may run twice")
	cmd.Flags().BoolVar(&resume.Cancel, "cancel", false, "with --resume, cancel the jobs whose outcome is unknown")
	return describes(a, cmd, func(ctx context.Context, _ []string) (view.Recovery, error) {
		switch {
		case !going && resume != (api.Resume{}):
			return view.Recovery{}, usage("--requeue and --cancel require --resume")
		case resume.Requeue && resume.Cancel:
			return view.Recovery{}, usage("--requeue and --cancel are mutually exclusive")
		case going:
			return a.client().Recover(ctx, resume)
		}
		return a.client().Recovery(ctx)
	}, display.Recovery)
}
