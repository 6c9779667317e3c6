package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

func (a *app) warehouseCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "warehouse [COMPONENT]",
		Short: "List what has been learnt of components",
		Long: "List what the site's warehouse knows of your components: how often each has run at which\n" +
			"site, and of its last run there the CPUs and the time, r_a (operations a second of a CPU),\n" +
			"b (64-bit words that a CPU sends a second), Γ (time to compute over time to communicate) and\n" +
			"the energy of its CPUs; - is what was not measured. From this the run time on every machine is\n" +
			"foreseen. A job with wishes of its own is a\n" +
			"component, with its name; of others nothing is kept. --json lists every run, and for a\n" +
			"COMPONENT that is named also the behaviour that its runs tell together.",
		Example: "  switchyard warehouse\n  switchyard warehouse mesh --json\n  switchyard warehouse --all",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one component, but got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everybody's components")
	return lists(a, cmd, func(ctx context.Context, args []string) (view.RunHistory, error) {
		component := ""
		if len(args) > 0 {
			component = args[0]
		}
		known, err := a.client().Warehouse(ctx, component, all)
		if err == nil && component != "" && len(known.Components) == 0 {
			err = &exitError{code: exitNotFound, err: fmt.Errorf("nothing is known of a component %q of yours; it has not run to its end", component)}
		}
		return known, err
	}, display.Warehouse)
}
