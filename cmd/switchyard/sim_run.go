package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// simRun is one call of sim run.
type simRun struct {
	app    *app
	seed   uint64
	seeded bool
	scheme string
	starts string
	swf    string
	gantt  string
	sites  []string // configurations of sites, instead of an experiment
	traces []string // of them, each with its site before it if need be
	simPlugins
	whole bool // one of these is the standard output
}

func (a *app) simRunCommand() *cobra.Command {
	r := simRun{app: a}
	cmd := &cobra.Command{
		Use:   "run EXPERIMENT | run --site CONFIG... --trace TRACE...",
		Short: "Simulate an experiment with one seed, or configured sites on a trace",
		Long: "Simulate an experiment, a TOML file or a built-in one, with one seed: under its scheme and under\n" +
			"those that it is compared with. GAIN is the mean wait or response under the scheme local, divided by\n" +
			"that under the scheme. If sites pay for electricity, the output includes its cost and FAIRNESS: the\n" +
			"response under local divided by that under the scheme, for each site; above 1 its users gain.\n" +
			"--starts, --swf and --gantt write the schedule of the experiment's scheme. Equal experiments and\n" +
			"seeds give byte-identical output.\n\n" +
			"--site simulates configured sites on the jobs of a trace, and compares them with the same jobs run at\n" +
			"their origins. Settings that affect decisions and cannot be simulated are errors; other settings\n" +
			"that are not simulated are listed in a notice.",
		Example: "  switchyard sim run heavy\n" +
			"  switchyard sim run electricity\n" +
			"  switchyard sim run heavy --policy ./cheapest --policy-config cheapest.toml\n" +
			"  switchyard sim run mine.toml --seed 2 --json\n" +
			"  switchyard sim run heavy --scheme local --starts starts.csv --gantt gantt.svg\n" +
			"  switchyard sim run --site /etc/switchyard/switchyard.toml --trace jobs.swf\n" +
			"  switchyard sim run --site north.toml --site south.toml --trace north=n.swf --trace south=s.swf",
		Args:              r.experimentOrSites,
		ValidArgsFunction: completeExperiments,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.seeded = cmd.Flags().Changed("seed")
			return r.run(cmd.Context(), args)
		},
	}
	cmd.Flags().Uint64Var(&r.seed, "seed", 1, "random seed; overrides the experiment's")
	choice(cmd, &r.scheme, "scheme", "", "run only this scheme", schemeNames()...)
	r.addTo(cmd)
	cmd.Flags().StringArrayVar(&r.sites, "site", nil, "configuration of a site to simulate, a file or a directory of files; repeatable")
	cmd.Flags().StringArrayVar(&r.traces, "trace", nil, "jobs of the sites: SITE=FILE; or FILE for a single site, or for a trace whose partitions are the sites")
	cmd.Flags().StringVar(&r.starts, "starts", "", "write the start and the site of each job to this CSV file; - is the output")
	cmd.Flags().StringVar(&r.swf, "swf", "", "write the schedule to this SWF trace; - is the output")
	cmd.Flags().StringVar(&r.gantt, "gantt", "", "write a chart of the schedule to this SVG file; - is the output")
	return a.query(cmd)
}

// experimentOrSites asks for an experiment, or for sites and traces.
func (r *simRun) experimentOrSites(cmd *cobra.Command, args []string) error {
	switch {
	case len(r.sites) == 0 && len(r.traces) == 0:
		return oneExperiment(cmd, args)
	case len(args) > 0:
		return usage("--site and --trace replace the experiment; omit %s, or omit them", args[0])
	case len(r.sites) == 0 || len(r.traces) == 0:
		return usage("--site and --trace require each other: the configurations of the sites, and their jobs")
	case r.local != "" || r.policy != "":
		return usage("--policy and --localsched apply to experiments; with --site, policies come from the configurations")
	}
	return nil
}

