package slurm

import (
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// This file has no clock and no side effects. Why Slurm is not planned by localsched/engine:
// docs/decisions/0027-slurm-keeps-a-plan-of-its-own.md.

// plan is the availability profile of the nodes of a cluster from an instant on. Jobs are added in the
// order in which Slurm considers them. Each is given the first instant from which it fits until its end
// beside those before it: conservative backfilling, as Slurm's sched/backfill.
//
// Invariant: the CPUs, the memory and the resources that jobs have on a node never exceed those of the
// node at any instant. TestPlan checks it.
type plan struct {
	from        protocol.Instant
	nodes       []supply
	maxNodeCPUs int // CPUs of a node
	bounds      []bound
	search      search
}

// supply is the CPUs, memory and resources of a node that are free over time.
type supply struct {
	step           // in all
	steps   []step // ordered by time; each lasts until the next, the last one forever
	last    int    // index of the last search, a hint
	foreign bool   // the steps are shared with another plan: copy on write
}

// step is the CPUs, memory and resources that are free from an instant on.
type step struct {
	at        protocol.Instant
	cpus      int
	memoryMB  int64
	resources amounts
}

// amounts are numbers of resources, of each kind that the plan counts.
type amounts [maxKinds]int32

// maxKinds limits the kinds of resources that a plan counts: all steps have a number of each.
const maxKinds = 4

// endOfTime is later than every instant.
const endOfTime = protocol.Instant(math.MaxInt64)

// demand is the resources that a job needs.
type demand struct {
	among    *nodeSet // nodes of its partition
	cpus     int      // in all, at least 1
	nodes    int      // at least; 0: any
	maxNodes int      // 0: any
	whole    bool     // the job does not share nodes
	nodeCPUs int      // at most on each node; 0: all
	taskCPUs int      // that are on one node together; 0: 1
	nodeMB   int64    // memory on each node; allMemory: all that it has
	cpuMB    int64    // and for each CPU
	needs    []need   // of resources
	limit    protocol.Duration
}

// need is what a job needs of a resource.
type need struct {
	kinds   [maxKinds]bool // of which it may be
	node    int32          // on each node, at least
	share   int32          // on each node that has as many
	perTask int32          // and for each task, of taskCPUs
}

// of is how many resources of the kinds there are.
func (n *need) of(free *amounts) (sum int32) {
	for k, serves := range n.kinds {
		if serves {
			sum += free[k]
		}
	}
	return sum
}

// take is which resources a job gets for a number of tasks, of those that are free.
func (n *need) take(free *amounts, tasks int) (taken amounts) {
	left := n.share + n.perTask*int32(tasks) //nolint:gosec // tasks have been divided by what is free
	for k, serves := range n.kinds {
		if serves {
			taken[k] = min(left, free[k])
			left -= taken[k]
		}
	}
	return taken
}

const allMemory = -1

// nodeSet is some nodes of a plan, by index.
type nodeSet struct{ nodes []int }

// bound is a lower bound: no job that needs at least as much starts before an instant.
type bound struct {
	demand
	at protocol.Instant
}

// maxBounds limits the bounds of a plan, because each new job is compared with all of them.
const maxBounds = 256

// newPlan returns a plan of idle nodes.
func newPlan(from protocol.Instant, nodes []step) *plan {
	p := &plan{from: from, nodes: make([]supply, len(nodes))}
	for i, n := range nodes {
		n.at = from
		p.nodes[i] = supply{step: n, steps: []step{n}}
		p.maxNodeCPUs = max(p.maxNodeCPUs, n.cpus)
	}
	return p
}

// clone returns a copy of the plan. The original must not change afterwards, because they share steps.
func (p *plan) clone() *plan {
	c := &plan{from: p.from, nodes: slices.Clone(p.nodes), maxNodeCPUs: p.maxNodeCPUs, bounds: slices.Clone(p.bounds)}
	for i := range c.nodes {
		c.nodes[i].foreign = true
	}
	return c
}

// canRun reports whether the nodes, without any job, have what a job needs.
func (p *plan) canRun(d *demand) bool {
	p.search.begin(p.maxNodeCPUs)
	for _, n := range d.among.nodes {
		s := &p.nodes[n]
		p.search.count(d.of(s.step, s), 1)
	}
	return p.search.enough(d)
}

// starts is the first start of a job that is not before an instant, or endOfTime.
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

// remember adds the bound that a job with this demand does not start before an instant. It stays right
// when jobs are added, since they only delay others. Bounds that follow from the new one are removed.
func (p *plan) remember(d *demand, at protocol.Instant) {
	p.bounds = slices.DeleteFunc(p.bounds, func(b bound) bool { return b.at <= at && d.within(&b.demand) })
	if len(p.bounds) < maxBounds {
		p.bounds = append(p.bounds, bound{*d, at})
	}
}

// within reports whether no job that needs more starts sooner than one that needs d.
func (d *demand) within(more *demand) bool {
	count := d.nodes <= more.nodes && (d.maxNodes == 0 || more.maxNodes > 0 && more.maxNodes <= d.maxNodes)
	return d.among == more.among && d.cpus <= more.cpus && d.limit <= more.limit && count && d.nodesWithin(more)
}

// nodesWithin reports whether a node that has room for what needs more has room for d.
func (d *demand) nodesWithin(more *demand) bool {
	memory := d.cpuMB <= more.cpuMB && (d.nodeMB == more.nodeMB || d.nodeMB >= 0 && d.nodeMB < more.nodeMB)
	spread := d.nodeCPUs == 0 || more.nodeCPUs > 0 && more.nodeCPUs <= d.nodeCPUs
	tasks := d.taskCPUs == more.taskCPUs || d.taskCPUs <= 1 && len(d.needs) == 0
	return memory && spread && (!d.whole || more.whole) && tasks && slices.Equal(d.needs, more.needs)
}

// add places a job where it starts first among alternative demands, not before an instant, and returns
// the start, or endOfTime.
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

// place allocates nodes to a job at the instant at which p.search has found that it fits: the node with
// the fewest free CPUs that holds all of it, otherwise as few nodes as possible.
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
		s.take(start, end, s.uses(d, cpus, start))
	}
}

