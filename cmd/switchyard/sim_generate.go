package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The workloads that sim generate knows.
const (
	lublinModel    = "lublin"
	xsedeModel     = "xsede"
	nordugridModel = "nordugrid"
	intrepidModel  = "intrepid"
)

// fittedModel stands for the file of a model in the table of flags.
const fittedModel = "FILE"

// simGenerate is one call of sim generate.
type simGenerate struct {
	app      *app
	cmd      *cobra.Command
	model    string
	seed     uint64
	jobs     int
	history  int
	load     float64
	cpus     int
	typeless bool
	longest  time.Duration
	trace    traceFlags
	unscaled bool
	span     time.Duration
	out      string
}

func (a *app) simGenerateCommand() *cobra.Command {
	g := simGenerate{app: a}
	cmd := &cobra.Command{
		Use:   "generate --model MODEL",
		Short: "Sample a workload from a model, as a trace",
		Long: "Sample the jobs of a machine or of a grid, and write them as a trace in the Standard Workload\n" +
			"Format, whose partition is the system where a job is submitted:\n" +
			"  lublin     one machine, by Lublin and Feitelson; estimates are the run times, or with\n" +
			"             --max-estimate by Tsafrir, Etsion and Feitelson\n" +
			"  xsede      the eight systems of the MCMF paper's Table I, calibrated to its section 4.3.1 and\n" +
			"             to the authors' sample; the first jobs only fill the machines\n" +
			"  nordugrid  fifty systems in the price areas of 2014, with the jobs of a grid's log (--trace),\n" +
			"             scaled to the means of the MCMF paper; the table of systems is invented\n" +
			"  intrepid   the Blue Gene/P of the power paper, March to August 2009, with its monthly job counts\n" +
			"             and utilization; the rest is fitted to the machine's log of January and February\n" +
			"  FILE       one machine, by the file of a model that sim fit --out wrote; without --span, for the\n" +
			"             time of its trace\n" +
			"Without --out, only a summary for each system is printed.",
		Example: "  switchyard sim generate --model lublin --cpus 256 --jobs 10000 --max-estimate 36h --out lublin.swf\n" +
			"  switchyard sim generate --model xsede --seed 3 --out xsede.swf\n" +
			"  switchyard sim generate --model nordugrid --trace LCG.swf.gz --unscaled --json\n" +
			"  switchyard sim generate --model mine.toml --seed 3 --out mine.swf",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g.cmd = cmd
			return g.run()
		},
	}
	cmd.Flags().StringVar(&g.model, "model", "", "workload model ("+strings.Join(generated(), ", ")+"), or the file of one")
	cmd.Flags().Uint64Var(&g.seed, "seed", 1, "random seed")
	cmd.Flags().IntVar(&g.jobs, "jobs", 0, "number of jobs (lublin 1000, xsede 10000 after the history, nordugrid 126344; of a file, to drop others at random)")
	cmd.Flags().IntVar(&g.history, "history", 4000, "jobs before these that fill the machines and are not measured (xsede)")
	cmd.Flags().Float64Var(&g.load, "load", 1, "factor that divides the interarrival times (lublin, xsede, file)")
	cmd.Flags().IntVar(&g.cpus, "cpus", 128, "CPUs of the machine (lublin)")
	cmd.Flags().BoolVar(&g.typeless, "typeless", false, "do not distinguish batch and interactive jobs (lublin)")
	cmd.Flags().DurationVar(&g.longest, "max-estimate", 0, "maximum time limit that users may request, such as 36h (lublin)")
	g.trace.addTo(cmd)
	cmd.Flags().BoolVar(&g.unscaled, "unscaled", false, "keep the times of the log (nordugrid)")
	cmd.Flags().DurationVar(&g.span, "span", 0, "time over which jobs are submitted, such as 336h (file; default: that of its trace, or 14 days for a model of classes)")
	cmd.Flags().StringVar(&g.out, "out", "", "write the trace to this file; - is the output")
	return a.query(cmd)
}

func (g *simGenerate) run() error {
	inputs := []string{g.trace.path}
	if g.ofFile() {
		inputs = append(inputs, g.model)
	}
	whole, err := g.app.outputs(inputs, output{"out", g.out})
	if err != nil {
		return err
	}
	grid, err := g.draw()
	if err != nil {
		return err
	}
	if err = g.write(grid); err != nil || whole {
		return err
	}
	drawn := experiment.Draw(g.model, g.seed, grid)
	return g.app.showText(drawn, drawn.Text)
}

// generated are the built-in models.
func generated() []string {
	return []string{lublinModel, xsedeModel, nordugridModel, intrepidModel}
}

// ofFile says whether the model is a file: a path, or the name of a file that exists or
// ends in .toml, but never the name of a built-in model.
func (g *simGenerate) ofFile() bool {
	if slices.Contains(generated(), g.model) || g.model == "" {
		return false
	}
	if filepath.Ext(g.model) == ".toml" || strings.ContainsRune(g.model, filepath.Separator) {
		return true
	}
	_, err := os.Stat(g.model)
	return err == nil
}

