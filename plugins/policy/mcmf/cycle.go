package mcmf

import (
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// cycle is a snapshot in the terms of equations 4 to 6. A pair is a job and a site
// that has quoted it, at the index of the quote; it is open when the site takes jobs
// in this round.
type cycle struct {
	*Policy
	in *policy.Snapshot

	runs     []protocol.Duration // response time of each pair from now on; never: there is no such pair
	response span                // of all open pairs, from now on
	energy   span                // of all open pairs at sites whose prices count
	money    money
	weight   int     // w of this round, in parts per million
	costs    []int32 // of each pair, or [mincostflow.Missing]
}

func (p *Policy) cycle(in *policy.Snapshot) *cycle {
	c := &cycle{Policy: p, in: in}
	c.predict()
	c.money = c.compare()
	c.measure()
	c.weight = c.weighing()
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
			if c.runs[at] = wait.Plus(in.ERT[at]); c.open(j, s) {
				c.response.include(c.responseAt(at))
			}
		}
	}
}

// open says whether a pair can be chosen in this round. What sites quote that take no
// jobs counts nowhere.
func (c *cycle) open(j, s int) bool {
	return c.in.Sites[s].MaxJobs > 0 && c.runs[c.in.At(j, s)] != protocol.Never
}

// measure finds the extremes of what electricity costs.
func (c *cycle) measure() {
	c.energy = emptySpan()
	for j := range c.in.Jobs {
		for s := range c.in.Sites {
			if c.money.counts[s] && c.open(j, s) {
				c.energy.include(int64(c.in.Cost[c.in.At(j, s)]))
			}
		}
	}
	if c.energy.least <= c.energy.most && c.energy.least <= math.MaxInt64-int64(c.LeastRange) {
		c.energy.include(c.energy.least + int64(c.LeastRange))
	}
}

// weighing is w. By price it is the share of the response times in the widest range of what
// a choice may cost in all, were an hour to be paid for.
func (c *cycle) weighing() int {
	if !c.ByPrice {
		return c.Weight
	}
	const most = math.MaxInt64 / 2 // so that the sum fits
	slow := min(most, int128.Product(c.response.width(), int64(c.DelayPrice)).Nearest(int64(protocol.Hour)))
	energy := min(most, c.energy.width())
	if slow+energy == 0 {
		return protocol.PPM // no choice is cheaper
	}
	return int(int128.Product(slow, protocol.PPM).Nearest(slow + energy))
}

// responseAt is the R of equation 4 of a pair, in ms, from now on. What a job has waited
// is the same wherever it goes; in the range of R it would only make what can still be
// chosen count less, as in the authors' code it does not.
func (c *cycle) responseAt(at int) int64 { return int64(c.runs[at]) }

// weigh makes the costs (equation 6). Each of the two terms is rounded to a millionth
// of a cost, and then their sum to a whole one; halves go up.
func (c *cycle) weigh() {
	in := c.in
	slow := c.response.scaled(c.Scale * c.weight)
	energy := c.energy.scaled(c.Scale * (protocol.PPM - c.weight))
	c.costs = make([]int32, len(c.runs))
	for j := range in.Jobs {
		guess := c.guess(j, &energy)
		for s := range in.Sites {
			at := in.At(j, s)
			if c.runs[at] == protocol.Never {
				c.costs[at] = mincostflow.Missing
				continue
			}
			parts := guess
			if c.money.counts[s] {
				parts = energy.of(int64(in.Cost[at]))
			}
			parts += slow.of(c.responseAt(at))
			c.costs[at] = int32((parts + protocol.PPM/2) / protocol.PPM) //nolint:gosec // at most the scale
		}
	}
}

// energyTerm is the term of equation 5 of a pair.
func (c *cycle) energyTerm(j, s int, energy *scaled) uint64 {
	if c.money.counts[s] {
		return energy.of(int64(c.in.Cost[c.in.At(j, s)]))
	}
	return c.guess(j, energy)
}

