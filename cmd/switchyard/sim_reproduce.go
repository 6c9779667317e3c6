package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/papers"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
)

// simReproduce is one call of sim reproduce.
type simReproduce struct {
	app     *app
	options reproduce.Options
	waits   string
	authors []string
	html    string
	out     string
	list    bool
	plain   bool
}

func (a *app) simReproduceCommand() *cobra.Command {
	r := simReproduce{app: a, options: reproduce.Default()}
	cmd := &cobra.Command{
		Use:   "reproduce [NAME...]",
		Short: "Reproduce the tables and figures of the MCMF, Blue Gene/P and ISS papers",
		Long: "Reproduce tables and figures of the MCMF metascheduling paper, of the Blue Gene/P paper on power\n" +
			"budgets (names with bg; bg means all of them) and of the ISS paper on the cost model (names with\n" +
			"is), next to the published values: means over seeds and\n" +
			"half-widths of their 95 % confidence intervals. Without names, all of the MCMF paper except\n" +
			"nordugrid, which takes much longer. A simulation that several exhibits need runs once.\n" +
			"--data is the directory of the traces and prices. --json prints the values of each seed and the\n" +
			"series of the figures, --html and --out draw the figures. Only --data, --seeds and\n" +
			"--workers also apply to the Blue Gene/P paper, only --machines to the ISS paper.\n" +
			"Names: " + console.Wrapped(papers.Names(), 90) + ".",
		Example: "  switchyard sim reproduce table4 fig10 --data ../shared/data\n" +
			"  switchyard sim reproduce bg-fig2 bg-fig5 --seeds 1 --html power-budget.html\n" +
			"  switchyard sim reproduce table5 --waits plan --seeds 10 --json >table5.json\n" +
			"  switchyard sim reproduce --list",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			left := slices.DeleteFunc(papers.Names(), func(name string) bool { return slices.Contains(args, name) })
			return left, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	o := &r.options
	cmd.Flags().BoolVar(&r.list, "list", false, "list the exhibits")
	cmd.Flags().StringVar(&o.Data, "data", o.Data, "directory of the traces and prices")
	cmd.Flags().StringVar(&o.Machines, "machines", o.Machines, "directory of park.csv and classes.csv, for the ISS paper")
	cmd.Flags().IntVar(&o.Seeds, "seeds", o.Seeds, "number of seeds, with a workload each")
	cmd.Flags().IntVar(&o.Jobs, "jobs", 0, "number of measured jobs (default: as in the paper)")
	choice(cmd, &r.waits, "waits", string(o.Waits), "prediction of the quoted waits", waitMethods()...)
	cmd.Flags().StringVar(&o.Forecast, "forecast", o.Forecast,
		"forecast of prices that are not published yet (auto, blend, yesterday, mean, flat, sarima or an order such as (1,0,1)(1,0,1)24; known: the actual prices)")
	cmd.Flags().StringSliceVar(&r.authors, "authors", nil, "choices of the authors' released code: "+choiceNames())
	cmd.Flags().IntVar(&o.Workers, "workers", runtime.GOMAXPROCS(0), "number of parallel simulations")
	cmd.Flags().StringVar(&r.html, "html", "", "write a page with tables and figures to this file; - is the output")
	cmd.Flags().StringVar(&r.out, "out", "", "directory for index.html and the figures as SVG files; it is created")
	cmd.Flags().BoolVar(&r.plain, "plain", false, "print aligned columns in place of Markdown")
	return a.query(cmd)
}

func waitMethods() []string {
	var names []string
	for _, m := range waitpredict.Methods() {
		names = append(names, string(m))
	}
	return names
}

func choiceNames() string {
	var names []string
	for _, c := range reproduce.Choices() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

func (r *simReproduce) run(ctx context.Context, names []string) error {
	if r.list {
		return r.show()
	}
	whole, err := r.app.outputs(nil, output{"html", r.html})
	if err != nil {
		return err
	}
	r.options.Waits = waitpredict.Method(r.waits)
	for _, name := range r.authors {
		r.options.Authors = append(r.options.Authors, reproduce.Choice(name))
	}
	chosen, err := papers.Choose(r.options, names)
	if err != nil {
		return usage("%w", err)
	}
	reports, err := chosen.Run(ctx, func() (step func(done, of int), end func()) { return r.app.progressOf("simulations") })
	if err != nil {
		return err
	}
	if r.html != "" || r.out != "" {
		if err = r.page(reports, names); err != nil || whole {
			return err
		}
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

func (r *simReproduce) page(reports []reproduce.Report, names []string) error {
	command := append([]string{"switchyard", "sim", "reproduce"}, names...)
	source := report.Source{Command: fmt.Sprintf("%s --seeds %d", strings.Join(command, " "), r.options.Seeds), Version: version}
	page, err := reproduce.Page("Papers, reproduced", reports, source)
	if err != nil {
		return err
	}
	if r.out != "" {
		if _, err = page.WriteDir(r.out); err != nil {
			return err
		}
	}
	if r.html == "" {
		return nil
	}
	return r.app.writePage(r.html, page)
}

// show lists what there is.
func (r *simReproduce) show() error {
	all := papers.Exhibits()
	return r.app.showTable(all, func() *console.Table {
		t := console.NewTable("NAME", "ALSO", "ABOUT", "PAPER")
		for _, e := range all {
			t.Add(e.Name, console.OrDash(strings.Join(e.Also, " ")), e.Title, e.Paper)
		}
		return t
	})
}
