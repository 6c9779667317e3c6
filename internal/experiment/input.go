package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// input is what jobs of a workload are made of; a trace of several sites is one for
// each of them.
type input struct {
	work      int              // index of the workload
	site      string           // empty: the jobs are of several sites
	trace     *workload.Trace  // nil: the jobs come from the model
	jobs      []workload.Job   // of the trace, with its estimates
	from      protocol.Instant // of the trace, where the time of its jobs begins
	cleaning  workload.Cleaning
	latencies JobLatencies      // nil: none are stated
	requests  Requests          // the same
	model     workload.JobModel // nil: the jobs come from the trace
}

// Formats returns the formats of traces.
func Formats() []string { return []string{"swf", "gwf", "sacct"} }

// FormatOf guesses a trace's format by its file's name: .swf and .gwf, packed or
// not, are those; all else is the output of sacct.
func FormatOf(path string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz")
	switch filepath.Ext(name) {
	case ".swf":
		return "swf"
	case ".gwf":
		return "gwf"
	}
	return "sacct"
}

// ReadTrace reads a trace; an empty format is guessed by [FormatOf]. Malformed
// lines are a [*workload.MalformedError], or are left out and counted in the
// trace's report if lenient. A trace without records is an error.
func ReadTrace(path, format string, lenient bool) (*workload.Trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the trace: %w", err)
	}
	format = cmp.Or(format, FormatOf(path))
	trace, err := readTrace(file, format, workload.ReadOptions{Name: path, Lenient: lenient})
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(trace.Records) == 0 {
		text := fmt.Sprintf("%s: the trace has no records in the format %s", path, format)
		if report := trace.Report.String(); report != "" {
			text += "; " + report
		}
		return nil, errors.New(text)
	}
	return trace, nil
}

func readTrace(r io.Reader, format string, o workload.ReadOptions) (*workload.Trace, error) {
	switch format {
	case "swf":
		return workload.ReadSWF(r, o)
	case "sacct":
		return workload.ReadSacct(r, o)
	case "gwf":
		grid, err := workload.ReadGWF(r, o)
		if err != nil {
			return nil, err
		}
		return grid.Trace(), nil
	}
	return nil, fmt.Errorf("invalid trace format %q; use %s", format, oneOf(Formats()))
}

// Window converts bounds on the site's clock, each a date or a date with a time,
// to the time of the trace, for [workload.CleanOptions]. A bound without a value
// is unset. The error is a [*KeyError] of the bound. A window that ends before it
// or the trace begins is an error.
func Window(t *workload.Trace, from, to Setting) (begin, end protocol.Instant, err error) {
	if begin, _, err = traceTime(t, from.Value); err != nil {
		return 0, 0, &KeyError{Key: from.Key, Err: err}
	}
	end, clock, err := traceTime(t, to.Value)
	switch {
	case err != nil:
		return 0, 0, &KeyError{Key: to.Key, Err: err}
	case to.Value == "":
	case end <= 0:
		starts := time.Unix(clock.Unix()-int64(end)/1000, 0).UTC().Format(time.DateTime)
		return 0, 0, &KeyError{Key: to.Key, Err: fmt.Errorf("empty window: it ends at %s, and the trace begins at %s", to.Value, starts)}
	case from.Value != "" && end <= begin:
		return 0, 0, &KeyError{Key: to.Key, Err: fmt.Errorf("empty window: it ends at %s and begins at %s", to.Value, from.Value)}
	}
	return begin, end, nil
}

// traceTime is a time in that of the trace, and on the site's clock.
func traceTime(t *workload.Trace, text string) (at protocol.Instant, clock time.Time, err error) {
	if text == "" {
		return 0, clock, nil
	}
	if clock, err = parseClock(text); err != nil {
		return 0, clock, err
	}
	at, err = t.Header.At(clock)
	return at, clock, err
}

func parseClock(text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("invalid date %q; write one as 2002-03-01, 2002-03-01 14:30 or 2002-03-01 14:30:00", text)
}

// XSEDE is the model of the grid of [MC] Table I, whose systems are sites by their names.
const XSEDE = "xsede"

// The fields of a record that name its site.
const (
	ByPartition = "partition"
	BySite      = "site" // the 19th
)

// ofGrid says whether the jobs are of several sites, and name them.
func (w *Workload) ofGrid() bool { return w.Split != "" || w.Model == XSEDE }

// Models returns the names of the built-in models of one machine.
func Models() []string { return []string{"M1", "M2", "M3"} }

func builtInModel(name string) (workload.Model, bool) {
	switch name {
	case "M1":
		return workload.M1(), true
	case "M2":
		return workload.M2(), true
	case "M3":
		return workload.M3(), true
	}
	return workload.Model{}, false
}

