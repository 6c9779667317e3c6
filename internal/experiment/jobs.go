package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Jobs draws the models' jobs from the seed and takes those of the traces. Their
// origins are indices of the plan's sites. Job numbers are unique at an origin.
func (p *Plan) Jobs(seed uint64) ([]workload.Job, error) {
	if len(p.inputs) != len(p.Workloads) {
		return nil, errors.New("the plan's files have not been read; this is a mistake in the program")
	}
	bySite := make([][]workload.Job, len(p.Sites))
	if err := p.draw(bySite, seed); err != nil {
		return nil, err
	}
	for i := range p.Workloads {
		if p.inputs[i].trace == nil {
			continue
		}
		site := p.site(p.Workloads[i].Site)
		bySite[site] = appendJobs(bySite[site], p.replay(i))
	}
	jobs := workload.Merge(bySite...)
	if len(jobs) == 0 {
		return nil, errors.New("the workloads have no jobs; look at their from, to and span")
	}
	return jobs, nil
}

// replay is a trace's jobs under the plan's load and estimates.
func (p *Plan) replay(i int) []workload.Job {
	jobs := slices.Clone(p.inputs[i].jobs)
	load := p.Load * p.Workloads[i].Load
	for k := range jobs {
		if load != 1 {
			jobs[k].Submit = protocol.Instant(math.Round(float64(jobs[k].Submit) / load))
		}
		if p.Estimates == Perfect {
			jobs[k].Estimate = jobs[k].Run
		}
	}
	return jobs
}

// draw makes the jobs of all models with the seeds of [workload.Mix], so that the
// built-in experiments are what that makes of their sources.
func (p *Plan) draw(bySite [][]workload.Job, seed uint64) error {
	var sources []workload.Source
	var sites []int
	for i := range p.Workloads {
		if p.inputs[i].trace != nil {
			continue
		}
		site := p.site(p.Workloads[i].Site)
		sources = append(sources, p.source(i, &p.Sites[site]))
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

func (p *Plan) source(i int, site *Site) workload.Source {
	w := &p.Workloads[i]
	load := p.Load * w.Load
	return workload.Source{Model: p.inputs[i].model, Options: workload.Options{
		Span: w.Span, Load: load, Service: w.Service, Jobs: int(math.Round(float64(w.Jobs) * load)), Bias: w.Bias,
		PartNodes: w.PartNodes, Scale: w.Scale,
		Machine: workload.Machine{
			Name: site.Name, Nodes: site.Nodes, CPUsPerNode: site.CPUsPerNode, MHz: site.MHz,
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

// origins are the sites for [workload.Scheduled]. A site has a trace if that is
// all that its jobs come from.
func (p *Plan) origins() []workload.Origin {
	origins := make([]workload.Origin, len(p.Sites))
	parts := make([]int, len(p.Sites))
	for i := range p.Sites {
		origins[i].Name = p.Sites[i].Name
	}
	for i := range p.Workloads {
		at := p.site(p.Workloads[i].Site)
		parts[at]++
		origins[at].Trace = nil
		if parts[at] == 1 {
			origins[at].Trace = p.inputs[i].trace
		}
	}
	return origins
}
