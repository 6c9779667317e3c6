package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
)

func (a *app) explainCommand() *cobra.Command {
	var long bool
	cmd := &cobra.Command{
		Use:         "explain ID",
		Annotations: anyPeer(),
		Short:       "Print a job's event log: every quote and the reason for each decision",
		Long: "Print a job's event log: its submission, the quotes of all sites in each round, the reason for\n" +
			"each decision, the hand-offs, the run and the outcome. --long adds the price terms of each\n" +
			"quote, the terms that the policy weighted, and the bound of the start time (nominally 95 %).",
		Example: "  switchyard explain 1000000000042\n  switchyard explain --long 1000000000042\n" +
			"  switchyard explain --json 1000000000042",
		Args: oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := oneByOne(args)
			if err != nil {
				return err
			}
			facts, err := a.client().Explain(cmd.Context(), names[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(api.Explanation{Events: facts})
			}
			job, err := a.client().Job(cmd.Context(), names[0])
			if err != nil {
				return err
			}
			a.printf("%s", display.Story{Long: long}.Text(job, facts))
			return nil
		},
	}
	cmd.Flags().BoolVar(&long, "long", false, "also print price terms and the bound of the start time (nominally 95 %)")
	return a.query(cmd)
}
