package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer"
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
		RunE: func(cmd *cobra.Command, args []string) error {
			component := ""
			if len(args) > 0 {
				component = args[0]
			}
			known, err := a.client().Warehouse(cmd.Context(), component, all)
			if err != nil {
				return err
			}
			if component != "" && len(known.Components) == 0 {
				return &exitError{code: exitNotFound, err: fmt.Errorf("nothing is known of a component %q of yours; it has not run to its end", component)}
			}
			if a.json {
				return a.printJSON(known)
			}
			return warehouseTable(known).Write(a.stdout, "", !a.noHeader)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everybody's components")
	return a.listing(cmd)
}

// warehouseTable has a row for each component and site.
func warehouseTable(known peer.Warehouse) *console.Table {
	t := console.NewTable("COMPONENT", "USER", "SITE", " RUNS", " CPUS", " RUN", " r_a", " b", " Γ", " ENERGY")
	for i := range known.Components {
		c := &known.Components[i]
		for _, site := range c.Sites {
			if len(site.Runs) == 0 {
				continue
			}
			last := &site.Runs[len(site.Runs)-1]
			ran := console.Span(last.Ran)
			if last.Censored {
				ran = "> " + ran
			}
			t.Add(console.Plain(c.Name), console.Plain(c.User), console.Plain(string(site.Site)), strconv.Itoa(len(site.Runs)),
				strconv.Itoa(last.CPUs), ran, console.Measured(last.Rate, 1, "flop/s"), console.Measured(last.Bandwidth, 1, "word/s"),
				gammaText(last.Gamma), console.Measured(last.Usage.Energy, milli, "J"))
		}
	}
	return t
}

// gammaText prints Γ with three digits, "-" when it is not known, and "huge" for a component
// that hardly communicates.
func gammaText(gamma float64) string {
	switch {
	case !(gamma > 0):
		return "-"
	case gamma >= hugeGamma:
		return "huge"
	}
	return strconv.FormatFloat(gamma, 'g', 3, 64)
}

// hugeGamma is a Γ of which nobody wants to know the digits.
const hugeGamma = 1e6

// milli is the part of a unit that energy is counted in.
const milli = 1e-3