func (g *simGenerate) draw() (*workload.Grid, error) {
	if g.model == "" {
		return nil, usage("missing --model; use %s, or the file of a model", strings.Join(generated(), ", "))
	}
	if !g.ofFile() {
		if err := chosen("model", g.model, append(generated(), "or the file of a model")...); err != nil {
			return nil, err
		}
	}
	if err := g.fitting(); err != nil {
		return nil, err
	}
	var grid *workload.Grid
	var err error
	if g.ofFile() {
		return g.fitted()
	}
	switch g.model {
	case lublinModel:
		grid, err = g.lublin()
	case xsedeModel:
		grid, err = g.xsede()
	case intrepidModel:
		grid, err = workload.IntrepidHalfYear(g.seed)
	default:
		return g.nordugrid()
	}
	if err != nil {
		return nil, usage("%s: %w", g.model, err)
	}
	return grid, nil
}

// fitting refuses flags that mean nothing to the model, and values that none takes.
func (g *simGenerate) fitting() error {
	model := g.model
	if g.ofFile() {
		model = fittedModel
	}
	for _, flag := range []struct {
		name   string
		models []string
	}{
		{"jobs", []string{lublinModel, xsedeModel, nordugridModel, fittedModel}},
		{"history", []string{xsedeModel}},
		{"load", []string{lublinModel, xsedeModel, fittedModel}},
		{"span", []string{fittedModel}},
		{"cpus", []string{lublinModel}},
		{"typeless", []string{lublinModel}},
		{"max-estimate", []string{lublinModel}},
		{"trace", []string{nordugridModel}},
		{"format", []string{nordugridModel}},
		{"lenient", []string{nordugridModel}},
		{"keep-overruns", []string{nordugridModel}},
		{"unscaled", []string{nordugridModel}},
	} {
		if g.cmd.Flags().Changed(flag.name) && !slices.Contains(flag.models, model) {
			return usage("--%s does not apply to --model %s; omit it", flag.name, g.model)
		}
	}
	if g.cmd.Flags().Changed("jobs") && g.jobs < 1 {
		return usage("--jobs: invalid value %d; use at least 1", g.jobs)
	}
	if g.cmd.Flags().Changed("load") && !(g.load > 0) {
		return usage("--load: invalid value %v; use a positive number", g.load)
	}
	if g.cmd.Flags().Changed("span") && g.span < time.Second {
		return usage("--span: invalid value %s; use at least 1s", g.span)
	}
	return nil
}

// fitted draws the jobs of the machine of a model's file.
func (g *simGenerate) fitted() (*workload.Grid, error) {
	if _, err := os.Stat(g.model); err != nil {
		return nil, fmt.Errorf("open the model: %w", err)
	}
	model, err := experiment.ReadModel(g.model)
	if err != nil {
		return nil, err
	}
	grid, err := workload.FittedMachine(model, workload.Options{Span: protocol.DurationOf(g.span), Load: g.load, Jobs: g.jobs}, g.seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.model, err)
	}
	return grid, nil
}

// lublin draws the jobs of one machine.
func (g *simGenerate) lublin() (*workload.Grid, error) {
	if g.longest < 0 {
		return nil, fmt.Errorf("max-estimate: %s is negative", g.longest)
	}
	return workload.LublinMachine(workload.LublinOptions{
		CPUs: g.cpus, Jobs: g.jobs, Load: g.load, Typeless: g.typeless, Longest: protocol.DurationOf(g.longest),
	}, g.seed)
}

func (g *simGenerate) xsede() (*workload.Grid, error) {
	o := workload.XSEDEOptions{History: g.history, Jobs: g.jobs, Load: g.load}
	switch {
	case g.history < 0:
		return nil, fmt.Errorf("history: %d is negative", g.history)
	case g.history == 0:
		o.History = -1
	}
	return workload.XSEDE(o, g.seed)
}

func (g *simGenerate) nordugrid() (*workload.Grid, error) {
	if g.trace.path == "" {
		return nil, usage("--model nordugrid requires the log of a grid, such as that of LCG in the Parallel Workloads Archive; set --trace")
	}
	log, err := g.trace.read(g.app)
	if err != nil {
		return nil, err
	}
	grid, err := workload.NorduGrid(log, workload.NorduGridOptions{
		Jobs: g.jobs, Unscaled: g.unscaled, KeepOverruns: g.trace.overruns,
	}, g.seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.trace.path, err)
	}
	if !grid.Cleaning.AsIs() {
		g.app.notice("%s: %s", console.Plain(g.trace.path), grid.Cleaning)
	}
	return grid, nil
}

func (g *simGenerate) write(grid *workload.Grid) error {
	notes := []string{fmt.Sprintf("made by switchyard sim generate --model %s --seed %d", g.model, g.seed)}
	if grid.History > 0 {
		notes = append(notes, fmt.Sprintf("the first %d jobs only make history", grid.History))
	}
	return g.app.writeAsked(g.out, func(w io.Writer) error { return workload.WriteSWF(w, grid.Trace(notes...)) })
}
