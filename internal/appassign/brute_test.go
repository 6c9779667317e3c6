package appassign_test

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// outcome is what some choices make of a problem, worked out from its definition alone.
type outcome struct {
	z, cost int64
	end     protocol.Duration
	starts  []protocol.Duration
}

// worked is the outcome of choices. Without ok a site does not take them.
func worked(p *appassign.Problem, chosen []int) (out outcome, ok bool) {
	n := len(p.Components)
	picked := make([]appassign.Choice, n)
	for k, i := range chosen {
		picked[k] = p.Components[k].Choices[i]
	}
	out = outcome{starts: make([]protocol.Duration, n), end: p.Floor}
	for k, c := range picked {
		site := p.Sites[c.Site]
		jobs, cpus, work := 0, site.Taken+c.CPUs, int(site.Work)
		for _, before := range picked[:k] {
			if before.Site == c.Site {
				jobs++
				cpus += before.CPUs
				work += before.CPUs * int(before.Run)
			}
		}
		if jobs >= site.MaxJobs {
			return outcome{}, false
		}
		wait := c.Wait
		if cpus > site.Free && site.CPUs > 0 {
			wait += protocol.Duration((work + site.CPUs - 1) / site.CPUs)
		}
		out.starts[k] = max(wait, c.Ready)
	}
	for k, c := range p.Components {
		if c.Together == 0 {
			continue
		}
		for l, other := range p.Components {
			if other.Together == c.Together {
				out.starts[k] = max(out.starts[k], out.starts[l])
			}
		}
	}
	late := func(end protocol.Duration) int64 {
		if p.Late == nil {
			return 0
		}
		return p.Late(end)
	}
	for k, c := range picked {
		end := out.starts[k] + c.Run + c.Back
		out.end = max(out.end, end)
		out.z += c.Weighted
		out.cost += c.Cost
		if p.EachLate {
			out.z += late(end)
		}
	}
	out.z += late(out.end)
	return out, true
}

func (o *outcome) within(p *appassign.Problem) bool {
	return (p.MaxCost == appassign.Unlimited || o.cost <= p.MaxCost) && o.end <= p.MaxEnd
}

// better is the rule of ties, for choices that are met in their order.
func (o *outcome) better(than *outcome) bool {
	switch {
	case o.z != than.z:
		return o.z < than.z
	case o.end != than.end:
		return o.end < than.end
	}
	return o.cost < than.cost
}

// every calls use with the outcome of all choices that sites take, the first ones first.
func every(p *appassign.Problem, use func(chosen []int, o *outcome)) {
	chosen := make([]int, len(p.Components))
	for _, c := range p.Components {
		if len(c.Choices) == 0 {
			return
		}
	}
	for {
		if o, ok := worked(p, chosen); ok {
			use(chosen, &o)
		}
		k := len(chosen) - 1
		for ; k >= 0; k-- {
			if chosen[k]++; chosen[k] < len(p.Components[k].Choices) {
				break
			}
			chosen[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// brute is the best of all choices within the limits; nil: there are none.
func brute(p *appassign.Problem) (best []int, value outcome) {
	every(p, func(chosen []int, o *outcome) {
		if o.within(p) && (best == nil || o.better(&value)) {
			best, value = slices.Clone(chosen), *o
		}
	})
	return best, value
}
