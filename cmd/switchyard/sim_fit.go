package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// simFit is one call of sim fit.
type simFit struct {
	app         *app
	trace       traceFlags
	sacct       string
	cpusPerNode int
	nodes       int
	mhz         int
	name        string
	from, to    string
	skip        []int
	method      string
	merge       string
	replays     int
	out         string
}

func (a *app) simFitCommand() *cobra.Command {
	f := simFit{app: a}
	cmd := &cobra.Command{
		Use:   "fit --trace FILE --cpus-per-node N",
		Short: "Model the workload of a trace",
		Long: "Model the jobs of a trace, to sample other jobs like them (sim generate, and the key model_file of\n" +
			"experiments). The output compares jobs drawn from the model with the trace. A difference of more\n" +
			"than 3 % of the load is also a warning. With --replay, mean waits under EASY are compared too.\n" +
			"The method periods keeps sizes, load, and its course over days and weeks. The method classes is\n" +
			"that of the superscheduler paper: jobs are classified by their number of nodes, and classes with\n" +
			"less than 2 % of the jobs are merged. In each class, hyper-Erlang distributions match the first\n" +
			"three moments of the interarrival times and of the run times. If no such distribution exists, the\n" +
			"output states the reason and the distribution used instead. For a Slurm site:\n" +
			"sacct -aXP -S 2026-01-01 -o " + workload.SacctFormat,
		Example: "  switchyard sim fit --sacct jobs.txt --cpus-per-node 64 --nodes 200 --out mine.toml\n" +
			"  switchyard sim fit --trace KTH-SP2.swf.gz --cpus-per-node 1 --replay 5\n" +
			"  switchyard sim fit --trace SDSC-BLUE.swf.gz --method classes --cpus-per-node 8 --submitted-from 2002-03-01 --submitted-before 2002-09-01 --skip-queue 0",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.trace.addTo(cmd)
	choice(cmd, &f.method, "method", experiment.ByPeriods, "what the model is made of", experiment.FitMethods()...)
	cmd.Flags().StringVar(&f.sacct, "sacct", "", "output of sacct -P to read in place of a trace")
	cmd.Flags().IntVar(&f.cpusPerNode, "cpus-per-node", 0, "CPUs per node")
	cmd.Flags().IntVar(&f.nodes, "nodes", 0, "nodes of the machine (default: from the header of the trace, or its largest job)")
	cmd.Flags().IntVar(&f.mhz, "mhz", 1000, "clock rate of a CPU, for the model file")
	cmd.Flags().StringVar(&f.name, "name", "machine", "name of the machine, for the model file")
	cmd.Flags().StringVar(&f.from, "submitted-from", "", "start of the window of submission times, in the site's time zone, such as 2002-03-01")
	cmd.Flags().StringVar(&f.to, "submitted-before", "", "end of the window of submission times (exclusive)")
	cmd.Flags().IntSliceVar(&f.skip, "skip-queue", nil, "skip the jobs of these queues; 0 is by convention the interactive queue")
	choice(cmd, &f.merge, "merge", "down", "neighbor that small classes are merged with (method classes)", "down", "fewest")
	cmd.Flags().IntVar(&f.replays, "replay", 0, "compare the mean wait of the trace under EASY with that of draws from this many seeds")
	cmd.Flags().StringVar(&f.out, "out", "", "write the model to this file, for the key model_file of experiments; - is the output")
	return a.query(cmd)
}

func (f *simFit) run(cmd *cobra.Command) error {
	whole, err := f.app.outputs([]string{f.trace.path, f.sacct}, output{"out", f.out})
	if err != nil {
		return err
	}
	options, err := f.options(cmd)
	if err != nil {
		return err
	}
	trace, err := f.trace.read(f.app)
	if err != nil {
		return err
	}
	fitted, err := experiment.FitTrace(f.trace.path, trace, options)
	if err != nil {
		return err
	}
	if warning := fitted.Warning(); warning != "" {
		f.app.notice("%s", console.Plain(warning))
	}
	if err = f.app.writeAsked(f.out, fitted.WriteModel); err != nil || whole {
		return err
	}
	return f.app.showText(fitted.Result(), fitted.Text)
}

func (f *simFit) options(cmd *cobra.Command) (o experiment.FitOptions, err error) {
	o = experiment.FitOptions{
		Method: f.method, Replays: f.replays, From: f.from, To: f.to, Skip: f.skip, Overruns: f.trace.overruns,
		Machine: workload.Machine{Name: f.name, Nodes: f.nodes, CPUsPerNode: f.cpusPerNode, MHz: f.mhz},
	}
	switch f.merge {
	case "down":
		o.Merge = workload.MergeDown
	case "fewest":
		o.Merge = workload.MergeFewest
	default:
		return o, chosen("merge", f.merge, "down", "fewest")
	}
	if err = chosen("method", f.method, experiment.FitMethods()...); err != nil {
		return o, err
	}
	if f.method == experiment.ByPeriods && cmd.Flags().Changed("merge") {
		return o, usage("--merge does not apply to --method %s; omit it", f.method)
	}
	if f.replays < 0 {
		return o, usage("--replay: invalid value %d; use at least 0", f.replays)
	}
	if f.cpusPerNode < 1 {
		return o, usage("missing --cpus-per-node; set it to at least 1")
	}
	if f.sacct == "" {
		return o, nil
	}
	if f.trace.path != "" {
		return o, usage("--trace and --sacct are mutually exclusive")
	}
	f.trace.path, f.trace.format = f.sacct, "sacct"
	return o, nil
}
