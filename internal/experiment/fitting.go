package experiment

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The methods of fitting.
const (
	ByPeriods = "periods" // [workload.FitPeriods]
	ByClasses = "classes" // [workload.Fit], the method of [SS 3.1]
)

// FitMethods are the methods, the default first.
func FitMethods() []string { return []string{ByPeriods, ByClasses} }

// FitOptions say which jobs of a trace are modelled, how, and for which machine.
type FitOptions struct {
	Method   string // empty: [ByPeriods]
	From, To string // submissions that count, on the site's clock, see [Window]; empty: all
	Skip     []int  // queues whose jobs are left out
	Overruns bool   // jobs that ran longer than they asked for are not cut there
	Merge    workload.MergeRule
	Machine  workload.Machine // with 0 nodes: those of the trace's header or of its largest job
	Replays  int              // draws whose mean waits are compared with that of the trace
}

// Fitting is a model of a trace, and what there is to say of it.
type Fitting struct {
	Cleaning workload.Cleaning

	method  string
	model   workload.JobModel
	classes *workload.Fitted // nil by periods
	file    string
	jobs    []workload.Job
	records Records
	trace   workload.Traits
	drawn   workload.Traits // from seed 1
	waits   *FittedWaits    // nil: not asked for
}

// FittedWaits are mean waits under EASY, in s.
type FittedWaits struct {
	Trace float64   `json:"trace"`
	Drawn []float64 `json:"drawn"` // from seeds 1, 2, ...
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
	f := &Fitting{file: file, method: ByPeriods}
	if o.Method != "" {
		f.method = o.Method
	}
	// The times of [SS 3.1] have no estimates, and the format's run times of 0 no logarithm.
	classes := f.method == ByClasses
	f.jobs, f.Cleaning = workload.Clean(trace, workload.CleanOptions{
		Perfect: classes, From: from, To: to, Queues: o.Skip, ZeroRuns: classes, KeepOverruns: o.Overruns,
	})
	if len(f.jobs) == 0 {
		return nil, fmt.Errorf("%s: there are no jobs to model: %s", file, f.Cleaning)
	}
	if err = f.choose(&o.Machine, trace); err != nil {
		return nil, &OptionError{err}
	}
	if err = f.fit(o, f.begin(trace, from)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	f.records = RecordsOf(file, trace, f.Cleaning)
	return f, nil
}

// begin is what clocks at the site show when the time of the jobs begins. A trace that
// does not say when it begins does so on a Thursday at midnight, as time 0 of Unix.
func (f *Fitting) begin(trace *workload.Trace, from protocol.Instant) time.Time {
	start, _ := trace.Header.Int("UnixStartTime")
	zone, _ := trace.Header.Int("TimeZone")
	return time.Unix(start+zone+int64(from)/int64(protocol.Second), 0).UTC()
}

func (f *Fitting) fit(o FitOptions, begin time.Time) error {
	switch f.method {
	case ByPeriods:
		fitted, err := workload.FitPeriods(f.jobs, o.Machine, begin)
		if err != nil {
			return fmt.Errorf("%w; --method %s has no such bounds", err, ByClasses)
		}
		f.model = fitted
	case ByClasses:
		fitted, err := workload.Fit(f.jobs, o.Machine, workload.FitOptions{Merge: o.Merge})
		if err != nil {
			return err
		}
		f.classes, f.model = fitted, fitted.Model
	default:
		return &OptionError{fmt.Errorf("invalid method %q; use %s", f.method, oneOf(FitMethods()))}
	}
	return f.compare(o, begin)
}

// compare draws jobs for the time of the trace.
func (f *Fitting) compare(o FitOptions, begin time.Time) error {
	first, last := f.jobs[0].Submit, f.jobs[len(f.jobs)-1].Submit
	f.trace = workload.TraitsOf(f.jobs, o.Machine, begin)
	options := workload.Options{Span: max(last.Sub(first), 1) + 1}
	for seed := range max(1, o.Replays) {
		drawn, err := f.model.Generate(options, uint64(seed)+1)
		if err != nil {
			return fmt.Errorf("draw from the model: %w", err)
		}
		if seed == 0 {
			f.drawn = workload.TraitsOf(drawn, o.Machine, begin.Add(time.Duration(first)*time.Millisecond))
		}
		if o.Replays == 0 {
			continue
		}
		if f.waits == nil {
			f.waits = new(FittedWaits)
			if f.waits.Trace, err = meanWait(f.jobs, o.Machine); err != nil {
				return err
			}
		}
		wait, err := meanWait(drawn, o.Machine)
		if err != nil {
			return err
		}
		f.waits.Drawn = append(f.waits.Drawn, wait)
	}
	return nil
}

// meanWait is that of jobs on the CPUs of a machine under EASY, in s.
func meanWait(jobs []workload.Job, m workload.Machine) (float64, error) {
	machine := engine.PerCPU(protocol.Capacity{CPUs: m.CPUs(), Nodes: 1})
	starts, _, err := sim.Schedule(jobs, machine, engine.EASY(), sim.TiePyss)
	if err != nil {
		return 0, fmt.Errorf("schedule the jobs: %w", err)
	}
	sum := 0.0
	for i := range jobs {
		sum += float64(starts[i].Sub(jobs[i].Submit)) / float64(protocol.Second)
	}
	return sum / float64(max(1, len(jobs))), nil
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
	return WriteModel(w, f.model, "Model of "+f.file+", made by switchyard sim fit.", f.Cleaning.String()+".")
}

// maxLoadError is the most by which a draw's load may differ from the trace's without a
// warning, in parts of it.
const maxLoadError = 0.03

// Warning tells of a model whose load is not that of the trace; empty: it is.
func (f *Fitting) Warning() string {
	off := f.drawn.Load/f.trace.Load - 1
	if !(math.Abs(off) > maxLoadError) {
		return ""
	}
	direction := "more"
	if off < 0 {
		direction = "less"
	}
	text := fmt.Sprintf("%s: the load drawn from the model is %.1f %% %s than that of the trace, %s for %s",
		f.file, 100*math.Abs(off), direction, console.Part(f.drawn.Load), console.Part(f.trace.Load))
	if f.method == ByClasses {
		text += "; --method " + ByPeriods + " keeps the load"
	}
	return text
}

// Text compares the model with the trace. By classes, a table like Tables 2 to 4 of the
// paper and what is not matched come first.
func (f *Fitting) Text() string {
	var out strings.Builder
	m := f.model.On()
	fmt.Fprintf(&out, "%s.\nMachine: %d nodes of %d CPUs.\n\n", f.Cleaning, m.Nodes, m.CPUsPerNode)
	if f.classes != nil {
		f.classText(&out)
		out.WriteString("\n")
	}
	if m, periods := f.model.(*workload.PeriodModel); periods {
		fmt.Fprintf(&out, "Model: %s of %d h, %s of jobs.\n\n", protocol.Count(len(m.Profile.Periods), "period"), m.Profile.Period,
			protocol.Count(len(m.Profile.Kinds), "kind"))
	}
	out.WriteString(f.comparison().Text("", true))
	fmt.Fprintf(&out, "\nDRAWN is from seed 1, for the time of the trace.\n")
	if f.waits != nil {
		t := console.NewTable(" SEED", " MEAN WAIT", " OF THE TRACE'S")
		t.Add("trace", console.Seconds(f.waits.Trace), "-")
		for i, wait := range f.waits.Drawn {
			t.Add(strconv.Itoa(i+1), console.Seconds(wait), timesText(wait, f.waits.Trace))
		}
		out.WriteString("\n" + t.Text("", true) + "\nWaits are those under EASY on the CPUs of the machine.\n")
	}
	return out.String()
}

// timesText is a ratio, if there is one.
func timesText(of, to float64) string {
	if to == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", of/to)
}

// comparison is the trace beside what was drawn.
func (f *Fitting) comparison() *console.Table {
	t := console.NewTable("", " TRACE", " DRAWN", " DIFFERENCE")
	add := func(name string, trace, drawn float64, text func(float64) string) {
		difference := "-"
		if trace != 0 {
			difference = fmt.Sprintf("%+.1f %%", 100*(drawn/trace-1))
		}
		t.Add(name, text(trace), text(drawn), difference)
	}
	count := func(x float64) string { return strconv.Itoa(int(x)) }
	decimals := func(x float64) string { return fmt.Sprintf("%.2f", x) }
	a, b := &f.trace, &f.drawn
	add("jobs", float64(a.Jobs), float64(b.Jobs), count)
	add("load", a.Load, b.Load, console.Part)
	add("mean CPUs", a.CPUs, b.CPUs, decimals)
	add("mean run time", a.Run, b.Run, console.Seconds)
	add("mean gap", a.Gap, b.Gap, console.Seconds)
	add("variation of gaps", a.GapVariation, b.GapVariation, decimals)
	t.Add("peak hour", fmt.Sprintf("%d:00", a.PeakHour), fmt.Sprintf("%d:00", b.PeakHour), "")
	for day := time.Sunday; day <= time.Saturday; day++ {
		add(day.String(), a.Weekdays[day], b.Weekdays[day], console.Part)
	}
	return t
}

// classText is the table of classes.
func (f *Fitting) classText(out *strings.Builder) {
	t := console.NewTable(" CPUS", " JOBS", " SHARE", " MEAN GAP", " n", " λ1", " λ2", " ρ", " MEAN RUN", " n", " λ1", " λ2", " ρ", "MATCHED")
	for i, class := range f.classes.Model.Classes {
		fit := f.classes.Classes[i]
		cells := []string{fmt.Sprintf("%d-%d", class.Min, class.Max), strconv.Itoa(fit.Jobs), console.Part(class.Share)}
		cells = append(cells, distribution(class.Arrival)...)
		cells = append(cells, distribution(class.Service)...)
		t.Add(append(cells, fmt.Sprintf("%d, %d", fit.Arrival.Matched, fit.Service.Matched))...)
	}
	out.WriteString(t.Text("", true))
	fmt.Fprintf(out, "\nMATCHED is how many moments match: of the times between submissions, and of the run times.\n")
	for _, fit := range f.classes.Classes {
		for _, part := range []struct {
			name string
			fit  workload.MomentFit
		}{{"times between submissions", fit.Arrival}, {"run times", fit.Service}} {
			if part.fit.Reason != "" {
				fmt.Fprintf(out, "%d-%d CPUs, %s: %s.\n", fit.Min, fit.Max, part.name, part.fit.Reason)
			}
		}
	}
	f.warn(out)
}

// warn tells of classes whose jobs came together in a few bursts: a model of the
// times between them fills the whole span with such bursts.
func (f *Fitting) warn(out *strings.Builder) {
	span := f.span()
	const far = 2 // times as many or as few
	for i, class := range f.classes.Model.Classes {
		drawn, had := class.Arrival.Renewals(span), float64(f.classes.Classes[i].Jobs)
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

	Method   string            `json:"method"`
	Machine  workload.Machine  `json:"machine"`
	Measured workload.Traits   `json:"measured"` // of the trace
	Drawn    workload.Traits   `json:"drawn"`    // from seed 1
	Waits    *FittedWaits      `json:"mean_wait_s,omitempty"`
	Classes  []FittedClass     `json:"classes,omitempty"`
	Profile  *workload.Profile `json:"profile,omitempty"`
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
	result := FittedModel{
		Records: f.records, Method: f.method, Machine: f.model.On(), Measured: f.trace, Drawn: f.drawn, Waits: f.waits,
	}
	if m, periods := f.model.(*workload.PeriodModel); periods {
		result.Profile = &m.Profile
		return result
	}
	for i, class := range f.classes.Model.Classes {
		fit := f.classes.Classes[i]
		result.Classes = append(result.Classes, FittedClass{
			Min: class.Min, Max: class.Max, Jobs: fit.Jobs, Share: class.Share,
			Arrival: FittedTimes{class.Arrival, fit.Arrival}, Service: FittedTimes{class.Service, fit.Service},
		})
	}
	return result
}
