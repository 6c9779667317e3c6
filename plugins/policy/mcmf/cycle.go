package mcmf

import (
	"math"

	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// cycle is a snapshot in the terms of equations 4 to 6. A pair is a job and a site
// that has quoted it, at the index of the quote.
type cycle struct {
	*Policy
	in *policy.Snapshot

	runs     []protocol.Duration // response time of each pair from now on; never: there is no such pair
	response span                // of all pairs, since the jobs were submitted
	energy   span                // of all pairs at sites whose prices count
	money    money
	costs    []int32 // of each pair, or [mincostflow.Missing]
}

func (p *Policy) cycle(in *policy.Snapshot) *cycle {
	c := &cycle{Policy: p, in: in}
	c.predict()
	c.money = compare(in, c.runs)
	c.measure()
	c.weigh()
	return c
}

// predict finds how long each pair takes, and the extremes of the response times. The
// transfer of a job's data goes on while it waits (equation 10).
func (c *cycle) predict() {
	in := c.in
	c.runs, c.response = make([]protocol.Duration, len(in.AWT)), emptySpan()
	for j := range in.Jobs {
		for s := range in.Sites {
			at := in.At(j, s)
			wait := in.AWT[at]
			if wait == protocol.Never {
				c.runs[at] = protocol.Never
				continue
			}
			if c.Variant == Inst {
				wait = 0
			}
			if in.Jobs[j].Data > 0 {
				wait = max(wait, in.Transfer(j, s))
			}
			if c.runs[at] = wait.Plus(in.ERT[at]); c.runs[at] != protocol.Never {
				c.response.include(c.responseAt(j, at))
			}
		}
	}
}

// measure finds the extremes of what electricity costs.
func (c *cycle) measure() {
	c.energy = emptySpan()
	for j := range c.in.Jobs {
		for s := range c.in.Sites {
			if at := c.in.At(j, s); c.money.counts[s] && c.runs[at] != protocol.Never {
				c.energy.include(int64(c.in.Cost[at]))
			}
		}
	}
}

// responseAt is the R of equation 4 of a pair, in ms.
func (c *cycle) responseAt(j, at int) int64 { return int64(c.in.Jobs[j].Waited.Plus(c.runs[at])) }

// weigh makes the costs (equation 6). Each of the two terms is rounded to a millionth
// of a cost, and then their sum to a whole one; halves go up.
func (c *cycle) weigh() {
	in := c.in
	slow := c.response.scaled(c.Scale * c.Weight)
	dear := c.energy.scaled(c.Scale * (protocol.PPM - c.Weight))
	c.costs = make([]int32, len(c.runs))
	for j := range in.Jobs {
		guess := c.guess(j, &dear)
		for s := range in.Sites {
			at := in.At(j, s)
			if c.runs[at] == protocol.Never {
				c.costs[at] = mincostflow.Missing
				continue
			}
			parts := guess
			if c.money.counts[s] {
				parts = dear.of(int64(in.Cost[at]))
			}
			parts += slow.of(c.responseAt(j, at))
			c.costs[at] = int32((parts + protocol.PPM/2) / protocol.PPM) //nolint:gosec // at most the scale
		}
	}
}

// energyTerm is the term of equation 5 of a pair.
func (c *cycle) energyTerm(j, s int, dear *scaled) uint64 {
	if c.money.counts[s] {
		return dear.of(int64(c.in.Cost[c.in.At(j, s)]))
	}
	return c.guess(j, dear)
}

// guess is the energy term of a job at sites whose prices do not count, since what is
// unknown is not free: the mean of its terms at those whose do. A job without such is
// taken to be in the middle.
func (c *cycle) guess(j int, dear *scaled) uint64 {
	if c.money.all {
		return 0
	}
	sum, n := uint64(0), uint64(0)
	for s := range c.in.Sites {
		if at := c.in.At(j, s); c.money.counts[s] && c.runs[at] != protocol.Never {
			sum += dear.of(int64(c.in.Cost[at]))
			n++
		}
	}
	if n == 0 {
		return dear.middle()
	}
	return (sum + n/2) / n
}

// problem is the flow network: an arc from each job to each site that has quoted it,
// and one of the site's capacity to the sink, or parallel ones of rising cost.
func (c *cycle) problem() *mincostflow.Problem {
	in := c.in
	p := &mincostflow.Problem{Jobs: len(in.Jobs), Systems: len(in.Sites), Costs: c.costs, Capacity: make([]int, len(in.Sites))}
	for s := range in.Sites {
		p.Capacity[s] = max(0, in.Sites[s].Accept)
	}
	if c.Marginal > 0 {
		p.Steps = c.steps(p.Capacity)
	}
	return p
}

// steps are what each further job at a site costs on top: how much longer it waits, in
// the terms of equation 4.
func (c *cycle) steps(capacity []int) [][]int32 {
	slow := c.response.scaled(c.Scale * c.Weight)
	steps := make([][]int32, len(capacity))
	for s := range steps {
		told := c.in.Sites[s].Extra
		if len(told) == 0 {
			continue
		}
		steps[s] = make([]int32, min(capacity[s], len(c.in.Jobs)))
		for k := range steps[s] {
			parts := slow.length(int64(growth(told, k)))
			steps[s][k] = int32(min((parts+protocol.PPM/2)/protocol.PPM, uint64(mincostflow.MaxCost)))
		}
	}
	return steps
}

// growth is how much longer the job after k others of the round waits. Beyond what was
// told it goes on as it grew last.
func growth(told []protocol.Duration, k int) protocol.Duration {
	n := len(told)
	switch {
	case k == 0 || n == 0:
		return 0
	case k <= n:
		return told[k-1]
	}
	last, rise := told[n-1], told[n-1]
	if n > 1 {
		rise -= told[n-2]
	}
	if rise > 0 && int64(k-n) > math.MaxInt64/int64(rise) {
		return protocol.Never
	}
	return last.Plus(rise * protocol.Duration(k-n))
}
