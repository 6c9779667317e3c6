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
		Long: "Model a trace's jobs as the superscheduler paper does: classes by size, one for each number of\n" +
			"nodes at first, those with less than 2 % of the jobs merged; in each class hyper-Erlang\n" +
			"distributions for the times between submissions and for the run times that match their first\n" +
			"three moments. Where no such distribution exists it says so, and what is taken instead. For a\n" +
			"Slurm site: sacct -aXP -S 2026-01-01 -o " + workload.SacctFormat,
		Example: "  switchyard sim fit --trace SDSC-BLUE.swf.gz --cpus-per-node 8 --from 2002-03-01 --to 2002-09-01 --skip-queue 0\n" +
			"  switchyard sim fit --sacct jobs.txt --cpus-per-node 64 --nodes 200 --out mine.toml",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return f.run() },
	}
	f.trace.addTo(cmd)
	cmd.Flags().StringVar(&f.sacct, "sacct", "", "the output of sacct -P, instead of a trace")
	cmd.Flags().IntVar(&f.cpusPerNode, "cpus-per-node", 0, "CPUs of a node")
	cmd.Flags().IntVar(&f.nodes, "nodes", 0, "nodes of the machine (those that the trace's header or its largest job tell)")
	cmd.Flags().IntVar(&f.mhz, "mhz", 1000, "speed of a CPU, for the model's file")
	cmd.Flags().StringVar(&f.name, "name", "machine", "of the machine, for the model's file")
	cmd.Flags().StringVar(&f.from, "from", "", "first submission that counts, on the site's clock, as 2002-03-01")
	cmd.Flags().StringVar(&f.to, "to", "", "first submission that counts no more")
	cmd.Flags().IntSliceVar(&f.skip, "skip-queue", nil, "leave out the jobs of these queues; 0 is by convention the interactive one")
	choice(cmd, &f.merge, "merge", "down", "with which neighbour small classes are merged", "down", "fewest")
	cmd.Flags().StringVar(&f.out, "out", "", "write the model, for the key model_file of experiments; - is the output")
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
		return o, usage("say with --cpus-per-node how many CPUs a node has, at least 1")
	}
	if f.sacct == "" {
		return o, nil
	}
	if f.trace.path != "" {
		return o, usage("--trace and --sacct exclude each other")
	}
	f.trace.path, f.trace.format = f.sacct, "sacct"
	return o, nil
}
