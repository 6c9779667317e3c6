package iss

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/assignment"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Front are the choices of sites and CPU counts for an application that no other one beats
// in both cost and time, whatever its limits, the fastest first; and among them the one that
// its weights and limits choose, which others may beat, since z may count the terms of the
// cost differently.
type Front struct {
	Currency string
	Points   []Point
	More     bool   // there are more points than these, which are told by steps of time
	Gap      int    // the cost of a point is above the least by so many parts per million of it, at most
	Why      string // why there are none, or what the limits rule out
}

// Point is one such choice.
type Point struct {
	Time    protocol.Duration // from now until all data are back
	Cost    protocol.Micro    // K_e + K_l + K_eco + K_d, unweighted
	Chosen  bool              // by the weights and limits
	Choices []Choice          // one for each component, in the order of the snapshot
}

// Choice is where a component would run.
type Choice struct {
	Job  int // index in Snapshot.Jobs
	Site int // index in Snapshot.Sites
	CPUs int
	Wait protocol.Duration
	Run  protocol.Duration
	Cost protocol.Micro
}

// MaxPoints bounds a front. One of more points is told by steps of time.
const MaxPoints = 32

// Front finds what choices an application of a snapshot leaves between cost and time.
func (p *Policy) Front(in policy.Snapshot, application int) (Front, error) {
	front := Front{Currency: in.Currency}
	if application < 0 || application >= len(in.Applications) {
		return front, fmt.Errorf("policy %s: application %d of %d", Name, application, len(in.Applications))
	}
	r := p.round(&in)
	at := slices.IndexFunc(r.applications, func(a *applying) bool { return a.wishes == &in.Applications[application] })
	if at < 0 {
		return front, fmt.Errorf("policy %s: application %d has no components", Name, application)
	}
	t := r.task(r.applications[at], r.applications[at].components)
	gaining := r.task(r.applications[at], r.applications[at].components)
	gaining.countGains()
	free := *gaining.problem
	free.MaxCost, free.MaxEnd = assignment.Unlimited, protocol.Never
	all, err := assignment.Pareto(&free, r.options(), MaxPoints)
	if none, ok := errors.AsType[*assignment.InfeasibleError](err); ok {
		front.Why = t.noFront(none)
		return front, nil
	}
	if err != nil {
		return front, fmt.Errorf("policy %s: %w", Name, err)
	}
	front.Gap, front.More = all.Gap, !all.Whole
	for i := range all.Points {
		front.Points = append(front.Points, t.point(&all.Points[i]))
	}
	return front, front.choose(t, r.options())
}

// noFront says why an application has no choices, whatever its limits.
func (t *task) noFront(none *assignment.InfeasibleError) string {
	if none.Limit == assignment.Room && none.Without >= 0 {
		return fmt.Sprintf("no site can run component %d of %d", none.Without+1, len(t.members))
	}
	return "the sites do not take all its components at once"
}

// choose marks the point that weights and limits choose; it may be another one.
func (f *Front) choose(t *task, opt assignment.Options) error {
	solution, err := assignment.Solve(t.problem, opt)
	if none, ok := errors.AsType[*assignment.InfeasibleError](err); ok {
		f.Why = t.advice(none, opt.Nodes)
		return nil
	}
	if err != nil {
		return fmt.Errorf("policy %s: %w", Name, err)
	}
	chosen := t.point(&solution)
	chosen.Chosen = true
	at, same := slices.BinarySearchFunc(f.Points, chosen, func(a, b Point) int {
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
func (t *task) point(solution *assignment.Solution) Point {
	point := Point{Time: solution.End}
	for k, i := range solution.Chosen {
		pair := t.pairs[k][i]
		cost := t.money(pair.row, pair.site).sum()
		point.Cost = point.Cost.Plus(cost)
		point.Choices = append(point.Choices, Choice{
			Job: pair.row, Site: pair.site, CPUs: t.in.Jobs[pair.row].CPUs,
			Wait: solution.Starts[k], Run: t.in.ERT[t.in.At(pair.row, pair.site)], Cost: cost,
		})
	}
	return point
}
