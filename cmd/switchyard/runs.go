package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

func (a *app) runsCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:         "runs [COMPONENT]",
		Annotations: anyPeer(),
		Short:       "List the run history of components",
		Long: "List the run history of your components: the number of runs at each site, and of the last\n" +
			"run the CPUs, the run time, r_a (operations per second and CPU), b (64-bit words sent per\n" +
			"second and CPU), Γ (computation time over communication time) and the energy; - if not\n" +
			"measured. Run times on other machines are predicted from these values. A job with an\n" +
			"objective, limits or a described behavior is a component with the name of the job; other\n" +
			"jobs have no run history. --json prints all runs, and for a named COMPONENT also the\n" +
			"behavior fitted to its runs.",
		Example: "  switchyard runs\n  switchyard runs mesh --json\n  switchyard runs --all",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one component, got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "components of all users")
	return lists(a, cmd, func(ctx context.Context, args []string) (view.RunHistory, error) {
		component := ""
		if len(args) > 0 {
			component = args[0]
		}
		known, err := a.client().RunHistory(ctx, component, all)
		if err == nil && component != "" && len(known.Components) == 0 {
			err = &exitError{code: exitNotFound, err: fmt.Errorf("no run history of your component %q; only runs that end with exit code 0 are recorded", component)}
		}
		return known, err
	}, display.RunHistory)
}
