package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// input is what a workload's jobs are made of.
type input struct {
	trace    *workload.Trace // nil: the jobs come from the model
	jobs     []workload.Job  // of the trace, with its estimates
	cleaning workload.Cleaning
	model    workload.Model
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
		if odd := trace.Report.String(); odd != "" {
			text += "; " + odd
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
	return nil, fmt.Errorf("%q is no format of traces; use %s", format, oneOf(Formats()))
}

// Window converts bounds on the site's clock, each a date or a date with a time,
// to the time of the trace, for [workload.CleanOptions]. Empty texts bound
// nothing. The error begins with from or to; a window that no submission can be
// in is one.
func Window(t *workload.Trace, from, to string) (begin, end protocol.Instant, err error) {
	if begin, _, err = traceTime(t, from); err != nil {
		return 0, 0, fmt.Errorf("from: %w", err)
	}
	end, clock, err := traceTime(t, to)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("to: %w", err)
	case to == "":
	case end <= 0:
		starts := time.Unix(clock.Unix()-int64(end)/1000, 0).UTC().Format(time.DateTime)
		return 0, 0, fmt.Errorf("to: the window is empty: it ends at %s, and the trace begins at %s", to, starts)
	case from != "" && end <= begin:
		return 0, 0, fmt.Errorf("to: the window is empty: it ends at %s and begins at %s", to, from)
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
	for _, layout := range []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no date; write one as 2002-03-01 or 2002-03-01 14:30:00", text)
}

// Models returns the names of the built-in models.
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

// Open reads the files that the plan names. What is odd about them is in
// [Plan.Notes] afterwards.
func (p *Plan) Open() error {
	p.inputs, p.notes = make([]input, len(p.Workloads)), nil
	var errs []error
	for i := range p.Workloads {
		var err error
		if p.inputs[i], err = p.open(&p.Workloads[i]); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Notes is what people should know of the files that were read.
func (p *Plan) Notes() []string { return p.notes }

func (p *Plan) open(w *Workload) (in input, err error) {
	switch {
	case w.ModelFile != "":
		in.model, err = ReadModel(string(w.ModelFile))
		return in, err
	case w.Model != "":
		var known bool
		if in.model, known = builtInModel(w.Model); !known {
			return in, fmt.Errorf("%q is no built-in model; use %s", w.Model, oneOf(Models()))
		}
		return in, nil
	}
	if err = in.read(w); err != nil {
		return in, err
	}
	cleaning := p.cleaning(&in)
	for _, note := range []struct {
		text string
		odd  bool
	}{
		{in.trace.Report.String(), in.trace.Report.String() != ""},
		{cleaning.String(), !cleaning.AsIs()},
	} {
		if note.odd {
			p.notes = append(p.notes, fmt.Sprintf("%s: %s", w.Trace, note.text))
		}
	}
	return in, nil
}

// read makes jobs of a trace.
func (in *input) read(w *Workload) (err error) {
	if in.trace, err = ReadTrace(string(w.Trace), w.Format, w.Lenient); err != nil {
		return err
	}
	from, to, err := Window(in.trace, w.From, w.To)
	if err != nil {
		return fmt.Errorf("%s: %w", w.Trace, err)
	}
	in.jobs, in.cleaning = workload.Clean(in.trace, workload.CleanOptions{
		From: from, To: to, Queues: w.SkipQueues, Statuses: w.SkipStatus, ZeroRuns: w.SkipZero,
	})
	if len(in.jobs) == 0 {
		return fmt.Errorf("%s: there are no jobs: %s", w.Trace, in.cleaning)
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
