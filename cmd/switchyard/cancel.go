package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) cancelCommand() *cobra.Command {
	var whole bool
	cmd := &cobra.Command{
		Use:         "cancel ID…",
		Annotations: anyPeer(),
		Short:       "Cancel pending and running jobs",
		Long: "Cancel pending and running jobs at any site. The request is durable when the command returns; a\n" +
			"job at an unreachable site ends when that site is reachable again. A job that needs an operator\n" +
			"(NeedsOperator in queue) ends immediately as CANCELLED, with its outcome unknown.\n" +
			"\n" +
			"ID_7 is an element of an array, ID_[1-5,9] are several, and the ID of an array is all of them. What of an\n" +
			"array waits in the grid queue ends at once.\n" +
			"\n" +
			"--application cancels all components of the jobs' applications.",
		Example: "  switchyard cancel 1000000000042 1000000000043\n  switchyard cancel --application 1000000000042\n  switchyard cancel '1000000000042_[1-5,9]'",
		Args:    someJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := jobNames(args)
			if err != nil {
				return err
			}
			if !whole {
				return each(a, names, func(name protocol.JobName) error { return a.client().CancelElements(cmd.Context(), name) })
			}
			if names, err = oneByOne(args); err != nil {
				return err
			}
			end := func(id protocol.JobID) error { return a.client().Cancel(cmd.Context(), id) }
			return each(a, names, func(name protocol.JobName) error {
				open, err := a.components(cmd.Context(), name)
				if err != nil {
					return err
				}
				return each(a, open, end)
			})
		},
	}
	cmd.Flags().BoolVar(&whole, "application", false, "cancel all components of the jobs' applications")
	return cmd
}

// each does something to jobs, and goes on after an error. It returns the first and tells the
// others.
func each[T any](a *app, all []T, do func(T) error) (first error) {
	for _, one := range all {
		err := do(one)
		if err != nil && first == nil {
			first = err
		} else if err != nil {
			a.exitCode(err)
		}
	}
	return first
}
