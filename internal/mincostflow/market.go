package mincostflow

import (
	"math"
	"math/bits"
	"slices"
)

// market is a flow that is optimal but for what is in excess, and the prices under
// which it is: every job is where cost plus price is least, and every system has
// sold the places that cost less than its price. A node is a system, the system of
// the unserved, or the sink, in this order.
//
// Prices and lengths are shifted left by hop bits: the low bits of a length count
// the arcs of a path, so that of equally short paths the one that moves fewest
// jobs wins.
type market struct {
	*sample

	sink int32 // also the number of systems with the unserved
	hop  uint

	at     []int32 // system of each job
	here   []int32 // cost of each job at its system
	price  []int64 // of each node; the sink's is 0
	sold   []int   // units that each system sends to the sink
	excess []int   // units that each node gets beyond what it sends on
	over   int     // the sum of those above 0

	moves  *moves
	search search
}

const (
	// maxPriceBits is how many bits a length may need for a price and its arcs, so that
	// sums of several stay well below far.
	maxPriceBits = 57
	far          = math.MaxInt64 >> 2
)

// hopBits is the room for the number of arcs of a path through that many nodes.
func hopBits(nodes int) int { return bits.Len(uint(nodes)) + 1 }

// newMarket opens a market under the prices of the systems and the unserved. The
// moves are space that may have been used for another sample.
func newMarket(s *sample, price []int64, known *moves) *market {
	nodes := len(s.capacity) + 1
	m := &market{
		sample: s, sink: int32(nodes - 1), hop: uint(hopBits(nodes)), //nolint:gosec // within MaxSystems
		at: make([]int32, s.jobs), here: make([]int32, s.jobs),
		price: make([]int64, nodes), sold: make([]int, nodes-1), excess: make([]int, nodes),
		moves: known, search: newSearch(nodes),
	}
	for v, p := range price {
		m.price[v] = p << m.hop
	}
	for j := range m.at {
		m.at[j] = Nowhere
	}
	return m
}

// plain is the prices of the systems and the unserved, without room for arcs.
func (m *market) plain() []int64 {
	plain := make([]int64, m.sink)
	for s := range plain {
		plain[s] = m.price[s] >> m.hop
	}
	return plain
}

// uncontended puts every job where it is cheapest without prices. It reports whether
// that is possible, and gives up as soon as it is not.
func (m *market) uncontended() bool {
	unserved := m.sink - 1
	m.price[unserved] = m.penalty << m.hop
	scan := newScan(m.plain())
	left := make([]int, m.sink)
	for s := range left {
		left[s] = m.units(s, func(step int64) bool { return step <= scan.price[s] })
	}
	offers := make([]offer, 0, m.sink)
	for j := range int32(m.jobs) { //nolint:gosec // within MaxJobs
		row := m.row(j)
		least := scan.least(row)
		offers = scan.within(offers[:0], row, least)
		to := scan.emptiest(offers, least, left)
		m.at[j], m.here[j] = to.system, to.cost
		if left[to.system]--; left[to.system] < 0 {
			return false
		}
	}
	return true
}

// clear moves jobs until nothing is in excess. Slack is how far prices are expected
// to move; how far they did since lists were last made is returned.
func (m *market) clear(slack int64) int64 {
	m.open(slack)
	if m.over > 0 {
		m.fill()
	}
	for m.over > 0 {
		if m.reach() {
			m.push()
			continue
		}
		m.survey()
		m.reach()
		m.push()
		m.shortlist(m.ask(fewOffers), nil)
		m.fill()
	}
	return m.spread()
}

// open puts every job where it is cheapest, of equals where most places are left,
// then the first, and sells as many places as the prices ask for.
func (m *market) open(slack int64) {
	left := slices.Clone(m.capacity)
	m.shortlist(slack, left)
	m.excess[m.sink] = -m.jobs
	for s := range m.sold {
		load, price := m.capacity[s]-left[s], m.price[s]>>m.hop
		least := m.units(s, func(step int64) bool { return step < price })
		most := m.units(s, func(step int64) bool { return step <= price })
		m.sold[s] = min(max(load, least), most)
		m.excess[s] = load - m.sold[s]
		m.excess[m.sink] += m.sold[s]
	}
	for _, e := range m.excess {
		m.over += max(e, 0)
	}
}

// toSink is what a system's next place costs, if it has one.
func (m *market) toSink(a int32) (int64, bool) {
	if m.sold[a] >= m.capacity[a] {
		return 0, false
	}
	return m.step(int(a), m.sold[a]), true
}

// fromSink is what giving a system's last sold place back saves, if there is one.
func (m *market) fromSink(a int32) (int64, bool) {
	if m.sold[a] == 0 {
		return 0, false
	}
	return m.step(int(a), m.sold[a]-1), true
}
