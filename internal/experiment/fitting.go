package experiment

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// FitOptions say which jobs of a trace are modelled, and for which machine.
type FitOptions struct {
	From, To string // submissions that count, on the site's clock, see [Window]; empty: all
	Skip     []int  // queues whose jobs are left out
	Overruns bool   // jobs that ran longer than they asked for are not cut there
	Merge    workload.MergeRule
	Machine  workload.Machine // with 0 nodes: those of the trace's header or of its largest job
}

// Fitting is a model of a trace, and what there is to say of it.
type Fitting struct {
	workload.Fitted

	Cleaning workload.Cleaning

	file    string
	jobs    []workload.Job
	records Records
}

// OptionError is a mistake in what was asked for, not in what was read.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return e.Err.Error() }

// Unwrap is the mistake.
func (e *OptionError) Unwrap() error { return e.Err }

// FitTrace models a trace that was read from a file. What is wrong with the options is an
// [OptionError].
func FitTrace(file string, trace *workload.Trace, o FitOptions) (*Fitting, error) {
	from, to, err := Window(trace, Setting{"--submitted-from", o.From}, Setting{"--submitted-before", o.To})
	if err != nil {
		return nil, &OptionError{err}
	}
	f := &Fitting{file: file}
	f.jobs, f.Cleaning = workload.Clean(trace, workload.CleanOptions{
		Perfect: true, From: from, To: to, Queues: o.Skip, ZeroRuns: true, KeepOverruns: o.Overruns,
	})
	if len(f.jobs) == 0 {
		return nil, fmt.Errorf("%s: there are no jobs to model: %s", file, f.Cleaning)
	}
	if err = f.choose(&o.Machine, trace); err != nil {
		return nil, &OptionError{err}
	}
	fitted, err := workload.Fit(f.jobs, o.Machine, workload.FitOptions{Merge: o.Merge})
	if err != nil {
		return nil, err
	}
	f.Fitted, f.records = *fitted, RecordsOf(file, trace, f.Cleaning)
	return f, nil
}

// choose gives the machine its nodes, if it has none, and checks it.
func (f *Fitting) choose(m *workload.Machine, trace *workload.Trace) error {
	largest := 0
	for _, job := range f.jobs {
		largest = max(largest, job.CPUs)
	}
	cpus, _ := trace.Header.CPUs()
	if m.Nodes == 0 && m.CPUsPerNode > 0 {
		m.Nodes = m.NodesOf(max(cpus, largest))
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("the machine: %w", err)
	}
	if largest > m.CPUs() {
		return fmt.Errorf("a job has %d CPUs, the machine %d; correct --nodes or --cpus-per-node", largest, m.CPUs())
	}
	return nil
}

// WriteModel writes the model as a file, see [WriteModel].
func (f *Fitting) WriteModel(w io.Writer) error {
	return WriteModel(w, f.Model, "Model of "+f.file+", made by switchyard sim fit.", f.Cleaning.String()+".")
}

// Text is a table like Tables 2 to 4 of the paper, and what is not matched.
func (f *Fitting) Text() string {
	var out strings.Builder
	m := f.Model.Machine
	fmt.Fprintf(&out, "%s.\nMachine: %d nodes of %d CPUs.\n\n", f.Cleaning, m.Nodes, m.CPUsPerNode)
	t := console.NewTable(" CPUS", " JOBS", " SHARE", " MEAN GAP", " n", " λ1", " λ2", " ρ", " MEAN RUN", " n", " λ1", " λ2", " ρ", "MATCHED")
	for i, class := range f.Model.Classes {
		fit := f.Classes[i]
		cells := []string{fmt.Sprintf("%d-%d", class.Min, class.Max), strconv.Itoa(fit.Jobs), console.Part(class.Share)}
		cells = append(cells, distribution(class.Arrival)...)
		cells = append(cells, distribution(class.Service)...)
		t.Add(append(cells, fmt.Sprintf("%d, %d", fit.Arrival.Matched, fit.Service.Matched))...)
	}
	out.WriteString(t.Text("", true))
	fmt.Fprintf(&out, "\nMATCHED is how many moments match: of the times between submissions, and of the run times.\n")
	for _, fit := range f.Classes {
		for _, part := range []struct {
			name string
			fit  workload.MomentFit
		}{{"times between submissions", fit.Arrival}, {"run times", fit.Service}} {
			if part.fit.Why != "" {
				fmt.Fprintf(&out, "%d-%d CPUs, %s: %s.\n", fit.Min, fit.Max, part.name, part.fit.Why)
			}
		}
	}
	f.warn(&out)
	return out.String()
}

// warn tells of classes whose jobs came together in a few bursts: a model of the
// times between them fills the whole span with such bursts.
func (f *Fitting) warn(out *strings.Builder) {
	span := f.span()
	const far = 2 // times as many or as few
	for i, class := range f.Model.Classes {
		drawn, had := class.Arrival.Renewals(span), float64(f.Classes[i].Jobs)
		if drawn > far*had || far*drawn < had {
			fmt.Fprintf(out, "%d-%d CPUs: the model draws %.0f jobs in the time of the trace, which has %.0f; "+
				"take a longer trace or merge the class by hand.\n", class.Min, class.Max, drawn, had)
		}
	}
}

// span is the time from the first submission to the last, in seconds.
func (f *Fitting) span() float64 {
	return float64(f.jobs[len(f.jobs)-1].Submit-f.jobs[0].Submit) / float64(protocol.Second)
}

func distribution(h workload.HyperErlang) []string {
	return []string{
		console.Seconds(h.Mean()), strconv.Itoa(h.N), fmt.Sprintf("%.2e", h.Lambda1), fmt.Sprintf("%.2e", h.Lambda2),
		fmt.Sprintf("%.4f", h.Rho),
	}
}

// FittedModel is a model and how well it fits, for JSON.
type FittedModel struct {
	Records

	Machine workload.Machine `json:"machine"`
	Classes []FittedClass    `json:"classes"`
}

// FittedClass is a class of jobs.
type FittedClass struct {
	Min     int         `json:"min_cpus"`
	Max     int         `json:"max_cpus"`
	Jobs    int         `json:"jobs"`
	Share   float64     `json:"share"`
	Arrival FittedTimes `json:"inter_arrival"`
	Service FittedTimes `json:"service"`
}

// FittedTimes is a distribution and how well it fits.
type FittedTimes struct {
	workload.HyperErlang
	workload.MomentFit
}

// Result is the model for JSON.
func (f *Fitting) Result() FittedModel {
	result := FittedModel{Records: f.records, Machine: f.Model.Machine}
	for i, class := range f.Model.Classes {
		fit := f.Classes[i]
		result.Classes = append(result.Classes, FittedClass{
			Min: class.Min, Max: class.Max, Jobs: fit.Jobs, Share: class.Share,
			Arrival: FittedTimes{class.Arrival, fit.Arrival}, Service: FittedTimes{class.Service, fit.Service},
		})
	}
	return result
}
