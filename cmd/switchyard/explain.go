package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
)

func (a *app) explainCommand() *cobra.Command {
	var long bool
	cmd := &cobra.Command{
		Use:   "explain ID",
		Short: "Tell a job's story: every quote, and why the choice fell so",
		Long: "Tell a job's story: when it was submitted, what each site quoted in each round and why the\n" +
			"choice fell as it did, how it was handed over, when it ran and how it ended. --long also says\n" +
			"what each site's price was made of, which terms of it counted in choosing one, and within what\n" +
			"time it would have started the job with 95 % confidence.",
		Example: "  switchyard explain 1000000000042\n  switchyard explain --long 1000000000042\n" +
			"  switchyard explain --json 1000000000042",
		Args: oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			facts, err := a.client().Explain(cmd.Context(), ids[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(api.Explanation{Events: facts})
			}
			job, err := a.client().Job(cmd.Context(), ids[0])
			if err != nil {
				return err
			}
			a.printf("%s", display.Story{Long: long}.Text(job, facts))
			return nil
		},
	}
	cmd.Flags().BoolVar(&long, "long", false, "also what prices are made of, and when the job starts for almost sure")
	return a.query(cmd)
}
