package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Jobs draws the models' jobs from the seed and takes those of the traces. Their
// origins are indices of the plan's sites. Job numbers are unique at an origin.
func (p *Plan) Jobs(seed uint64) ([]workload.Job, error) {
	if len(p.inputs) == 0 && len(p.Workloads) > 0 {
		return nil, errNotOpen
	}
	window, err := p.window(seed)
	if err != nil {
		return nil, err
	}
	bySite := make([][]workload.Job, len(p.Sites))
	if err := p.draw(bySite, window, seed); err != nil {
		return nil, err
	}
	for i := range p.inputs {
		in := &p.inputs[i]
		switch {
		case in.trace != nil:
			site := p.site(in.site)
			bySite[site] = appendJobs(bySite[site], p.replay(in, window))
		case p.Workloads[in.work].Model == XSEDE:
			if err := p.drawGrid(bySite, &p.Workloads[in.work], seed); err != nil {
				return nil, err
			}
		}
	}
	jobs := workload.Merge(bySite...)
	switch {
	case len(jobs) == 0 && len(p.Workloads) == 0:
		return nil, nil // there are applications
	case len(jobs) == 0:
		return nil, errors.New("the workloads have no jobs; look at their from, to and span")
	case len(jobs) <= p.History:
		return nil, fmt.Errorf("the workloads have %d jobs, none beside the history of %d; make history less", len(jobs), p.History)
	}
	return jobs, nil
}

// replay is a trace's jobs under the plan's load and estimates. Those of an added one are
// the jobs of its span or, without one, of the window of the others.
func (p *Plan) replay(in *input, window protocol.Duration) []workload.Job {
	jobs := slices.Clone(in.jobs)
	load := p.Load * p.Workloads[in.work].Load
	for k := range jobs {
		if load != 1 {
			jobs[k].Submit = protocol.Instant(math.Round(float64(jobs[k].Submit) / load))
		}
		if p.Estimates == Perfect {
			jobs[k].Estimate = jobs[k].Run
		}
	}
	if w := &p.Workloads[in.work]; w.added {
		if end := protocol.Instant(cmp.Or(w.Span, window)); end > 0 {
			jobs = slices.DeleteFunc(jobs, func(job workload.Job) bool { return job.Submit > end })
		}
	}
	return jobs
}

// draw makes the jobs of all models with the seeds of [workload.Mix], so that the
// built-in experiments are what that makes of their sources.
func (p *Plan) draw(bySite [][]workload.Job, window protocol.Duration, seed uint64) error {
	var sources []workload.Source
	var sites []int
	for i := range p.inputs {
		in := &p.inputs[i]
		if in.trace != nil || in.site == "" {
			continue
		}
		site := p.site(in.site)
		sources = append(sources, p.source(in, &p.Sites[site], window))
		sites = append(sites, site)
	}
	if len(sources) == 0 {
		return nil
	}
	drawn, err := workload.Mix(sources, seed)
	if err != nil {
		return fmt.Errorf("draw jobs from the models: %w", err)
	}
	perSource := make([][]workload.Job, len(sources))
	for _, job := range drawn {
		perSource[job.Origin] = append(perSource[job.Origin], job)
	}
	for i, jobs := range perSource {
		bySite[sites[i]] = appendJobs(bySite[sites[i]], jobs)
	}
	return nil
}

// drawGrid makes the history and the wanted jobs of the XSEDE grid, as many as the
// systems that are sites of the plan have of the first that come to the whole grid.
func (p *Plan) drawGrid(bySite [][]workload.Job, w *Workload, seed uint64) error {
	systems := workload.XSEDESystems()
	sites := make([]int, len(systems))
	for i, system := range systems {
		sites[i] = p.site(strings.ToLower(system.Name))
	}
	wanted := p.History + cmp.Or(w.Jobs, xsedeJobs)
	for count := wanted; ; count *= 2 {
		grid, err := workload.XSEDE(workload.XSEDEOptions{History: -1, Jobs: count, Load: p.Load * w.Load}, seed)
		if err != nil {
			return fmt.Errorf("draw jobs of the XSEDE grid: %w", err)
		}
		mine := slices.DeleteFunc(grid.Jobs, func(job workload.Job) bool { return sites[job.Origin] < 0 })
		if len(mine) < wanted { // some systems are no sites
			continue
		}
		perSite := make([][]workload.Job, len(p.Sites))
		for _, job := range mine[:wanted] {
			if p.Estimates == Perfect {
				job.Estimate = job.Run
			}
			perSite[sites[job.Origin]] = append(perSite[sites[job.Origin]], job)
		}
		for site, drawn := range perSite {
			bySite[site] = appendJobs(bySite[site], drawn)
		}
		return nil
	}
}

// xsedeJobs is how many the workload of [MC] Table II has after its history.
const xsedeJobs = 10_000

// source is what a model's jobs are drawn from; those of an added one come in the window of the others.
func (p *Plan) source(in *input, site *Site, window protocol.Duration) workload.Source {
	w := &p.Workloads[in.work]
	load := p.Load * w.Load
	span, jobs := w.Span, float64(w.Jobs)*load
	if w.added {
		span = cmp.Or(span, window)
	}
	switch _, periods := in.model.(*workload.PeriodModel); {
	case !periods:
		span = cmp.Or(span, workload.Table6Span)
	case span == 0: // the load divides the time of the log, and the jobs are the same
		jobs = float64(w.Jobs)
	}
	return workload.Source{Model: in.model, Options: workload.Options{
		Span: span, Load: load, Service: w.Service, Jobs: int(math.Round(jobs)), Bias: w.Bias,
		SizeUnit: workload.SizeUnit(w.SizeUnit), Scale: w.Scale,
		Machine: workload.Machine{
			Name: site.Name, Nodes: site.LocalSched.Nodes, CPUsPerNode: site.cpusPerNode(), MHz: site.LocalSched.MHz,
		},
	}}
}

// appendJobs adds a site's further jobs, numbered above those it has.
func appendJobs(to, more []workload.Job) []workload.Job {
	if len(to) == 0 {
		return more
	}
	var last int64
	for i := range to {
		last = max(last, to[i].ID)
	}
	for _, job := range more {
		job.ID += last
		to = append(to, job)
	}
	return to
}

// origins are the sites for [workload.Scheduled].
func (p *Plan) origins() []workload.Origin {
	origins := make([]workload.Origin, len(p.Sites))
	for i := range p.Sites {
		origins[i] = workload.Origin{Name: p.Sites[i].Name, Trace: p.traceOf(i)}
	}
	return origins
}

// traceOf is the trace that a site has if that is all that its jobs come from, so
// that they have its numbers; else nil.
func (p *Plan) traceOf(site int) *workload.Trace {
	var trace *workload.Trace
	parts := 0
	for i := range p.inputs {
		if in := &p.inputs[i]; in.site == "" || in.site == p.Sites[site].Name {
			parts++
			trace = in.trace
		}
	}
	if parts != 1 {
		return nil
	}
	return trace
}

// JobName is what people call a job: as the trace does that all jobs of its origin
// are of, else its number.
func (p *Plan) JobName(job *workload.Job) string {
	if trace := p.traceOf(job.Origin); trace != nil {
		return trace.JobName(job.ID)
	}
	return strconv.FormatInt(job.ID, 10)
}