// uses is what a job takes of a node on which it has a number of CPUs from an instant on.
func (s *supply) uses(d *demand, cpus int, start protocol.Instant) step {
	use := step{cpus: cpus, memoryMB: d.nodeMB + int64(cpus)*d.cpuMB}
	if d.nodeMB == allMemory {
		use.memoryMB = s.memoryMB
	}
	if d.whole {
		use.cpus, use.resources = s.cpus, s.resources
		return use
	}
	free := s.steps[s.index(start)].resources
	for i := range d.needs {
		for k, n := range d.needs[i].take(&free, cpus/max(1, d.taskCPUs)) {
			use.resources[k] += n
			free[k] -= n
		}
	}
	return use
}

// onOneNode is the node with the fewest free CPUs on which the whole job fits, or nil.
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

// first is the first instant, not before a given one, from which a job fits until it ends. Afterwards
// p.search has what each node offers the job then.
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

// window is the number of CPUs that the node offers a job from an instant until the job would end, and
// the earliest instant at which that number changes.
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

// of is the number of CPUs that a job could use of those free on a node.
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
	task := max(1, d.taskCPUs)
	for i := range d.needs {
		need := &d.needs[i]
		has := need.of(&free.resources)
		switch {
		case has < need.node:
			return 0
		case need.perTask > 0:
			n = min(n, int((has-need.node)/need.perTask)*task)
		}
	}
	return n - n%task
}

// index is the step at an instant. It checks the result of the last search first.
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

// take allocates CPUs, memory and resources of the node between two instants. What is not free is not taken below
// zero.
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
		for k, n := range use.resources {
			s.steps[i].resources[k] = max(0, s.steps[i].resources[k]-n)
		}
	}
}

// split makes a step begin at an instant and returns its index.
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

// search is the state of a search for the start of one job: what the nodes offer at the current instant.
type search struct {
	offers []int // CPUs, of each node that the job may have
	turns  turns
	cpus   int   // the sum of offers
	nodes  int   // those that offer any
	by     []int // number of nodes that offer i CPUs
}

// begin resets the search.
func (s *search) begin(most int) {
	s.offers, s.turns, s.cpus, s.nodes = s.offers[:0], s.turns[:0], 0, 0
	s.by = slices.Grow(s.by[:0], most+1)[:most+1]
	clear(s.by)
}

// count adds (sign 1) or removes (sign -1) a node that offers a number of CPUs.
func (s *search) count(offer, sign int) {
	if offer < 1 {
		return
	}
	s.cpus += sign * offer
	s.nodes += sign
	s.by[offer] += sign
}

// enough reports whether the job fits.
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

// fewest are the nodes with the largest offers, as few as the job needs.
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

// turn is the earliest instant at which the offer of a node changes.
type turn struct {
	at   protocol.Instant
	node int
}

// turns is a binary heap ordered by instant.
type turns []turn

func (t turns) order() {
	for i := len(t)/2 - 1; i >= 0; i-- {
		t.sink(i)
	}
}

// sink restores the heap order below an element.
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
