package iss

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// MaxPoints bounds a front. One of more points is thinned by steps of time.
const MaxPoints = 32

// ParetoFront implements [policy.ParetoPolicy].
func (p *Policy) ParetoFront(_ context.Context, in policy.Snapshot) (policy.ParetoFront, error) {
	return p.front(in, 0)
}

// front finds what choices an application of a snapshot leaves between cost and time.
func (p *Policy) front(in policy.Snapshot, application int) (policy.ParetoFront, error) {
	front := policy.ParetoFront{Currency: in.Currency}
	if application < 0 || application >= len(in.Applications) {
		return front, fmt.Errorf("policy %s: application %d of %d", Name, application, len(in.Applications))
	}
	r := p.round(&in)
	at := slices.IndexFunc(r.applications, func(a *applying) bool { return a.application == &in.Applications[application] })
	if at < 0 {
		return front, fmt.Errorf("policy %s: application %d has no components", Name, application)
	}
	t := r.task(r.applications[at], r.applications[at].components)
	gaining := r.task(r.applications[at], r.applications[at].components)
	gaining.countGains()
	free := *gaining.problem
	free.MaxCost, free.MaxEnd = appassign.Unlimited, protocol.Never
	all, err := appassign.Pareto(&free, r.options(), MaxPoints)
	if none, ok := errors.AsType[*appassign.InfeasibleError](err); ok {
		front.Reason = t.noFront(none)
		return front, nil
	}
	if err != nil {
		return front, fmt.Errorf("policy %s: %w", Name, err)
	}
	front.Gap, front.More = all.Gap, !all.Whole
	for i := range all.Points {
		front.Points = append(front.Points, t.point(&all.Points[i]))
	}
	return front, t.choose(&front, r.options())
}

// noFront says why an application has no choices, whatever its limits.
func (t *task) noFront(none *appassign.InfeasibleError) string {
	if none.Limit == appassign.Room && none.Without >= 0 {
		return fmt.Sprintf("no site can run component %d of %d", none.Without+1, len(t.members))
	}
	return "the sites do not take all its components at once"
}

// choose marks the point that weights and limits choose; it may be another one.
func (t *task) choose(f *policy.ParetoFront, opt appassign.Options) error {
	solution, err := appassign.Solve(t.problem, opt)
	if none, ok := errors.AsType[*appassign.InfeasibleError](err); ok {
		f.Reason = t.advice(none, opt.Nodes)
		return nil
	}
	if err != nil {
		return fmt.Errorf("policy %s: %w", Name, err)
	}
	chosen := t.point(&solution)
	chosen.Chosen = true
	at, same := slices.BinarySearchFunc(f.Points, chosen, func(a, b policy.FrontPoint) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Cost, b.Cost))
	})
	if same {
		f.Points[at] = chosen
	} else {
		f.Points = slices.Insert(f.Points, at, chosen)
	}
	return nil
}

// point tells a solution.
func (t *task) point(solution *appassign.Solution) policy.FrontPoint {
	point := policy.FrontPoint{Time: solution.End}
	for k, i := range solution.Chosen {
		pair := t.pairs[k][i]
		cost := t.money(pair.row, pair.site).sum()
		point.Cost = point.Cost.Plus(cost)
		point.Choices = append(point.Choices, policy.FrontChoice{
			Job: pair.row, Site: pair.site, CPUs: t.in.Jobs[pair.row].CPUs,
			Wait: solution.Starts[k], Run: t.in.ERT[t.in.At(pair.row, pair.site)], Cost: cost,
		})
	}
	return point
}