// plan is the experiment that was asked for.
func (r *simRun) plan(args []string) (*experiment.Plan, error) {
	if len(args) > 0 {
		return r.app.experiment(args[0])
	}
	configs := make([]*config.Config, len(r.sites))
	for i, path := range r.sites {
		var err error
		if configs[i], err = config.LoadElsewhere(path); err != nil {
			return nil, err
		}
	}
	plan, err := experiment.OfSites(configs, r.siteTraces())
	switch {
	case err != nil:
		return nil, usage("%w", err)
	case r.scheme == string(experiment.Local):
		plan.Scheme, plan.Compare = experiment.Local, nil
	case r.scheme != "":
		return nil, usage("--scheme %s applies to experiments; with --site, use --scheme %s or none", r.scheme, experiment.Local)
	}
	return plan, nil
}

func (r *simRun) siteTraces() []experiment.SiteTrace {
	traces := make([]experiment.SiteTrace, len(r.traces))
	for i, text := range r.traces {
		traces[i].Path = text
		if site, path, named := strings.Cut(text, "="); named {
			traces[i] = experiment.SiteTrace{Site: site, Path: path}
		}
	}
	return traces
}

func (r *simRun) run(ctx context.Context, args []string) (err error) {
	inputs := slices.Concat(args, r.sites)
	for _, trace := range r.siteTraces() {
		inputs = append(inputs, trace.Path)
	}
	r.whole, err = r.app.outputs(inputs, output{"starts", r.starts}, output{"swf", r.swf}, output{"gantt", r.gantt})
	if err != nil {
		return err
	}
	plan, err := r.plan(args)
	if err != nil {
		return err
	}
	if plan, err = r.choose(plan); err != nil {
		return err
	}
	if err = r.app.open(plan); err != nil {
		return err
	}
	if err = r.app.start(ctx, plan); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	outcomes, err := r.outcomes(ctx, plan)
	if err != nil {
		return err
	}
	main := outcomes.Of(plan.Scheme)
	if main.Unplaced > 0 {
		r.app.notice("%s never ran, because no eligible site is large enough; the means exclude them",
			protocol.Count(main.Unplaced, "job"))
	}
	for _, late := range main.LateFaults() {
		r.app.notice("%s", late)
	}
	if main.Metrics.Jobs == 0 && main.Applications == nil {
		return fmt.Errorf("experiment %s: no job ran", console.Plain(main.Experiment))
	}
	if err = r.write(main); err != nil || r.whole {
		return err
	}
	if r.app.json {
		return r.app.printJSON(outcomes.Beside(main))
	}
	r.app.printf("%s", outcomes.Text(main))
	return nil
}

// choose is the plan under the scheme that was asked for.
func (r *simRun) choose(plan *experiment.Plan) (*experiment.Plan, error) {
	plan, err := r.apply(plan)
	if err != nil {
		return nil, err
	}
	if r.scheme != "" && len(r.sites) == 0 {
		if plan, err = plan.With(experiment.Setting{Key: "scheme", Value: r.scheme}); err != nil {
			return nil, usage("--%w", err)
		}
	}
	if r.gantt != "" && plan.Scheme == experiment.Ideal {
		return nil, usage("--gantt requires machines; under the scheme ideal all jobs share one virtual machine")
	}
	if !r.seeded {
		r.seed = uint64(plan.Seed) //nolint:gosec // checked: not negative
	}
	return plan, nil
}

// outcomes runs all schemes of the plan.
func (r *simRun) outcomes(ctx context.Context, plan *experiment.Plan) (experiment.Outcomes, error) {
	var outcomes experiment.Outcomes
	for _, scheme := range plan.All() {
		step, end := r.app.progressOf("scheme " + string(scheme))
		outcome, err := plan.Run(ctx, scheme, r.seed, step)
		end()
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, outcome)
		outcome.CompareWith(outcomes.Of(experiment.Local))
	}
	return outcomes, nil
}

// write makes the files that were asked for.
func (r *simRun) write(o *experiment.Outcome) error {
	if err := r.app.writeAsked(r.starts, o.WriteStarts); err != nil {
		return err
	}
	if err := r.app.writeAsked(r.swf, o.WriteSWF); err != nil {
		return err
	}
	if r.gantt == "" {
		return nil
	}
	figure, err := o.Gantt()
	if err != nil {
		return err
	}
	return r.app.writeBytes(r.gantt, figure.SVG())
}