// guess is the energy term of a job at sites whose prices do not count, since what is
// unknown is not free: the mean of its terms at those whose do. A job without such is
// taken to be in the middle.
func (c *cycle) guess(j int, energy *scaled) uint64 {
	if c.money.all {
		return 0
	}
	sum, n := uint64(0), uint64(0)
	for s := range c.in.Sites {
		if c.money.counts[s] && c.open(j, s) {
			sum += energy.of(int64(c.in.Cost[c.in.At(j, s)]))
			n++
		}
	}
	if n == 0 {
		return energy.middle()
	}
	return (sum + n/2) / n
}

// problem is the flow network: an arc from each job to each site that has quoted it,
// and one of the site's capacity to the sink, or parallel ones of rising cost.
func (c *cycle) problem() *mincostflow.Problem {
	in := c.in
	p := &mincostflow.Problem{Jobs: len(in.Jobs), Systems: len(in.Sites), Costs: c.aged(), Capacity: make([]int, len(in.Sites))}
	for s := range in.Sites {
		p.Capacity[s] = max(0, in.Sites[s].MaxJobs)
	}
	if c.Marginal > 0 {
		p.Steps = c.steps(p.Capacity)
	}
	return p
}

// patience is the difference of age that counts for a whole cost when not all jobs can
// be placed.
const patience = 10 * protocol.Minute

// maxLate bounds how much younger jobs are put back, in whole costs.
const maxLate = 1000

// aged are the costs with something on top of all arcs of a job that is younger than
// the oldest one. Where a job goes is the same with it; when the sites do not take all
// jobs, the younger ones are left, so that none is passed over for ever.
func (c *cycle) aged() []int32 {
	oldest, youngest := c.ages()
	if oldest-youngest < patience/protocol.Duration(c.Scale) {
		return c.costs
	}
	costs, sites := slices.Clone(c.costs), len(c.in.Sites)
	for j := range c.in.Jobs {
		late := min(max(0, oldest-c.in.Jobs[j].Waited), maxLate*patience)
		back := int32(int64(late) * int64(c.Scale) / int64(patience)) //nolint:gosec // at most 1000 scales
		for i := range costs[j*sites : (j+1)*sites] {
			if costs[j*sites+i] != mincostflow.Missing {
				costs[j*sites+i] += back
			}
		}
	}
	return costs
}

// ages are those of the oldest and the youngest job that can be placed. One that no
// site takes may grow old without end, and all others would be equally young beside it.
func (c *cycle) ages() (oldest, youngest protocol.Duration) {
	youngest = protocol.Never
	for j := range c.in.Jobs {
		for s := range c.in.Sites {
			if c.open(j, s) {
				waited := c.in.Jobs[j].Waited
				oldest, youngest = max(oldest, waited), min(youngest, waited)
				break
			}
		}
	}
	return oldest, youngest
}

// steps are what each further job at a site costs on top: how much longer it waits, in
// the terms of equation 4.
func (c *cycle) steps(capacity []int) [][]int32 {
	slow := c.response.scaled(c.Scale * c.weight)
	steps := make([][]int32, len(capacity))
	for s := range steps {
		waits := c.in.Sites[s].MarginalWaits
		if len(waits) == 0 {
			continue
		}
		steps[s] = make([]int32, min(capacity[s], len(c.in.Jobs)))
		for k := range steps[s] {
			parts := slow.length(int64(growth(waits, k)))
			steps[s][k] = int32(min((parts+protocol.PPM/2)/protocol.PPM, uint64(mincostflow.MaxCost)))
		}
	}
	return steps
}

// growth is how much longer the job after k others of the round waits. Beyond the reported values
// it continues with the last difference.
func growth(waits []protocol.Duration, k int) protocol.Duration {
	n := len(waits)
	switch {
	case k == 0 || n == 0:
		return 0
	case k <= n:
		return waits[k-1]
	}
	last, rise := waits[n-1], waits[n-1]
	if n > 1 {
		rise -= waits[n-2]
	}
	if rise > 0 && int64(k-n) > math.MaxInt64/int64(rise) {
		return protocol.Never
	}
	return last.Plus(rise * protocol.Duration(k-n))
}
