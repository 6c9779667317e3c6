package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) updateCommand() *cobra.Command {
	options := &jobOptions{}
	cmd := &cobra.Command{
		Use:         "update [options] ID…",
		Annotations: anyPeer(),
		Short:       "Change jobs that have not started",
		Long: "Change jobs that have not started, as \"scontrol update\" does. What is changed is durable when the\n" +
			"command returns, and all of it or nothing is. A job in the grid queue is placed by what it is then.\n" +
			"A job that waits in the local queue of a site is recalled and placed again, unless only its name,\n" +
			"comment, deadline or priority is changed; it loses its place there. If it starts before it is taken\n" +
			"back, it runs as it was, and \"switchyard explain\" says so. Running jobs cannot be changed.\n" +
			"\n" +
			"The ID of an array stands for all of its elements that have not started, ID_7 for one of them.\n" +
			"\n" +
			"Users may lower time limits and priorities and raise nice values; root and administrators of the site\n" +
			"may do all of that to the jobs of all users. A job that no site could run then is not changed.",
		Example: "  switchyard update --time=30 1000000000042\n" +
			"  switchyard update --sites=aurora,cygnus --nice=100 1000000000042 1000000000043\n" +
			"  switchyard update --dependency= '1000000000042_[1-5]'\n" +
			"  switchyard update --throttle=20 1000000000042",
		Args: someJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := oneByOne(args)
			if err != nil {
				return err
			}
			if len(options.list) == 0 {
				return usage("nothing is to be changed; give an option, such as --time")
			}
			change, err := batchscript.ReadChange(options.list, a.now())
			if err != nil {
				return usage("%w", err)
			}
			return a.update(cmd.Context(), names, change)
		},
	}
	cmd.Flags().SortFlags = false
	for _, option := range batchscript.Changeable() {
		options.addOption(cmd.Flags(), option, option.Long, option.Short)
	}
	return cmd
}

// update changes jobs.
func (a *app) update(ctx context.Context, names []protocol.JobName, change protocol.Change) error {
	return each(a, names, func(name protocol.JobName) error { return a.client().Update(ctx, name, change) })
}
