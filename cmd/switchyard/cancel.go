package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID…",
		Short: "End jobs, wherever they wait or run",
		Long: "End jobs, wherever they wait or run. The wish is safe when the command returns; a job at a\n" +
			"site that cannot be reached ends as soon as it can be. A job that needs an operator\n" +
			"(NeedsOperator in queue) ends at once as CANCELLED, with its outcome unknown.",
		Example: "  switchyard cancel 1000000000042 1000000000043",
		Args:    someJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			return a.each(ids, func(id protocol.JobID) error { return a.client().Cancel(cmd.Context(), id) })
		},
	}
}

// each does something to jobs, and goes on after an error. It returns the first and tells the
// others.
func (a *app) each(ids []protocol.JobID, do func(protocol.JobID) error) (first error) {
	for _, id := range ids {
		err := do(id)
		if err != nil && first == nil {
			first = err
		} else if err != nil {
			a.exitCode(err)
		}
	}
	return first
}
