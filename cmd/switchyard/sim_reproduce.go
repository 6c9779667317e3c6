package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
	app      *app
	options  reproduce.Options
	html     string
	document string // that --page names
	out      string
	list     bool
	plain    bool
}

func (a *app) simReproduceCommand() *cobra.Command {
	r := simReproduce{app: a, options: reproduce.Default()}
	cmd := &cobra.Command{
		Use:   "reproduce [NAME...]",
		Short: "Reproduce the tables and figures of the MCMF, Blue Gene/P, ISS and superscheduler papers",
		Long: "Reproduce tables and figures of the MCMF metascheduling paper, of the Blue Gene/P paper on power\n" +
			"budgets (names with bg; bg means all of them), of the ISS paper on the cost model (names with is)\n" +
			"and of the superscheduler paper (names with ss), next to the published values: means over seeds and\n" +
			"half-widths of their 95 % confidence intervals. Without names, all of the MCMF paper except\n" +
			"nordugrid, which takes much longer. A simulation that several exhibits need runs once.\n" +
			"--data is the directory of the traces and prices. --json prints the values of each seed and the\n" +
			"series of the figures, --html and --out draw the figures. Only --data, --seeds and\n" +
			"--workers also apply to the Blue Gene/P and superscheduler papers, --experiments to the latter, and\n" +
			"only --machines to the ISS paper.\n" +
			"Names: " + console.Wrapped(papers.Names(), 90) + ".",
		Example: "  switchyard sim reproduce table4 fig10 --data ../shared/data\n" +
			"  switchyard sim reproduce bg-fig2 bg-fig5 --seeds 1 --html power-budget.html\n" +
			"  switchyard sim reproduce table5 --waits plan --seeds 10 --json >table5.json\n" +
			"  switchyard sim reproduce ss-fig4 ss-table6 --out figures\n" +
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
	cmd.Flags().StringVar(&o.Experiments, "experiments", o.Experiments, "directory of one-month.toml and six-months.toml, for the superscheduler paper")
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	o.Flags(flags)
	cmd.Flags().AddGoFlagSet(flags)
	_ = cmd.RegisterFlagCompletionFunc("waits", cobra.FixedCompletions(waitMethods(), cobra.ShellCompDirectiveNoFileComp)) // the flag was just made
	cmd.Flags().IntVar(&o.Workers, "workers", runtime.GOMAXPROCS(0), "number of parallel simulations")
	cmd.Flags().StringVar(&r.html, "html", "", "write a page with tables and figures to this file; - is the output")
	cmd.Flags().StringVar(&r.out, "out", "", "directory for index.html and the figures as SVG files; it is created")
	cmd.Flags().StringVar(&r.document, "page", "", "write the named exhibits, or all, into the marked blocks of this page (docs/reproduction.md), its claims and figures")
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

func (r *simReproduce) run(ctx context.Context, names []string) error {
	if r.list {
		return r.show()
	}
	if r.document != "" {
		return r.write(ctx, names)
	}
	whole, err := r.app.outputs(nil, output{"html", r.html})
	if err != nil {
		return err
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
	command := slices.Concat([]string{"switchyard", "sim", "reproduce"}, names, r.options.Args())
	source := report.Source{Command: strings.Join(command, " "), Version: version}
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

// write makes the blocks of a page in Markdown, and its figures.
func (r *simReproduce) write(ctx context.Context, names []string) error {
	if args := r.options.Args(); len(args) > 0 || r.html != "" || r.out != "" || r.plain || r.app.json {
		return usage("--page takes names, --data, --machines, --experiments and --workers alone; sizes stand in the markers of the page")
	}
	if err := papers.CheckCommit(commit); err != nil {
		return usage("--page: %w", err)
	}
	document, err := r.read()
	if err != nil {
		return err
	}
	progress := func() (step func(done, of int), end func()) { return r.app.progressOf("simulations") }
	var wrong error
	err = document.Make(ctx, r.options.Size, names, commit, progress, func(figures []report.Figure) (err error) {
		for i := range figures {
			path := filepath.Join(filepath.Dir(r.document), filepath.FromSlash(papers.FigurePath(figures[i].Name)))
			if err = os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a page is for all users
				return err
			}
			if err = os.WriteFile(path, figures[i].SVG(), 0o666); err != nil { //nolint:gosec // a page is for all users
				return err
			}
		}
		now, err := r.read() // its prose may have been edited since
		if err != nil {
			return err
		}
		if err = document.Carry(now, commit); err != nil {
			return fmt.Errorf("%s: %w", r.document, err)
		}
		wrong = now.Refresh() // what was computed is kept, even if a claim no longer finds its table
		return replaceFile(r.document, []byte(now.Text()))
	})
	return errors.Join(err, wrong)
}

// read reads the page.
func (r *simReproduce) read() (*papers.Page, error) {
	text, err := os.ReadFile(r.document)
	if err != nil {
		return nil, err
	}
	page, err := papers.ReadPage(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.document, err)
	}
	return page, nil
}

// replaceFile writes a file that exists, as a whole or not at all.
func replaceFile(path string, data []byte) error {
	err := os.WriteFile(path+".new", data, 0o666) //nolint:gosec // a page is for all users
	if err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}
	return os.Rename(path+".new", path)
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
