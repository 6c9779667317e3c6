package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
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
	simPlugins
	whole bool // one of these is the standard output
}

func (a *app) simRunCommand() *cobra.Command {
	r := simRun{app: a}
	cmd := &cobra.Command{
		Use:   "run EXPERIMENT",
		Short: "Simulate an experiment for one seed",
		Long: "Simulate an experiment, a TOML file or a built-in one, for one seed: its scheme, and beside it\n" +
			"those that it is compared with. GAIN is how many times shorter the waits are than under the\n" +
			"scheme local, if that is among them. Where sites pay for electricity there is what it costs, and\n" +
			"FAIRNESS: how many times longer responses are under local, by site; above 1 its users gain. The files of --starts, --swf and --gantt have the schedule\n" +
			"of the experiment's scheme. The same experiment and seed give the same bytes.",
		Example: "  switchyard sim run heavy\n" +
			"  switchyard sim run electricity\n" +
			"  switchyard sim run heavy --policy ./cheapest --policy-config cheapest.toml\n" +
			"  switchyard sim run mine.toml --seed 2 --json\n" +
			"  switchyard sim run heavy --scheme local --starts starts.csv --gantt gantt.svg",
		Args:              oneExperiment,
		ValidArgsFunction: completeExperiments,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.seeded = cmd.Flags().Changed("seed")
			return r.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().Uint64Var(&r.seed, "seed", 1, "of all that is drawn by chance, instead of the experiment's")
	choice(cmd, &r.scheme, "scheme", "", "run this scheme alone", schemeNames()...)
	r.addTo(cmd)
	cmd.Flags().StringVar(&r.starts, "starts", "", "write when and where each job starts, as CSV; - is the output")
	cmd.Flags().StringVar(&r.swf, "swf", "", "write the schedule as a trace; - is the output")
	cmd.Flags().StringVar(&r.gantt, "gantt", "", "draw the schedule as SVG; - is the output")
	return a.query(cmd)
}

func (r *simRun) run(ctx context.Context, name string) (err error) {
	r.whole, err = r.app.outputs([]string{name}, output{"starts", r.starts}, output{"swf", r.swf}, output{"gantt", r.gantt})
	if err != nil {
		return err
	}
	plan, err := r.app.experiment(name)
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
	main := chosenOf(outcomes, plan.Scheme)
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
	if !r.app.json {
		return r.app.showRun(main, outcomes)
	}
	for _, other := range outcomes {
		if other != main {
			other.Records = nil // the same
			main.Compare = append(main.Compare, *other)
		}
	}
	return r.app.printJSON(main)
}

// choose is the plan under the scheme that was asked for.
func (r *simRun) choose(plan *experiment.Plan) (*experiment.Plan, error) {
	plan, err := r.apply(plan)
	if err != nil {
		return nil, err
	}
	if r.scheme != "" {
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
func (r *simRun) outcomes(ctx context.Context, plan *experiment.Plan) ([]*experiment.Outcome, error) {
	var outcomes []*experiment.Outcome
	for _, scheme := range plan.All() {
		var bar *progress
		outcome, err := plan.Run(ctx, scheme, r.seed, func(ended, jobs int) {
			if bar == nil {
				bar = r.app.newProgress(jobs, "scheme "+string(scheme))
			}
			bar.set(ended)
		})
		if bar != nil {
			bar.end()
		}
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, outcome)
		outcome.CompareWith(chosenOf(outcomes, experiment.Local))
	}
	return outcomes, nil
}

func chosenOf(outcomes []*experiment.Outcome, scheme experiment.Scheme) *experiment.Outcome {
	for _, o := range outcomes {
		if o.Scheme == scheme {
			return o
		}
	}
	return nil
}

// write makes the files that were asked for.
func (r *simRun) write(o *experiment.Outcome) error {
	if r.starts != "" {
		if err := r.app.writeFile(r.starts, func(w io.Writer) error { return writeStarts(w, o) }); err != nil {
			return err
		}
	}
	if r.swf != "" {
		trace := o.Trace(fmt.Sprintf("schedule of experiment %s under scheme %s with seed %d, simulated by switchyard",
			o.Experiment, o.Scheme, o.Seed))
		if err := r.app.writeFile(r.swf, func(w io.Writer) error { return workload.WriteSWF(w, trace) }); err != nil {
			return err
		}
	}
	if r.gantt != "" {
		return r.app.writeGantt(r.gantt, o)
	}
	return nil
}

// writeStarts writes a line for each job, in order of submission: when it starts
// and ends since the experiment's beginning, in seconds. Jobs that never ran are
// left out.
func writeStarts(w io.Writer, o *experiment.Outcome) error {
	out := bufio.NewWriter(w)
	line := []byte("job_id,start,end,origin,site\n")
	for i, job := range o.Jobs {
		if _, err := out.Write(line); err != nil {
			return err
		}
		line = line[:0]
		placed := o.Result.Placements[i]
		if placed.Site < 0 {
			continue
		}
		line = appendCell(line, o.Plan.JobName(&o.Jobs[i]))
		line = appendSeconds(append(line, ','), int64(placed.Start))
		line = appendSeconds(append(line, ','), int64(placed.End))
		line = append(append(line, ','), o.Plan.Sites[job.Origin].Name...)
		line = append(append(line, ','), o.Plan.Sites[placed.Site].Name...)
		line = append(line, '\n')
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	return out.Flush()
}

// appendCell writes a cell of a CSV.
func appendCell(b []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"") {
		return append(b, text...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

// appendSeconds writes milliseconds as seconds, with a fraction only where there
// is one.
func appendSeconds(b []byte, ms int64) []byte {
	if ms%1000 == 0 {
		return strconv.AppendInt(b, ms/1000, 10)
	}
	return strconv.AppendFloat(b, float64(ms)/1000, 'f', -1, 64)
}

// showRun prints a line for each scheme, and the sites under the chosen one.
func (a *app) showRun(main *experiment.Outcome, outcomes []*experiment.Outcome) error {
	a.printf("Experiment %s, seed %d: %s, %s%s\n", console.Plain(main.Experiment), main.Seed,
		protocol.Count(len(main.Plan.Sites), "site"), protocol.Count(len(main.Jobs), "job"), besides(main.Applications))
	if main.Metrics.Jobs == 0 {
		return a.showAllApplications(outcomes)
	}
	a.printf("\n")
	if err := schemesTable(outcomes).Write(a.stdout, "", true); err != nil {
		return err
	}
	if main.Energy != nil {
		a.printf("\nElectricity, in %s:\n\n", main.Currency)
		if err := energyTable(main, outcomes).Write(a.stdout, "", true); err != nil {
			return err
		}
	}
	a.printf("\nSites under scheme %s:\n\n", main.Scheme)
	if err := perSiteTable(main).Write(a.stdout, "", true); err != nil {
		return err
	}
	return a.showAllApplications(outcomes)
}

func schemesTable(outcomes []*experiment.Outcome) *console.Table {
	t := console.NewTable("SCHEME", " JOBS", " WAIT", " GAIN", " RESPONSE", " GAIN", " DEVIATION", " SLOWDOWN", " UTIL", " EFFICIENCY",
		" MOVED", " MAKESPAN")
	local := chosenOf(outcomes, experiment.Local)
	for _, o := range outcomes {
		wait, response := "-", "-"
		if local != nil && o != local {
			wait, response = console.Times(local.MeanWait, o.MeanWait), console.Times(local.MeanResponse, o.MeanResponse)
		}
		t.Add(string(o.Scheme), strconv.Itoa(o.Metrics.Jobs), console.Seconds(o.MeanWait), wait, console.Seconds(o.MeanResponse), response,
			console.Seconds(o.WaitDeviation), console.Decimals(o.BoundedSlowdown), console.Part(o.Utilisation), console.Part(o.GridEfficiency),
			console.Part(o.Transferred), console.Seconds(o.Makespan))
	}
	return t
}

// energyTable has a line for each scheme: what its electricity costs, in all and at each
// site, how it serves the users of the site that it serves least, and the messages for a
// job, which many peers need more of than one.
func energyTable(main *experiment.Outcome, outcomes []*experiment.Outcome) *console.Table {
	titles := []string{"SCHEME", " COST", " GAIN", " MWH", " FAIRNESS", " MESSAGES"}
	for _, bill := range main.Bills {
		titles = append(titles, " "+strings.ToUpper(console.Plain(bill.Site)))
	}
	t := console.NewTable(titles...)
	local := chosenOf(outcomes, experiment.Local)
	for _, o := range outcomes {
		if o.Energy == nil {
			continue // a scheme without machines
		}
		gain := "-"
		if local != nil && o != local {
			gain = console.Times(local.Cost, o.Cost)
		}
		cells := []string{string(o.Scheme), console.Decimals(o.Cost), gain, console.Decimals(o.MWh), fairness(o.Fairness), console.Decimals(o.MessagesPerJob)}
		for _, bill := range o.Bills {
			cells = append(cells, console.Decimals(bill.Cost))
		}
		t.Add(cells...)
	}
	return t
}

// fairness is "-" where there is nothing to compare with.
func fairness(x *float64) string {
	if x == nil {
		return "-"
	}
	return console.Decimals(*x)
}

func perSiteTable(o *experiment.Outcome) *console.Table {
	titles := []string{"SITE", " CPUS", " SUBMITTED", " SENT", " RAN", " WAIT", " RESPONSE", " UTIL"}
	if o.Energy != nil {
		titles = append(titles, " FAIRNESS")
	}
	t := console.NewTable(titles...)
	for i, site := range o.Sites {
		cells := []string{
			console.Plain(string(site.Site)), strconv.Itoa(o.Plan.CPUs(i)), strconv.Itoa(site.Submitted), strconv.Itoa(site.Sent),
			strconv.Itoa(site.Ran), console.Seconds(site.MeanWait), console.Seconds(site.MeanResponse), console.Part(site.Utilisation),
		}
		if o.Energy != nil {
			cells = append(cells, fairness(o.Bills[i].Fairness))
		}
		t.Add(cells...)
	}
	return t
}
