package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
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
	rule, err := f.rule()
	if err != nil {
		return err
	}
	if f.cpusPerNode < 1 {
		return usage("say with --cpus-per-node how many CPUs a node has, at least 1")
	}
	if f.sacct != "" {
		if f.trace.path != "" {
			return usage("--trace and --sacct exclude each other")
		}
		f.trace.path, f.trace.format = f.sacct, "sacct"
	}
	trace, err := f.trace.read(f.app)
	if err != nil {
		return err
	}
	jobs, cleaning, err := f.jobs(trace)
	if err != nil {
		return err
	}
	machine, err := f.machine(trace, jobs)
	if err != nil {
		return err
	}
	fitted, err := workload.Fit(jobs, machine, workload.FitOptions{Merge: rule})
	if err != nil {
		return err
	}
	if err = f.write(fitted, cleaning); err != nil || whole {
		return err
	}
	if f.app.json {
		return f.app.printJSON(fitResult(fitted, experiment.RecordsOf(f.trace.path, trace, cleaning)))
	}
	return f.show(fitted, cleaning, spanOf(jobs))
}

func (f *simFit) rule() (workload.MergeRule, error) {
	switch f.merge {
	case "down":
		return workload.MergeDown, nil
	case "fewest":
		return workload.MergeFewest, nil
	}
	return 0, chosen("merge", f.merge, "down", "fewest")
}

func (f *simFit) jobs(trace *workload.Trace) ([]workload.Job, workload.Cleaning, error) {
	from, to, err := experiment.Window(trace, f.from, f.to)
	if err != nil {
		return nil, workload.Cleaning{}, usage("--%w", err)
	}
	jobs, cleaning := workload.Clean(trace, workload.CleanOptions{
		Perfect: true, From: from, To: to, Queues: f.skip, ZeroRuns: true,
		KeepOverruns: f.trace.overruns,
	})
	if len(jobs) == 0 {
		return nil, cleaning, fmt.Errorf("%s: there are no jobs to model: %s", f.trace.path, cleaning)
	}
	return jobs, cleaning, nil
}

// machine is as the flags say, else as the trace's header, else as large as its
// largest job.
func (f *simFit) machine(trace *workload.Trace, jobs []workload.Job) (workload.Machine, error) {
	largest := 0
	for _, job := range jobs {
		largest = max(largest, job.CPUs)
	}
	cpus, _ := trace.Header.CPUs()
	m := workload.Machine{Name: f.name, CPUsPerNode: f.cpusPerNode, MHz: f.mhz}
	m.Nodes = cmp.Or(f.nodes, m.NodesOf(max(cpus, largest)))
	if err := m.Validate(); err != nil {
		return m, usage("the machine: %w", err)
	}
	if largest > m.CPUs() {
		return m, usage("a job has %d CPUs, the machine %d; correct --nodes or --cpus-per-node", largest, m.CPUs())
	}
	return m, nil
}

func (f *simFit) write(fitted *workload.Fitted, cleaning workload.Cleaning) error {
	if f.out == "" {
		return nil
	}
	return f.app.writeFile(f.out, func(w io.Writer) error {
		return experiment.WriteModel(w, fitted.Model, "Model of "+f.trace.path+", made by switchyard sim fit.", cleaning.String()+".")
	})
}

