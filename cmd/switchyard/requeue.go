package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) requeueCommand() *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "requeue --force ID…",
		Short: "Requeue jobs that need an operator; they may run twice",
		Long: "Put jobs that need an operator (NeedsOperator in queue) back into the grid queue. Such a job may\n" +
			"have run, or may still be running: check its site first. --force confirms that the job may run\n" +
			"twice. The log and \"switchyard explain\" name the user who requeued it. To end the job instead,\n" +
			"cancel it.",
		Example: "  switchyard requeue --force 1000000000042",
		Args:    someJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			if !force {
				return usage("missing --force: a job that needs an operator may have run already; " +
					"if it is requeued, it may run twice")
			}
			a.notice("requeued jobs may run twice")
			return a.each(ids, func(id protocol.JobID) error { return a.client().Requeue(cmd.Context(), id) })
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "accept that the jobs may run twice")
	return cmd
}
