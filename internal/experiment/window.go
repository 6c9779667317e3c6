package experiment

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// leastCovered is the part of the others' window that the jobs of an added trace cover at least: gaps at
// its end, such as a weekend, are no shorter trace.
const leastCovered = 0.9

// Submissions is over which time jobs are submitted, from the start of the experiment.
type Submissions struct {
	Site  string            `json:"site,omitempty"`  // empty: all sites that were not added
	Trace string            `json:"trace,omitempty"` // the file's name, without its directory
	Begin string            `json:"begin,omitempty"` // on the trace's clock, if that is known
	Span  protocol.Duration `json:"span_ms"`         // to the last submission of a trace, or the end of a model's time
}

// window is the time over which the jobs of the workloads are submitted that were not added by [Plan.Join], at
// the plan's load. It is 0 if no added workload needs it.
func (p *Plan) window(seed uint64) (protocol.Duration, error) {
	if !slices.ContainsFunc(p.Workloads, func(w Workload) bool { return w.added && w.Span == 0 }) {
		return 0, nil
	}
	return p.spanOfOthers(seed)
}

func (p *Plan) spanOfOthers(seed uint64) (longest protocol.Duration, err error) {
	for i := range p.inputs {
		in := &p.inputs[i]
		switch w := &p.Workloads[in.work]; {
		case w.added:
		case in.trace != nil:
			longest = max(longest, lastSubmission(p.replay(in, 0)))
		case w.Model == XSEDE:
			bySite := make([][]workload.Job, len(p.Sites))
			if err = p.drawGrid(bySite, w, seed); err != nil {
				return 0, err
			}
			for _, jobs := range bySite {
				longest = max(longest, lastSubmission(jobs))
			}
		default:
			longest = max(longest, p.spanOfModel(in))
		}
	}
	return longest, nil
}

// spanOfModel is the time over which a model's jobs are submitted, at the plan's load.
func (p *Plan) spanOfModel(in *input) protocol.Duration {
	w := &p.Workloads[in.work]
	if periods, ok := in.model.(*workload.PeriodModel); ok && w.Span == 0 {
		return protocol.Duration(float64(protocol.Duration(periods.Profile.Span)*protocol.Second) / (p.Load * w.Load))
	}
	return cmp.Or(w.Span, workload.Table6Span)
}

func lastSubmission(jobs []workload.Job) (last protocol.Duration) {
	for i := range jobs {
		last = max(last, protocol.Duration(jobs[i].Submit))
	}
	return last
}

// submissions are those of the sites that were not added, and of each added one with jobs. The error is an
// [*OptionError] if the trace of an added site is too short for the others and it has no span.
func (p *Plan) submissions() ([]Submissions, error) {
	others, err := p.spanOfOthers(uint64(p.Seed)) //nolint:gosec // checked: not negative
	if err != nil {
		return nil, err
	}
	all := []Submissions{{Span: others}}
	for i := range p.inputs {
		in := &p.inputs[i]
		w := &p.Workloads[in.work]
		if !w.added {
			continue
		}
		one := Submissions{Site: in.site, Span: cmp.Or(w.Span, others)}
		if in.trace != nil {
			one.Trace, one.Begin = filepath.Base(string(w.Trace)), in.begin()
			one.Span = lastSubmission(p.replay(in, others))
			if w.Span == 0 && float64(one.Span) < leastCovered*float64(others) {
				return nil, &OptionError{fmt.Errorf("site %s: the jobs of its trace are submitted for %s at a load of %v, and those of the other sites for %s, "+
					"so that the sites would not be comparable; give a longer trace, an earlier from=, or the time to simulate nevertheless as span=",
					in.site, days(one.Span), p.Load*w.Load, days(others))}
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// begin is where a trace's time begins, with the earliest submission that is taken from it, on its clock.
func (in *input) begin() string {
	begin, known := in.trace.Header.Int("UnixStartTime")
	if !known {
		return ""
	}
	zone, _ := in.trace.Header.Int("TimeZone")
	return time.Unix(begin+zone+int64(in.from)/1000, 0).UTC().Format(time.DateTime)
}

func days(d protocol.Duration) string {
	return fmt.Sprintf("%.1f days", float64(d)/float64(protocol.Day))
}

// Window says over which time jobs are submitted at the sites that join, and at the others; empty: none joins.
func (s *Swept) Window() string {
	if len(s.Submitted) == 0 {
		return ""
	}
	var parts []string
	for _, one := range s.Submitted {
		switch {
		case one.Site == "":
			parts = append(parts, days(one.Span)+" at the other sites")
		case one.Begin != "":
			parts = append(parts, fmt.Sprintf("%s at %s (%s, from %s)", days(one.Span), one.Site, one.Trace, one.Begin))
		case one.Trace != "":
			parts = append(parts, fmt.Sprintf("%s at %s (%s)", days(one.Span), one.Site, one.Trace))
		default:
			parts = append(parts, days(one.Span)+" at "+one.Site)
		}
	}
	text := "Jobs are submitted for " + strings.Join(parts, ", ")
	if len(s.Axes) > 0 && len(s.Points) > 0 {
		text += ", with the first of the values"
	}
	return text + "."
}
