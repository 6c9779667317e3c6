package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) cancelCommand() *cobra.Command {
	var whole bool
	cmd := &cobra.Command{
		Use:   "cancel ID…",
		Short: "End jobs, wherever they wait or run",
		Long: "End jobs, wherever they wait or run. The wish is safe when the command returns; a job at a\n" +
			"site that cannot be reached ends as soon as it can be. A job that needs an operator\n" +
			"(NeedsOperator in queue) ends at once as CANCELLED, with its outcome unknown.\n\n" +
			"With --application, all components of the applications that the jobs are of are ended.",
		Example: "  switchyard cancel 1000000000042 1000000000043\n  switchyard cancel --application 1000000000042",
		Args:    someJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			end := func(id protocol.JobID) error { return a.client().Cancel(cmd.Context(), id) }
			if !whole {
				return a.each(ids, end)
			}
			return a.each(ids, func(id protocol.JobID) error {
				open, err := a.components(cmd.Context(), id)
				if err != nil {
					return err
				}
				return a.each(open, end)
			})
		},
	}
	cmd.Flags().BoolVar(&whole, "application", false, "end all components of the jobs' applications")
	return cmd
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
