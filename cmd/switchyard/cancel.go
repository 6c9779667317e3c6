package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) cancelCommand() *cobra.Command {
	var whole bool
	cmd := &cobra.Command{
		Use:   "cancel ID…",
		Short: "Cancel pending and running jobs",
		Long: "Cancel pending and running jobs at any site. The request is durable when the command returns; a\n" +
			"job at an unreachable site ends when that site is reachable again. A job that needs an operator\n" +
			"(NeedsOperator in queue) ends immediately as CANCELLED, with its outcome unknown.\n" +
			"\n" +
			"--application cancels all components of the jobs' applications.",
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
	cmd.Flags().BoolVar(&whole, "application", false, "cancel all components of the jobs' applications")
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
