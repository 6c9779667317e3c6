package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) requeueCommand() *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "requeue --force ID…",
		Short: "Run jobs again that need an operator, though they may run twice",
		Long: "Put jobs that need an operator (NeedsOperator in queue) back into the grid queue. Nobody can\n" +
			"tell whether such a job has run, or still runs: look at its site first. It may run twice, which\n" +
			"--force says that you accept. The log and \"switchyard explain\" name who asked for it. To end such\n" +
			"a job instead, cancel it.",
		Example: "  switchyard requeue --force 1000000000042",
		Args:    someJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			if !force {
				return usage("a job that needs an operator may have run already; with --force it is put into the queue again, " +
					"and may run twice")
			}
			a.notice("jobs that are requeued by force may run twice")
			return a.each(ids, func(id protocol.JobID) error { return a.client().Requeue(cmd.Context(), id) })
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "accept that the jobs may run twice")
	return cmd
}
