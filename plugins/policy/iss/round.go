package iss

import (
	"cmp"
	"errors"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// round is a snapshot by applications, and what it has sent to each site so far.
type round struct {
	*Policy
	in           *policy.Snapshot
	sites        []appassign.Site
	order        []int // of the sites: the own one first, so that ties stay at home
	applications []*applying
}

// applying are the components of one that wait for a place.
type applying struct {
	application *policy.Application
	components  []component
}

// component is a job and the rows of its shapes.
type component struct{ first, end int }

func (p *Policy) round(in *policy.Snapshot) *round {
	r := &round{Policy: p, in: in}
	for s := range in.Sites {
		row := &in.Sites[s]
		r.sites = append(r.sites, appassign.Site{CPUs: row.CPUs, Free: row.Free, MaxJobs: row.MaxJobs})
		if s != in.Self {
			r.order = append(r.order, s)
		}
	}
	if in.Self != policy.NoSite {
		r.order = slices.Insert(r.order, 0, in.Self)
	}
	known := make([]*applying, len(in.Applications))
	for j := 0; j < len(in.Jobs); {
		c := component{j, j + 1}
		for c.end < len(in.Jobs) && in.Jobs[c.end].ID == in.Jobs[j].ID {
			c.end++
		}
		j = c.end
		of := in.Jobs[c.first].Application
		if of < 0 || of >= len(known) {
			r.applications = append(r.applications, r.lone(c))
			continue
		}
		if known[of] == nil {
			known[of] = &applying{application: &in.Applications[of]}
			r.applications = append(r.applications, known[of])
		}
		known[of].components = append(known[of].components, c)
	}
	slices.SortStableFunc(r.applications, func(a, b *applying) int { return cmp.Compare(a.application.ID, b.application.ID) })
	return r
}

// lone is the application of a job that is of none: only time counts.
func (r *round) lone(c component) *applying {
	return &applying{
		application: &policy.Application{ID: r.in.Jobs[c.first].ID, MaxCost: protocol.Unlimited, MaxTime: protocol.Never},
		components:  []component{c},
	}
}

// place decides about an application. What the sites do not take this round stays, and
// the least that it can cost is kept back for it.
func (r *round) place(a *applying) ([]policy.Decision, error) {
	t := r.task(a, a.components)
	solution, err := appassign.Solve(t.problem, r.options())
	none, impossible := errors.AsType[*appassign.InfeasibleError](err)
	if impossible && none.Limit == appassign.Room {
		return r.placeSome(a, t)
	}
	if impossible {
		return r.refused(t, none), nil
	}
	if err != nil {
		return nil, err
	}
	return r.placed(t, &solution), nil
}

func (r *round) options() appassign.Options {
	return appassign.Options{Nodes: r.Nodes, Gap: r.Gap}
}

// placeSome decides about the components that the sites take.
func (r *round) placeSome(a *applying, whole *task) ([]policy.Decision, error) {
	seated, err := appassign.Seated(whole.problem)
	if err != nil {
		return nil, err
	}
	var some []component
	var decisions []policy.Decision
	kept := protocol.Micro(0)
	for k, c := range a.components {
		if seated[k] {
			some = append(some, c)
			continue
		}
		kept = kept.Plus(whole.least(k))
		if why := r.turnedAway(whole, k); why != "" {
			decisions = append(decisions, policy.Decision{Job: c.first, Site: policy.NoSite, Reason: why})
		}
	}
	if len(some) == 0 {
		return decisions, nil
	}
	t := r.task(a, some)
	t.keepBack(kept)
	solution, err := appassign.Solve(t.problem, r.options())
	none, impossible := errors.AsType[*appassign.InfeasibleError](err)
	switch {
	case impossible:
		return append(decisions, r.refused(t, none)...), nil
	case err != nil:
		return nil, err
	}
	return append(decisions, r.placed(t, &solution)...), nil
}

// placed tells a solution, and takes what it needs off the sites.
func (r *round) placed(t *task, solution *appassign.Solution) []policy.Decision {
	others := appassign.Alternatives(t.problem, solution.Chosen)
	var decisions []policy.Decision
	for k, i := range solution.Chosen {
		pair, wait := t.pairs[k][i], solution.Waits[k]
		if t.problem.Components[k].Together > 0 {
			wait = solution.Starts[k]
		}
		decisions = append(decisions, policy.Decision{
			Job: pair.row, Site: pair.site, Wait: wait, Reason: clipped(r.reason(t, solution, k, &others[k])),
		})
	}
	for k, i := range solution.Chosen {
		choice := &t.problem.Components[k].Choices[i]
		appassign.Take(&r.sites[choice.Site], choice)
	}
	return decisions
}
