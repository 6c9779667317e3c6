package main

import (
	"github.com/spf13/cobra"

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
	merge       string
	out         string
}

func (a *app) simFitCommand() *cobra.Command {
	f := simFit{app: a}
	cmd := &cobra.Command{
		Use:   "fit --trace FILE --cpus-per-node N",
		Short: "Model the workload of a trace",
		Long: "Model the jobs of a trace by the method of the superscheduler paper. Jobs are classified by their\n" +
			"number of nodes; classes with less than 2 % of the jobs are merged. In each class, hyper-Erlang\n" +
			"distributions match the first three moments of the interarrival times and of the run times. If no\n" +
			"such distribution exists, the output states the reason and the distribution used instead. For a\n" +
			"Slurm site: sacct -aXP -S 2026-01-01 -o " + workload.SacctFormat,
		Example: "  switchyard sim fit --trace SDSC-BLUE.swf.gz --cpus-per-node 8 --submitted-from 2002-03-01 --submitted-before 2002-09-01 --skip-queue 0\n" +
			"  switchyard sim fit --sacct jobs.txt --cpus-per-node 64 --nodes 200 --out mine.toml",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return f.run() },
	}
	f.trace.addTo(cmd)
	cmd.Flags().StringVar(&f.sacct, "sacct", "", "output of sacct -P to read in place of a trace")
	cmd.Flags().IntVar(&f.cpusPerNode, "cpus-per-node", 0, "CPUs per node")
	cmd.Flags().IntVar(&f.nodes, "nodes", 0, "nodes of the machine (default: from the header of the trace, or its largest job)")
	cmd.Flags().IntVar(&f.mhz, "mhz", 1000, "clock rate of a CPU, for the model file")
	cmd.Flags().StringVar(&f.name, "name", "machine", "name of the machine, for the model file")
	cmd.Flags().StringVar(&f.from, "submitted-from", "", "start of the window of submission times, in the site's time zone, such as 2002-03-01")
	cmd.Flags().StringVar(&f.to, "submitted-before", "", "end of the window of submission times (exclusive)")
	cmd.Flags().IntSliceVar(&f.skip, "skip-queue", nil, "skip the jobs of these queues; 0 is by convention the interactive queue")
	choice(cmd, &f.merge, "merge", "down", "neighbor that small classes are merged with", "down", "fewest")
	cmd.Flags().StringVar(&f.out, "out", "", "write the model to this file, for the key model_file of experiments; - is the output")
	return a.query(cmd)
}

func (f *simFit) run() error {
	whole, err := f.app.outputs([]string{f.trace.path, f.sacct}, output{"out", f.out})
	if err != nil {
		return err
	}
	options, err := f.options()
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
	if err = f.app.writeAsked(f.out, fitted.WriteModel); err != nil || whole {
		return err
	}
	return f.app.showText(fitted.Result(), fitted.Text)
}

func (f *simFit) options() (o experiment.FitOptions, err error) {
	o = experiment.FitOptions{
		From: f.from, To: f.to, Skip: f.skip, Overruns: f.trace.overruns,
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