// Open reads the files that the plan names. Notes about them are in
// [Plan.Notes] afterwards.
func (p *Plan) Open() error {
	p.inputs, p.supplies, p.notes = nil, make([]*supply, len(p.Sites)), slices.Clone(p.fileNotes)
	var errs []error
	for i := range p.Workloads {
		opened, err := p.open(i)
		errs = append(errs, err)
		p.inputs = append(p.inputs, opened...)
	}
	errs = append(errs, p.dated())
	for i := range p.Sites {
		var err error
		p.supplies[i], err = p.supply(&p.Sites[i])
		errs = append(errs, err)
	}
	return errors.Join(append(errs, p.openApplications()...)...)
}

// Notes is what people should know of the files that were read.
func (p *Plan) Notes() []string { return p.notes }

func (p *Plan) open(work int) ([]input, error) {
	w, in := &p.Workloads[work], input{work: work, site: p.Workloads[work].Site}
	var err error
	switch {
	case w.ModelFile != "":
		in.model, err = ReadModel(string(w.ModelFile))
		return []input{in}, err
	case w.Model == XSEDE:
		return []input{in}, nil
	case w.Model != "":
		var known bool
		if in.model, known = builtInModel(w.Model); !known {
			return nil, fmt.Errorf("invalid model %q; use %s", w.Model, oneOf(Models()))
		}
		return []input{in}, nil
	}
	if in.trace, err = ReadTrace(string(w.Trace), w.Format, w.Lenient); err != nil {
		return nil, err
	}
	if w.Latencies != "" {
		if in.latencies, err = readLatencies(string(w.Latencies)); err != nil {
			return nil, err
		}
	}
	if w.Requests != "" {
		if in.requests, err = readRequests(string(w.Requests)); err != nil {
			return nil, err
		}
	}
	if report := in.trace.Report.String(); report != "" {
		p.note(w, "%s", report)
	}
	inputs := []input{in}
	if w.Split != "" {
		if inputs, err = p.split(w, in); err != nil {
			return nil, fmt.Errorf("%s: %w", w.Trace, err)
		}
	}
	return inputs, p.clean(w, inputs)
}

// note adds a note about a trace.
func (p *Plan) note(w *Workload, format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf("%s: ", w.Trace)+fmt.Sprintf(format, args...))
}

// split cuts a trace into those of the plan's sites. A site has its name in the trace's
// header or, without one there, its number in the plan.
func (p *Plan) split(w *Workload, whole input) (inputs []input, err error) {
	field := workload.SplitPartition
	if w.Split == BySite {
		field = workload.SplitExtra
	}
	var others []string
	left := 0
	for _, part := range workload.Split(whole.trace, field) {
		at := p.site(strings.ToLower(part.Name))
		if part.Name == strconv.Itoa(part.Number) && at < 0 && part.Number >= 1 && part.Number <= len(p.Sites) {
			at = part.Number - 1
		}
		if at < 0 {
			others = append(others, part.Name)
			left += len(part.Trace.Records)
			continue
		}
		one := whole
		one.site, one.trace = p.Sites[at].Name, part.Trace
		inputs = append(inputs, one)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("its jobs are of %s, which is no [[site]]; name the site of the trace, by --trace SITE=FILE or the key site of an experiment, or look at the key split", listed(others))
	}
	if left > 0 {
		p.note(w, "%d records left out of what is no [[site]]: %s", left, listed(others))
	}
	return inputs, nil
}

// listed are the first of some names.
func listed(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// clean makes jobs of traces.
func (p *Plan) clean(w *Workload, inputs []input) error {
	jobs := 0
	for i := range inputs {
		in := &inputs[i]
		from, to, err := Window(in.trace, Setting{"from", w.From}, Setting{"to", w.To})
		if err != nil {
			return fmt.Errorf("%s: %w", w.Trace, err)
		}
		in.from = from
		in.jobs, in.cleaning = workload.Clean(in.trace, workload.CleanOptions{
			From: from, To: to, Queues: w.SkipQueues, Statuses: w.SkipStatus, ZeroRuns: w.SkipZero,
			KeepOverruns: w.Overruns,
		})
		if jobs += len(in.jobs); jobs == 0 && i == len(inputs)-1 {
			return fmt.Errorf("%s: there are no jobs: %s", w.Trace, in.cleaning)
		}
		switch cleaning := p.cleaning(in); {
		case cleaning.AsIs():
		case w.Split == "":
			p.note(w, "%s", cleaning)
		default:
			p.note(w, "site %s: %s", in.site, cleaning)
		}
	}
	return nil
}

// cleaning tells what became of a trace's records. Perfect estimates are no
// change of theirs.
func (p *Plan) cleaning(in *input) workload.Cleaning {
	c := in.cleaning
	if p.Estimates == Perfect {
		c.Raised, c.Assumed = 0, 0
	}
	return c
}
