package iss

import (
	"math"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// task is some components of an application as the problem of the solver.
type task struct {
	in          *policy.Snapshot
	application *policy.Application
	members     []component
	problem     *appassign.Problem
	pairs       [][]pair       // of each component, as its choices
	kept        protocol.Micro // of the limit of cost, for components that no site takes yet
}

// pair is a row of the snapshot at a site that has quoted it.
type pair struct{ row, site int }

func (r *round) task(a *applying, members []component) *task {
	t := &task{in: r.in, application: a.application, members: members}
	t.problem = &appassign.Problem{
		Sites: r.sites, EachLate: r.Double,
		MaxCost: left(int64(a.application.MaxCost), int64(a.application.Spent)),
		MaxEnd:  protocol.Duration(left(int64(a.application.MaxTime), int64(a.application.Elapsed))),
		Floor:   max(0, a.application.CommittedUntil),
	}
	if a.application.Beta > 0 && len(a.application.WaitingCost) > 0 {
		t.problem.Late = func(end protocol.Duration) int64 { return int64(t.waiting(end)) }
	}
	for _, c := range members {
		most := (c.end - c.first) * len(r.order)
		component := appassign.Component{Together: r.in.Jobs[c.first].Together, Choices: make([]appassign.Choice, 0, most)}
		pairs := make([]pair, 0, most)
		for row := c.first; row < c.end; row++ {
			for _, s := range r.order {
				if at := r.in.At(row, s); r.in.AWT[at] != protocol.Never && r.in.ERT[at] != protocol.Never {
					component.Choices = append(component.Choices, t.choice(row, s))
					pairs = append(pairs, pair{row, s})
				}
			}
		}
		t.problem.Components = append(t.problem.Components, component)
		t.pairs = append(t.pairs, pairs)
	}
	return t
}

// choice is a quote. Its data travel while it waits ([MC] equation 10).
func (t *task) choice(row, s int) appassign.Choice {
	job, at := &t.in.Jobs[row], t.in.At(row, s)
	m := t.money(row, s)
	return appassign.Choice{
		Site: s, CPUs: max(0, job.CPUs),
		Wait: max(0, t.in.AWT[at]), Ready: max(0, t.in.Transfer(row, s)), Run: max(0, t.in.ERT[at]), Back: max(0, t.in.Return(row, s)),
		Weighted: int64(m.weighted(job)), Cost: max(0, int64(m.sum())), // a gain counts against the limit once it is billed
	}
}

// countGains has choices that would bring money in count as what they are predicted to.
func (t *task) countGains() {
	for k, pairs := range t.pairs {
		for i, one := range pairs {
			t.problem.Components[k].Choices[i].Cost = int64(t.money(one.row, one.site).sum())
		}
	}
}

// waiting is β·K_w from now until end. What waiting has cost before is the same for all choices, so the solver
// does without it.
func (t *task) waiting(end protocol.Duration) protocol.Micro {
	return weigh(term{t.application.WaitCost(end), t.application.Beta})
}

// waited is β·K_w from the first submission until now.
func (t *task) waited() protocol.Micro {
	if t.problem.Late == nil {
		return 0
	}
	return weigh(term{t.application.WaitedCost, t.application.Beta})
}

// z is that of a solution with K_w from the first submission on [IS 4.2]: once, or with that of each component
// as well.
func (t *task) z(solved int64) protocol.Micro {
	z := protocol.Micro(solved).Plus(t.waited())
	if t.problem.EachLate {
		for range t.members {
			z = z.Plus(t.waited())
		}
	}
	return z
}

// keepBack lowers the limit of cost.
func (t *task) keepBack(amount protocol.Micro) {
	t.kept = amount
	t.problem.MaxCost = left(t.problem.MaxCost, int64(amount))
}

// least is the least that component k is quoted for, 0 without any quote.
func (t *task) least(k int) protocol.Micro {
	least := int64(math.MaxInt64)
	for _, choice := range t.problem.Components[k].Choices {
		least = min(least, choice.Cost)
	}
	if len(t.problem.Components[k].Choices) == 0 {
		return 0
	}
	return protocol.Micro(least)
}

// left is a limit less what is used of it; without a limit there is none.
func left(limit, used int64) int64 {
	if limit == math.MaxInt64 {
		return limit
	}
	rest := limit - used
	switch {
	case used > 0 && rest > limit:
		return math.MinInt64
	case used < 0 && rest < limit:
		return math.MaxInt64 - 1
	}
	return rest
}
