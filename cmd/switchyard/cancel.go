package main

import (
	"github.com/spf13/cobra"
)

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID…",
		Short: "End jobs, wherever they wait or run",
		Long: "End jobs, wherever they wait or run. The wish is safe when the command returns; a job at a\n" +
			"site that cannot be reached ends as soon as it can be.",
		Example: "  switchyard cancel 1000000000042 1000000000043",
		Args:    someJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			var first error
			for _, id := range ids {
				err := a.client().Cancel(cmd.Context(), id)
				if err != nil && first == nil {
					first = err
				} else if err != nil {
					a.exitCode(err)
				}
			}
			return first
		},
	}
}
