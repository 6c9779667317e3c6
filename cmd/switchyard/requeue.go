package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) requeueCommand() *cobra.Command {
	var how api.Requeue
	cmd := &cobra.Command{
		Use:         "requeue ID…",
		Annotations: anyPeer(),
		Short:       "Have jobs start again that run or have ended",
		Long: "End running jobs where they run, and put them back into the grid queue under their IDs: they are placed\n" +
			"again, at any site, with SLURM_RESTART_COUNT one higher, and their end is not reported as one. The\n" +
			"request is durable when the command returns; a job at an unreachable site is ended when that site is\n" +
			"reachable again, and starts again only after that. The output of a run at a partner comes home first.\n" +
			"\n" +
			"Jobs that have ended can be requeued for 5 minutes ([retention] requeueable). For jobs that depend on\n" +
			"them, the end before counts: they go on, or stay DependencyNeverSatisfied.\n" +
			"\n" +
			"Pending jobs, jobs submitted with --no-requeue, components that start together with others, and jobs of\n" +
			"applications that have ended are refused. ID_7 is an element of an array, ID_[1-5,9] are several, and the\n" +
			"ID of an array is all of them; those elements are requeued that run, or have ended and can be.\n" +
			"\n" +
			"--force requeues jobs that need an operator (NeedsOperator in queue). Such a job may have run, or may\n" +
			"still be running: check its site first. The log and \"switchyard explain\" name the user who requeued it.\n" +
			"To end the job instead, cancel it.",
		Example: "  switchyard requeue 1000000000042\n  switchyard requeue --hold '1000000000042_[1-5,9]'\n  switchyard requeue --force 1000000000042",
		Args:    someJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if how.Force && how.Hold {
				return usage("--force and --hold are mutually exclusive")
			}
			names, err := jobNames(args)
			if err != nil {
				return err
			}
			if how.Force {
				if names, err = oneByOne(args); err != nil {
					return err
				}
				a.notice("requeued jobs may run twice")
			}
			return each(a, names, func(name protocol.JobName) error {
				done, err := a.client().Requeue(cmd.Context(), name, how)
				if done.Notice != "" {
					a.notice("%s", console.Plain(done.Notice))
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&how.Hold, "hold", false, "hold the jobs in the grid queue")
	cmd.Flags().BoolVar(&how.Force, "force", false, "requeue jobs that need an operator; accept that they may run twice")
	return cmd
}
