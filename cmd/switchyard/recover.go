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
		Use:   "recover [--resume [--requeue|--cancel]]",
		Short: "See why the peer starts nothing, and have it go on",
		Long: "A peer whose database is older than what was seen of its site (a backup was put back, or the\n" +
			"state directory was copied or moved), or beside which another peer runs as the same site, starts\n" +
			"no jobs until an operator decides. Without options, say what was seen by whom, which jobs are\n" +
			"open, and what is not known here any more.\n\n" +
			"With --resume, this store is the one that goes on, and no other life of the site runs: be sure of\n" +
			"that. Jobs that the batch system or a partner still has go on. Of the others nobody can tell\n" +
			"whether they have run since: they need an operator each (switchyard cancel, or requeue --force),\n" +
			"unless --requeue or --cancel says it of all; with --cancel partners\n" +
			"also drop the jobs of this site that it does not know. Only root and the peer's own account may resume.",
		Example: "  switchyard recover\n  switchyard recover --json\n  switchyard recover --resume\n  switchyard recover --resume --cancel",
		Args:    noArgs,
	}
	cmd.Flags().BoolVar(&going, "resume", false, "this store goes on; no other life of the site runs")
	cmd.Flags().BoolVar(&resume.Requeue, "requeue", false, "with --resume, run again the jobs of which nobody can tell; they may run twice")
	cmd.Flags().BoolVar(&resume.Cancel, "cancel", false, "with --resume, cancel the jobs of which nobody can tell")
	return describes(a, cmd, func(ctx context.Context, _ []string) (view.Recovery, error) {
		switch {
		case !going && resume != (api.Resume{}):
			return view.Recovery{}, usage("--requeue and --cancel say what becomes of jobs when this store goes on: give --resume, too")
		case resume.Requeue && resume.Cancel:
			return view.Recovery{}, usage("--requeue and --cancel exclude each other")
		case going:
			return a.client().Recover(ctx, resume)
		}
		return a.client().Recovery(ctx)
	}, display.Recovery)
}
