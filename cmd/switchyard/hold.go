package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) holdCommand() *cobra.Command {
	return a.jobsCommand(&cobra.Command{
		Use:         "hold ID…",
		Annotations: anyPeer(),
		Short:       "Keep pending jobs from starting",
		Long: "Keep pending jobs from starting until they are released. The hold is durable when the command\n" +
			"returns. A job that waits in the local queue of a site is recalled into the grid queue; if it\n" +
			"starts before the hold reaches that site, it runs on and is not held. Running jobs cannot be held.\n" +
			"\n" +
			"A job that root or another administrator of the site holds (JobHeldAdmin in queue) is not released\n" +
			"by its user.",
		Example: "  switchyard hold 1000000000042 1000000000043",
	}, func(ctx context.Context, name protocol.JobName) error { return a.client().Hold(ctx, name) })
}

func (a *app) releaseCommand() *cobra.Command {
	return a.jobsCommand(&cobra.Command{
		Use:         "release ID…",
		Annotations: anyPeer(),
		Short:       "Let held jobs start",
		Long:        "End the hold of jobs, as of \"switchyard hold\" and \"switchyard submit --hold\".",
		Example:     "  switchyard release 1000000000042",
	}, func(ctx context.Context, name protocol.JobName) error { return a.client().Release(ctx, name) })
}

// jobsCommand has a command do something to each of its jobs.
func (a *app) jobsCommand(cmd *cobra.Command, do func(context.Context, protocol.JobName) error) *cobra.Command {
	cmd.Args = someJobs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		names, err := oneByOne(args)
		if err != nil {
			return err
		}
		return each(a, names, func(name protocol.JobName) error { return do(cmd.Context(), name) })
	}
	return cmd
}
