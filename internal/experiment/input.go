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
	trace *workload.Trace // nil: the jobs come from the model
	from  protocol.Instant
	to    protocol.Instant
	model workload.Model
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
// trace's report if lenient.
func ReadTrace(path, format string, lenient bool) (*workload.Trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the trace: %w", err)
	}
	trace, err := readTrace(file, cmp.Or(format, FormatOf(path)), workload.ReadOptions{Name: path, Lenient: lenient})
	return trace, errors.Join(err, file.Close())
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

// TraceTime converts a time on the site's clock, a date or a date with a time, to
// that of the trace. An empty text is 0, which bounds nothing.
func TraceTime(t *workload.Trace, text string) (protocol.Instant, error) {
	if text == "" {
		return 0, nil
	}
	clock, err := parseClock(text)
	if err != nil {
		return 0, err
	}
	return t.Header.At(clock)
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
	if in.trace, err = ReadTrace(string(w.Trace), w.Format, w.Lenient); err != nil {
		return in, err
	}
	if n := in.trace.Report.Skipped; n > 0 {
		p.notes = append(p.notes, fmt.Sprintf("%s: %d malformed lines left out, the first is line %s",
			w.Trace, n, in.trace.Report.Problems[0]))
	}
	if in.from, err = TraceTime(in.trace, w.From); err != nil {
		return in, fmt.Errorf("%s: from: %w", w.Trace, err)
	}
	if in.to, err = TraceTime(in.trace, w.To); err != nil {
		return in, fmt.Errorf("%s: to: %w", w.Trace, err)
	}
	return in, nil
}
