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
		Short: "Simulate an experiment for one seed, or sites as they are configured",
		Long: "Simulate an experiment, a TOML file or a built-in one, for one seed: its scheme, and beside it\n" +
			"those that it is compared with. GAIN is how many times shorter the waits are than under the\n" +
			"scheme local, if that is among them. Where sites pay for electricity there is what it costs, and\n" +
			"FAIRNESS: how many times longer responses are under local, by site; above 1 its users gain. The files of --starts, --swf and --gantt have the schedule\n" +
			"of the experiment's scheme. The same experiment and seed give the same bytes.\n\n" +
			"With --site real sites are simulated as their configurations have them, on the jobs of a trace, and\n" +
			"beside that with every job at its own site. What of a configuration would change decisions and is not\n" +
			"simulated is an error; what would not is named.",
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
	cmd.Flags().Uint64Var(&r.seed, "seed", 1, "of all that is drawn by chance, instead of the experiment's")
	choice(cmd, &r.scheme, "scheme", "", "run this scheme alone", schemeNames()...)
	r.addTo(cmd)
	cmd.Flags().StringArrayVar(&r.sites, "site", nil, "simulate the site of this configuration, a file or a folder of files; once for each site")
	cmd.Flags().StringArrayVar(&r.traces, "trace", nil, "jobs of the sites: SITE=FILE, or FILE for one site or for a trace whose partitions are the sites")
	cmd.Flags().StringVar(&r.starts, "starts", "", "write when and where each job starts, as CSV; - is the output")
	cmd.Flags().StringVar(&r.swf, "swf", "", "write the schedule as a trace; - is the output")
	cmd.Flags().StringVar(&r.gantt, "gantt", "", "draw the schedule as SVG; - is the output")
	return a.query(cmd)
}

// experimentOrSites asks for an experiment, or for sites and traces.
func (r *simRun) experimentOrSites(cmd *cobra.Command, args []string) error {
	switch {
	case len(r.sites) == 0 && len(r.traces) == 0:
		return oneExperiment(cmd, args)
	case len(args) > 0:
		return usage("--site and --trace take the place of an experiment; leave %s out, or them", args[0])
	case len(r.sites) == 0 || len(r.traces) == 0:
		return usage("--site and --trace go together: the configurations of sites, and the jobs that come to them")
	case r.local != "" || r.policy != "":
		return usage("--policy and --localsched are of experiments; sites have the policies of their configurations")
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
		return nil, usage("--scheme %s is of experiments; sites as they are configured are compared with the scheme %s", r.scheme, experiment.Local)
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
		r.app.notice("%s never ran, because no site that they may go to has room for them; the means leave them out",
			protocol.Count(main.Unplaced, "job"))
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
		return nil, usage("--gantt draws machines, and the scheme ideal has none: jobs share one virtual machine")
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
