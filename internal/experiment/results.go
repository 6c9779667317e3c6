package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// ParseResults reads what sim run or sim sweep print as JSON.
func ParseResults(data []byte) (*Swept, error) {
	var kind struct {
		Experiment *string          `json:"experiment"`
		Points     *json.RawMessage `json:"points"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if kind.Experiment == nil {
		return nil, errors.New("neither the JSON of sim run nor of sim sweep: it has no key experiment")
	}
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if kind.Points != nil {
		swept := &Swept{}
		if err := strict.Decode(swept); err != nil {
			return nil, fmt.Errorf("not the JSON of sim sweep: %w", err)
		}
		return swept, swept.validate()
	}
	outcome := &Outcome{}
	if err := strict.Decode(outcome); err != nil {
		return nil, fmt.Errorf("not the JSON of sim run: %w", err)
	}
	for _, one := range append([]Outcome{*outcome}, outcome.Compare...) {
		if err := errors.Join(one.validate(len(one.Sites)), one.Applications.validate(len(one.Sites))); err != nil {
			return nil, fmt.Errorf("not the JSON of sim run: %w", err)
		}
	}
	return outcome.swept(), nil
}

// ReadResults reads files of [ParseResults], and says which they are.
func ReadResults(paths []string) (results []*Swept, inputs []report.Input, err error) {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		result, err := ParseResults(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		results, inputs = append(results, result), append(inputs, report.NewInput(filepath.Base(path), data))
	}
	return results, inputs, nil
}

// swept is the outcome, and those it is compared with, as a sweep of one seed.
func (o *Outcome) swept() *Swept {
	swept := &Swept{Experiment: o.Experiment, Seeds: []uint64{o.Seed}, Records: o.Records}
	switch {
	case o.Energy != nil:
		swept.Currency = o.Currency
	case o.Applications != nil:
		swept.Currency = o.Applications.Currency
	}
	for _, scheme := range Schemes() {
		for _, one := range append([]Outcome{*o}, o.Compare...) {
			if one.Scheme == scheme {
				c := cell{scheme: scheme, outcomes: []sim.Metrics{one.Metrics}, energies: []*Energy{one.Energy}, applications: []*Applications{one.Applications}}
				swept.Points = append(swept.Points, c.point(nil))
			}
		}
	}
	return swept
}

// validate checks what showing results relies on.
func (s *Swept) validate() error {
	if len(s.Seeds) == 0 || len(s.Points) == 0 {
		return errors.New("not the JSON of sim sweep: it has no seeds or no points")
	}
	for i := range s.Points {
		p := &s.Points[i]
		if err := p.validate(s); err != nil {
			return fmt.Errorf("not the JSON of sim sweep: points[%d]: %w", i, err)
		}
		if p.Membership == Joined && (i == 0 || len(s.Points[i-1].Sites) != len(p.Sites)) {
			return fmt.Errorf("not the JSON of sim sweep: points[%d]: the same sites apart do not stand before it", i)
		}
	}
	return nil
}

func (p *Point) validate(s *Swept) error {
	for _, axis := range s.Axes {
		if _, ok := p.Settings[axis.Key]; !ok {
			return fmt.Errorf("settings has no %s", axis.Key)
		}
	}
	for _, m := range s.shown() {
		if e, ok := p.Metrics[m.key]; (ok || !m.partial) && len(e.Values) != len(s.Seeds) {
			return fmt.Errorf("%s has %d values, not one for each seed", m.key, len(e.Values))
		}
	}
	for _, site := range p.Sites {
		for _, m := range siteShown() {
			if len(site.Metrics[m.key].Values) != len(s.Seeds) {
				return fmt.Errorf("site %q: %s has no value for each seed", site.Site, m.key)
			}
		}
	}
	return nil
}

// WriteStarts writes a line of CSV for each job, in order of submission: when it starts and ends
// since the experiment's beginning, in seconds. Jobs that never ran are left out.
func (o *Outcome) WriteStarts(w io.Writer) error {
	out := report.NewCSV(w, "job_id", "start", "end", "origin", "site")
	for i, job := range o.Jobs {
		placed := o.Result.Placements[i]
		if placed.Site < 0 {
			continue
		}
		out.Text(o.Plan.JobName(&o.Jobs[i]))
		out.Seconds(int64(placed.Start))
		out.Seconds(int64(placed.End))
		out.Text(o.Plan.Sites[job.Origin].Name)
		out.Text(o.Plan.Sites[placed.Site].Name)
		out.End()
	}
	return out.Flush()
}

// WriteSWF writes the schedule as a trace.
func (o *Outcome) WriteSWF(w io.Writer) error {
	return workload.WriteSWF(w, o.Trace(fmt.Sprintf("schedule of experiment %s under scheme %s with seed %d, simulated by switchyard",
		o.Experiment, o.Scheme, o.Seed)))
}
