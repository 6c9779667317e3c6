package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// simSweep is one call of sim sweep.
type simSweep struct {
	app     *app
	load    string
	join    []string
	set     []string
	seeds   int
	seeded  bool // seeds was given
	workers int
	html    string
	simPlugins
}

func (a *app) simSweepCommand() *cobra.Command {
	s := simSweep{app: a}
	cmd := &cobra.Command{
		Use:   "sweep EXPERIMENT",
		Short: "Simulate an experiment over parameters and seeds, or with an additional site",
		Long: "Simulate an experiment under all its schemes, for every combination of the given values and with\n" +
			"several seeds, on all CPUs; print means and half-widths of their 95 % confidence intervals.\n" +
			"Values are a list, such as volunteer_below=0.5,0.7, or a range with a step, such as load=0.7..1.3/0.1.\n" +
			"--add-site compares the grid with and without the site, under the experiment's scheme unless\n" +
			"--set scheme=… names others.\n" +
			"Its jobs are submitted over the time of the experiment's, from the start of its trace or from its from=, unless span= states another time.\n" +
			"A site is " + experiment.JoinForm + ".\n" +
			"Keys: " + console.Wrapped(experiment.SettableKeys(), 90) + ".",
		Example: "  switchyard sim sweep heavy --load 0.7..1.3 --seeds 5 --html heavy.html\n" +
			"  switchyard sim sweep light --set volunteer_below=0.5..0.9 --set check_interval=60s,300s,900s --json\n" +
			"  switchyard sim sweep electricity --set delay_price=0.1,1,5 --html electricity.html\n" +
			"  switchyard sim sweep light --add-site mine=64x16@2400,model=mine.toml --html joining.html",
		Args:              oneExperiment,
		ValidArgsFunction: completeExperiments,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.seeded = cmd.Flags().Changed("seeds")
			return s.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringVar(&s.load, "load", "", "short for --set load=…")
	cmd.Flags().StringArrayVar(&s.set, "set", nil, "values of a key: KEY=VALUES; repeatable")
	cmd.Flags().StringArrayVar(&s.join, "add-site", nil, "add this site and compare with and without it; repeatable")
	cmd.Flags().IntVar(&s.seeds, "seeds", 0, "number of seeds (default: as in the experiment)")
	s.addTo(cmd)
	cmd.Flags().IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "number of parallel simulations")
	cmd.Flags().StringVar(&s.html, "html", "", "write a page with tables and figures to this file; - is the output")
	_ = cmd.RegisterFlagCompletionFunc("set", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var keys []string
		for _, key := range experiment.SettableKeys() {
			keys = append(keys, key+"=")
		}
		return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}) // the flag was just made
	return a.query(cmd)
}

func (s *simSweep) run(ctx context.Context, name string) (err error) {
	whole, err := s.app.outputs([]string{name}, output{"html", s.html})
	if err != nil {
		return err
	}
	sweep, err := s.sweep(name)
	if err != nil {
		return err
	}
	runs, err := sweep.Runs()
	if err != nil {
		return usage("%w", err)
	}
	if err = s.app.open(sweep.Plan); err != nil {
		return err
	}
	if err = s.app.start(ctx, sweep.Plan); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sweep.Plan.Close()) }()
	bar := s.app.newProgress(runs, "simulations")
	swept, err := sweep.Run(ctx, func(done, _ int) { bar.set(done) })
	bar.end()
	if err != nil {
		return err
	}
	if window := swept.Window(); window != "" {
		s.app.notice("%s", console.Plain(window))
	}
	if swept.Constant() {
		s.app.notice("%s", experiment.ConstantNotice)
	}
	if s.html != "" {
		if err = s.page(name, swept); err != nil || whole {
			return err
		}
	}
	if s.app.json {
		return s.app.printJSON(swept)
	}
	return s.app.showSwept(swept)
}

// sweep is what the flags ask for.
func (s *simSweep) sweep(name string) (*experiment.Sweep, error) {
	plan, err := s.app.experiment(name)
	if err != nil {
		return nil, err
	}
	if plan, err = s.apply(plan); err != nil {
		return nil, err
	}
	sweep := &experiment.Sweep{Plan: plan, Seeds: plan.Seeds, Workers: s.workers}
	if s.seeded {
		sweep.Seeds = s.seeds
	}
	if sweep.Seeds < 1 || s.workers < 1 {
		return nil, usage("--seeds and --workers: use at least 1")
	}
	if s.load != "" {
		s.set = append([]string{"load=" + s.load}, s.set...)
	}
	if len(s.join) > 0 && !slices.ContainsFunc(s.set, func(text string) bool { return strings.HasPrefix(text, "scheme=") }) {
		s.set = append(s.set, "scheme="+string(plan.Scheme)) // one page: the others are asked for
	}
	for _, text := range s.set {
		if err = sweep.Set(text); err != nil {
			return nil, usage("--set: %w", err)
		}
	}
	for _, text := range s.join {
		if sweep.Plan, err = sweep.Plan.Join(text); err != nil {
			return nil, usage("--add-site: %w", err)
		}
		sweep.Joining = append(sweep.Joining, sweep.Plan.Sites[len(sweep.Plan.Sites)-1].Name)
	}
	return sweep, nil
}

func (s *simSweep) page(name string, swept *experiment.Swept) error {
	title := "Sweep of " + swept.Experiment
	if len(swept.Joining) > 0 {
		title = "What " + strings.Join(swept.Joining, " and ") + " gains by joining " + swept.Experiment
	}
	words := []string{"switchyard sim sweep", name}
	for _, text := range s.set {
		words = append(words, "--set", text)
	}
	for _, text := range s.join {
		words = append(words, "--add-site", text)
	}
	source := report.Source{
		Command: fmt.Sprintf("%s --seeds %d", strings.Join(words, " "), len(swept.Seeds)), Version: version,
	}
	page, err := experiment.Page(title, []*experiment.Swept{swept}, source)
	if err != nil {
		return err
	}
	return s.app.writePage(s.html, &page)
}

// showSwept prints the tables of the page.
func (a *app) showSwept(swept *experiment.Swept) error {
	return a.showTables(swept.Summary(), len(swept.Seeds))
}

// showTables prints tables of means over the seeds.
func (a *app) showTables(tables []report.Table, seeds int) error {
	for i, shown := range tables {
		if i > 0 {
			a.printf("\n")
		}
		a.printf("%s, %s\n\n", shown.Title, protocol.Count(seeds, "seed"))
		if err := shown.Console().Write(a.stdout, "", true); err != nil {
			return err
		}
	}
	return nil
}
