package main

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/localsched/foresight"
)

// simReproduce is one call of sim reproduce.
type simReproduce struct {
	app     *app
	options reproduce.Options
	waits   string
	list    bool
	plain   bool
}

func (a *app) simReproduceCommand() *cobra.Command {
	r := simReproduce{app: a, options: reproduce.Default()}
	cmd := &cobra.Command{
		Use:   "reproduce [NAME...]",
		Short: "Make the tables and figures of the MCMF paper again",
		Long: "Make tables and figures of the MCMF metascheduling paper again, with the paper's values beside\n" +
			"ours: means over seeds and half the widths of their 95 % confidence intervals. Without names all\n" +
			"but nordugrid, which takes far longer. A simulation that several of them need is run once. The\n" +
			"traces and prices are read from the folder of --data. --json has each seed's values and the series\n" +
			"of the figures.\n" +
			"Names: " + wrapped(reproduce.Names(), 90) + ".",
		Example: "  switchyard sim reproduce table4 fig10 --data ../shared/data\n" +
			"  switchyard sim reproduce table5 --waits plan --seeds 10 --json >table5.json\n" +
			"  switchyard sim reproduce --list",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			left := slices.DeleteFunc(reproduce.Names(), func(name string) bool { return slices.Contains(args, name) })
			return left, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	o := &r.options
	cmd.Flags().BoolVar(&r.list, "list", false, "only say what there is")
	cmd.Flags().StringVar(&o.Data, "data", o.Data, "folder of the traces and prices")
	cmd.Flags().IntVar(&o.Seeds, "seeds", o.Seeds, "how many seeds; each draws another workload")
	cmd.Flags().IntVar(&o.Jobs, "jobs", 0, "how many jobs are measured (as many as the paper's)")
	choice(cmd, &r.waits, "waits", string(o.Waits), "where the waits of quotes come from", foresightMethods()...)
	cmd.Flags().StringVar(&o.Forecast, "forecast", o.Forecast,
		"of prices that are not published yet (auto, blend, yesterday, mean, flat, sarima or an order as (1,0,1)(1,0,1)24)")
	cmd.Flags().BoolVar(&o.Oracle, "oracle", false, "let the sites know all prices ahead, as in the authors' code")
	cmd.Flags().IntVar(&o.Workers, "workers", runtime.GOMAXPROCS(0), "simulations at once")
	cmd.Flags().BoolVar(&r.plain, "plain", false, "print columns that line up and not Markdown")
	return a.query(cmd)
}

func foresightMethods() []string {
	var names []string
	for _, m := range foresight.Methods() {
		names = append(names, string(m))
	}
	return names
}

func (r *simReproduce) run(ctx context.Context, names []string) error {
	if r.list {
		return r.show()
	}
	r.options.Waits = foresight.Method(r.waits)
	if err := r.options.Check(names); err != nil {
		return usage("%w", err)
	}
	var bar *progress
	reports, err := reproduce.Run(ctx, r.options, names, func(done, of int) {
		if bar == nil {
			bar = r.app.newProgress(of, "simulations")
		}
		bar.set(done)
	})
	if bar != nil {
		bar.end()
	}
	if err != nil {
		return err
	}
	if r.app.json {
		return r.app.printJSON(reports)
	}
	style := reproduce.Markdown
	if r.plain {
		style = reproduce.Plain
	}
	for i := range reports {
		if err = reports[i].Write(r.app.stdout, style); err != nil {
			return err
		}
	}
	return nil
}

// show lists what there is.
func (r *simReproduce) show() error {
	if r.app.json {
		return r.app.printJSON(reproduce.Exhibits())
	}
	t := newTable("NAME", "ALSO", "ABOUT", "PAPER")
	for _, e := range reproduce.Exhibits() {
		t.add(e.Name, orDash(strings.Join(e.Also, " ")), e.Title, e.Paper)
	}
	return t.write(r.app.stdout, "", true)
}
