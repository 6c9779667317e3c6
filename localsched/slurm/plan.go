package slurm

import (
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// This file plans and does nothing else: it has no clock and starts nothing.

// plan is what the nodes of a cluster have free from an instant on. Jobs are added
// in the order in which Slurm considers them. Each gets the first instant at which
// it fits until its end beside those before it: conservative backfilling.
type plan struct {
	from        protocol.Instant
	nodes       []supply
	maxNodeCPUs int // CPUs of a node
	bounds      []bound
	search      search
}

// supply is what a node has free over time.
type supply struct {
	step           // in all
	steps   []step // in order of time; each lasts until the next, the last one for ever
	last    int    // the one that was looked for last, or none
	foreign bool   // the steps are another plan's, too
}

// step is what is free from an instant on.
type step struct {
	at       protocol.Instant
	cpus     int
	memoryMB int64
}

// endOfTime is the instant that never comes.
const endOfTime = protocol.Instant(math.MaxInt64)

// demand is what a job needs.
type demand struct {
	among    *nodeSet // the nodes that it may have
	cpus     int      // in all, at least 1
	nodes    int      // at least; 0: any
	maxNodes int      // 0: any
	whole    bool     // its nodes have no other job
	nodeCPUs int      // at most on each node; 0: all
	taskCPUs int      // that are on one node together; 0: 1
	nodeMB   int64    // memory on each node; allMemory: all that it has
	cpuMB    int64    // and for each CPU
	limit    protocol.Duration
}

const allMemory = -1

// nodeSet is some nodes of a plan, by index.
type nodeSet struct{ nodes []int }

// bound says that no job that needs as much starts before an instant.
type bound struct {
	demand
	at protocol.Instant
}

// maxBounds bounds how many are kept: each new job is compared with all.
const maxBounds = 256

// newPlan is a plan of nodes on which nothing runs.
func newPlan(from protocol.Instant, nodes []step) *plan {
	p := &plan{from: from, nodes: make([]supply, len(nodes))}
	for i, n := range nodes {
		n.at = from
		p.nodes[i] = supply{step: n, steps: []step{n}}
		p.maxNodeCPUs = max(p.maxNodeCPUs, n.cpus)
	}
	return p
}

// clone is a plan to which jobs may be added without changing this one, which must
// not change either from now on.
func (p *plan) clone() *plan {
	c := &plan{from: p.from, nodes: slices.Clone(p.nodes), maxNodeCPUs: p.maxNodeCPUs, bounds: slices.Clone(p.bounds)}
	for i := range c.nodes {
		c.nodes[i].foreign = true
	}
	return c
}

// canRun says whether the nodes, without any job, have what a job needs.
func (p *plan) canRun(d *demand) bool {
	p.search.begin(p.maxNodeCPUs)
	for _, n := range d.among.nodes {
		s := &p.nodes[n]
		p.search.count(d.of(s.step, s), 1)
	}
	return p.search.enough(d)
}

// starts is when a job would start, not before an instant; endOfTime: never.
func (p *plan) starts(d *demand, from protocol.Instant) protocol.Instant {
	begin := max(from, p.from)
	for i := range p.bounds {
		if b := &p.bounds[i]; b.at > begin && b.within(d) {
			begin = b.at
		}
	}
	at := p.first(d, begin)
	if from <= p.from && at > begin {
		p.remember(d, at)
	}
	return at
}

// remember notes that a job like this one does not start before an instant: what
// is added later only makes that worse. What others say that need more and start no
// later is said by that, too.
func (p *plan) remember(d *demand, at protocol.Instant) {
	p.bounds = slices.DeleteFunc(p.bounds, func(b bound) bool { return b.at <= at && d.within(&b.demand) })
	if len(p.bounds) < maxBounds {
		p.bounds = append(p.bounds, bound{*d, at})
	}
}

// within says whether no job that needs more starts sooner than one that needs d.
func (d *demand) within(more *demand) bool {
	count := d.nodes <= more.nodes && (d.maxNodes == 0 || more.maxNodes > 0 && more.maxNodes <= d.maxNodes)
	return d.among == more.among && d.cpus <= more.cpus && d.limit <= more.limit && count && d.nodesWithin(more)
}

// nodesWithin says whether a node that has room for what needs more has room for d.
func (d *demand) nodesWithin(more *demand) bool {
	memory := d.cpuMB <= more.cpuMB && (d.nodeMB == more.nodeMB || d.nodeMB >= 0 && d.nodeMB < more.nodeMB)
	spread := d.nodeCPUs == 0 || more.nodeCPUs > 0 && more.nodeCPUs <= d.nodeCPUs
	return memory && spread && (!d.whole || more.whole) && (d.taskCPUs <= 1 || d.taskCPUs == more.taskCPUs)
}

// add has a job start where it does first among some ways in which it may, not
// before an instant. It says when; endOfTime: never.
func (p *plan) add(ways []demand, from protocol.Instant) protocol.Instant {
	best, start := -1, endOfTime
	for i := range ways {
		if at := p.starts(&ways[i], from); at < start {
			best, start = i, at
		}
	}
	if best >= 0 {
		if best != len(ways)-1 {
			p.first(&ways[best], start) // p.search is of the last
		}
		p.place(&ways[best], start)
	}
	return start
}

// place gives a job nodes at the instant at which p.search has found that it fits: of
// those that have enough for all of it the one with the least that is free; else as
// few as possible.
func (p *plan) place(d *demand, start protocol.Instant) {
	chosen := p.onOneNode(d, start)
	if chosen == nil {
		chosen = p.search.fewest(d)
	}
	end, left := start.Add(d.limit), d.cpus
	for i, k := range chosen {
		s := &p.nodes[d.among.nodes[k]]
		// Each node that is asked for gets a task.
		task := max(1, d.taskCPUs)
		cpus := max(task, min(p.search.offers[k], left-task*(len(chosen)-1-i)))
		left -= cpus
		s.take(start, end, s.uses(d, cpus))
	}
}

// uses is what a job takes of a node on which it has so many CPUs.
func (s *supply) uses(d *demand, cpus int) step {
	use := step{cpus: cpus, memoryMB: d.nodeMB + int64(cpus)*d.cpuMB}
	if d.nodeMB == allMemory {
		use.memoryMB = s.memoryMB
	}
	if d.whole {
		use.cpus = s.cpus
	}
	return use
}

// onOneNode is the node that has room for the whole job and the least that is free.
func (p *plan) onOneNode(d *demand, start protocol.Instant) (chosen []int) {
	if d.nodes > 1 {
		return nil
	}
	least := math.MaxInt
	for k, n := range d.among.nodes {
		s := &p.nodes[n]
		if free := s.steps[s.index(start)].cpus; p.search.offers[k] >= d.cpus && free < least {
			chosen, least = []int{k}, free
		}
	}
	return chosen
}

// first is the first instant from one on at which a job fits until it ends. After
// it, p.search has what each node offers the job then.
func (p *plan) first(d *demand, from protocol.Instant) protocol.Instant {
	s := &p.search
	s.begin(p.maxNodeCPUs)
	for k, n := range d.among.nodes {
		offer, until := p.nodes[n].window(from, d)
		s.offers = append(s.offers, offer)
		s.count(offer, 1)
		if until < endOfTime {
			s.turns = append(s.turns, turn{until, k})
		}
	}
	if s.enough(d) {
		return from
	}
	s.turns.order()
	for len(s.turns) > 0 {
		now := s.turns[0].at
		for len(s.turns) > 0 && s.turns[0].at == now {
			k := s.turns[0].node
			offer, until := p.nodes[d.among.nodes[k]].window(now, d)
			s.count(s.offers[k], -1)
			s.count(offer, 1)
			s.offers[k] = offer
			s.turns[0].at = until
			if until == endOfTime {
				last := len(s.turns) - 1
				s.turns[0], s.turns = s.turns[last], s.turns[:last]
			}
			s.turns.sink(0)
		}
		if s.enough(d) {
			return now
		}
	}
	return endOfTime
}

// window is how many CPUs the node offers a job from an instant on until it would
// end, and when that changes at the earliest.
func (s *supply) window(from protocol.Instant, d *demand) (offer int, until protocol.Instant) {
	end := from.Add(d.limit)
	i := s.index(from)
	offer, until = d.of(s.steps[i], s), s.until(i)
	for i++; i < len(s.steps); i++ {
		at := s.steps[i].at
		if at >= end && offer == 0 {
			break
		}
		n := d.of(s.steps[i], s)
		switch {
		case at < end && n <= offer:
			offer, until = n, s.until(i)
		case at >= end && n < offer:
			return offer, min(until, at-protocol.Instant(d.limit)+1)
		}
	}
	return offer, until
}

// of is how many CPUs a job could use of what is free on a node.
func (d *demand) of(free step, s *supply) int {
	n := min(free.cpus, d.cpus)
	switch {
	case d.whole && free.cpus < s.cpus, d.nodeMB > free.memoryMB, d.nodeMB == allMemory && free.memoryMB < s.memoryMB:
		return 0
	case d.nodeCPUs > 0:
		n = min(n, d.nodeCPUs)
	}
	if d.cpuMB > 0 {
		n = int(min(int64(n), free.memoryMB/d.cpuMB))
	}
	if d.taskCPUs > 1 {
		n -= n % d.taskCPUs
	}
	return n
}

// index is the step that holds at an instant, often the one as the last time.
func (s *supply) index(at protocol.Instant) int {
	if i := s.last; i < len(s.steps) && s.steps[i].at <= at && at < s.until(i) {
		return i
	}
	low, high := 0, len(s.steps)
	for high-low > 1 {
		if middle := (low + high) / 2; s.steps[middle].at <= at {
			low = middle
		} else {
			high = middle
		}
	}
	s.last = low
	return low
}

// until is when a step ends.
func (s *supply) until(i int) protocol.Instant {
	if i+1 < len(s.steps) {
		return s.steps[i+1].at
	}
	return endOfTime
}

// take takes something of the node from an instant until another; of what is not
// there, nothing.
func (s *supply) take(start, end protocol.Instant, use step) {
	start = max(start, s.steps[0].at)
	if end <= start {
		return
	}
	if s.foreign {
		s.steps, s.foreign = slices.Clone(s.steps), false
	}
	first := s.split(start)
	last := len(s.steps)
	if end < endOfTime {
		last = s.split(end)
	}
	for i := first; i < last; i++ {
		s.steps[i].cpus = max(0, s.steps[i].cpus-use.cpus)
		s.steps[i].memoryMB = max(0, s.steps[i].memoryMB-use.memoryMB)
	}
}

// split has a step begin at an instant, and says which.
func (s *supply) split(at protocol.Instant) int {
	i := s.index(at)
	if s.steps[i].at == at {
		return i
	}
	next := s.steps[i]
	next.at = at
	s.steps = slices.Insert(s.steps, i+1, next)
	return i + 1
}

// search is what the nodes offer one job as time goes on.
type search struct {
	offers []int // CPUs, of each node that the job may have
	turns  turns
	cpus   int   // the sum of offers
	nodes  int   // those that offer any
	by     []int // how many nodes offer so many CPUs
}

// begin forgets the last search.
func (s *search) begin(most int) {
	s.offers, s.turns, s.cpus, s.nodes = s.offers[:0], s.turns[:0], 0, 0
	s.by = slices.Grow(s.by[:0], most+1)[:most+1]
	clear(s.by)
}

// count adds or drops a node that offers so many CPUs.
func (s *search) count(offer, sign int) {
	if offer < 1 {
		return
	}
	s.cpus += sign * offer
	s.nodes += sign
	s.by[offer] += sign
}

// enough says whether the job fits.
func (s *search) enough(d *demand) bool {
	if s.cpus < d.cpus || s.nodes < max(1, d.nodes) {
		return false
	}
	if d.maxNodes == 0 {
		return true
	}
	nodes, cpus := d.maxNodes, 0
	for offer := len(s.by) - 1; offer > 0 && nodes > 0; offer-- {
		n := min(nodes, s.by[offer])
		nodes, cpus = nodes-n, cpus+n*offer
	}
	return cpus >= d.cpus
}

// fewest are the nodes that offer the most, as many as the job needs.
func (s *search) fewest(d *demand) (chosen []int) {
	nodes, cpus := max(1, d.nodes), d.cpus
	least := len(s.by) - 1 // take all that offer more than this, and some that offer as much
	for ; least > 1 && (nodes > s.by[least] || cpus > s.by[least]*least); least-- {
		nodes, cpus = nodes-s.by[least], cpus-s.by[least]*least
	}
	for k, offer := range s.offers {
		if offer > least {
			chosen = append(chosen, k)
		}
	}
	for k, offer := range s.offers {
		if offer == least && (nodes > 0 || cpus > 0) {
			chosen = append(chosen, k)
			nodes, cpus = nodes-1, cpus-offer
		}
	}
	return chosen
}

// turn is when what a node offers changes at the earliest.
type turn struct {
	at   protocol.Instant
	node int
}

// turns is a heap: each comes before the two at twice its place.
type turns []turn

func (t turns) order() {
	for i := len(t)/2 - 1; i >= 0; i-- {
		t.sink(i)
	}
}

// sink moves a turn down to where it belongs.
func (t turns) sink(i int) {
	for {
		next := 2*i + 1
		if next >= len(t) {
			return
		}
		if next+1 < len(t) && t[next+1].at < t[next].at {
			next++
		}
		if t[i].at <= t[next].at {
			return
		}
		t[i], t[next] = t[next], t[i]
		i = next
	}
}