// show prints a table like Tables 2 to 4 of the paper, and what is not matched.
func (f *simFit) show(fitted *workload.Fitted, cleaning workload.Cleaning, span float64) error {
	m := fitted.Model.Machine
	f.app.printf("%s.\nMachine: %d nodes of %d CPUs.\n\n", cleaning, m.Nodes, m.CPUsPerNode)
	t := console.NewTable(" CPUS", " JOBS", " SHARE", " MEAN GAP", " n", " λ1", " λ2", " ρ", " MEAN RUN", " n", " λ1", " λ2", " ρ", "MATCHED")
	for i, class := range fitted.Model.Classes {
		fit := fitted.Classes[i]
		cells := []string{fmt.Sprintf("%d-%d", class.Min, class.Max), strconv.Itoa(fit.Jobs), console.Part(class.Share)}
		cells = append(cells, distribution(class.Arrival)...)
		cells = append(cells, distribution(class.Service)...)
		t.Add(append(cells, fmt.Sprintf("%d, %d", fit.Arrival.Matched, fit.Service.Matched))...)
	}
	if err := t.Write(f.app.stdout, "", true); err != nil {
		return err
	}
	f.app.printf("\nMATCHED is how many moments match: of the times between submissions, and of the run times.\n")
	for _, fit := range fitted.Classes {
		for _, part := range []struct {
			name string
			fit  workload.MomentFit
		}{{"times between submissions", fit.Arrival}, {"run times", fit.Service}} {
			if part.fit.Why != "" {
				f.app.printf("%d-%d CPUs, %s: %s.\n", fit.Min, fit.Max, part.name, part.fit.Why)
			}
		}
	}
	f.warn(fitted, span)
	return nil
}

// warn tells of classes whose jobs came together in a few bursts: a model of the
// times between them fills the whole span with such bursts.
func (f *simFit) warn(fitted *workload.Fitted, span float64) {
	const far = 2 // times as many or as few
	for i, class := range fitted.Model.Classes {
		drawn, had := class.Arrival.Renewals(span), float64(fitted.Classes[i].Jobs)
		if drawn > far*had || far*drawn < had {
			f.app.printf("%d-%d CPUs: the model draws %.0f jobs in the time of the trace, which has %.0f; "+
				"take a longer trace or merge the class by hand.\n", class.Min, class.Max, drawn, had)
		}
	}
}

// spanOf is the time from the first submission to the last, in seconds.
func spanOf(jobs []workload.Job) float64 {
	return float64(jobs[len(jobs)-1].Submit-jobs[0].Submit) / float64(protocol.Second)
}

func distribution(h workload.HyperErlang) []string {
	return []string{
		console.Seconds(h.Mean()), strconv.Itoa(h.N), fmt.Sprintf("%.2e", h.Lambda1), fmt.Sprintf("%.2e", h.Lambda2),
		fmt.Sprintf("%.4f", h.Rho),
	}
}

// fittedJSON is what sim fit prints as JSON.
type fittedJSON struct {
	experiment.Records

	Machine workload.Machine  `json:"machine"`
	Classes []fittedClassJSON `json:"classes"`
}

type fittedClassJSON struct {
	Min     int             `json:"min_cpus"`
	Max     int             `json:"max_cpus"`
	Jobs    int             `json:"jobs"`
	Share   float64         `json:"share"`
	Arrival fittedTimesJSON `json:"inter_arrival"`
	Service fittedTimesJSON `json:"service"`
}

type fittedTimesJSON struct {
	workload.HyperErlang

	Values  int              `json:"values"`
	Data    workload.Moments `json:"moments"`        // s, s², s³
	Fit     workload.Moments `json:"fitted_moments"` // s, s², s³
	Error   [3]float64       `json:"relative_error"`
	Matched int              `json:"matched_moments"`
	Why     string           `json:"why,omitempty"`
}

func fitResult(fitted *workload.Fitted, records experiment.Records) fittedJSON {
	result := fittedJSON{Records: records, Machine: fitted.Model.Machine}
	for i, class := range fitted.Model.Classes {
		fit := fitted.Classes[i]
		result.Classes = append(result.Classes, fittedClassJSON{
			Min: class.Min, Max: class.Max, Jobs: fit.Jobs, Share: class.Share,
			Arrival: fittedTimes(class.Arrival, fit.Arrival), Service: fittedTimes(class.Service, fit.Service),
		})
	}
	return result
}

func fittedTimes(h workload.HyperErlang, m workload.MomentFit) fittedTimesJSON {
	return fittedTimesJSON{
		HyperErlang: h, Values: m.Values, Data: m.Data, Fit: m.Fit, Error: m.Error, Matched: m.Matched, Why: m.Why,
	}
}
