package mincostflow_test

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// The network simplex solves min-cost flow in any graph. Solve is compared with it: the two have no
// code in common.

// Errors of networks that are valid but have no cheapest flow.
var (
	ErrInfeasible = errors.New("the network cannot carry all supplies to the demands")
	ErrUnbounded  = errors.New("a cycle of unbounded capacity has a negative cost")
)

// UnboundedArc is the capacity of an arc that takes any amount.
const UnboundedArc = math.MaxInt64

// Arc leads from a node to another, nodes being 0 to len(Supply)-1.
type Arc struct {
	From, To int
	Capacity int64 // 0 to UnboundedArc
	Cost     int64 // of each unit; may be negative
}

// Network is min-cost flow in any directed graph; parallel arcs and loops are fine.
type Network struct {
	Supply []int64 // units that each node gives, below 0 those that it needs; the sum is 0
	Arcs   []Arc
}

// NetworkFlow is a cheapest flow in a network, and the potentials that prove it.
type NetworkFlow struct {
	Flow       []int64 // on each arc
	Cost       int64
	Potentials []int64 // of each node: what a unit is worth there
}

// Validate reports the first thing that is wrong, by its place.
func (n *Network) Validate() error {
	if len(n.Supply) > math.MaxInt32-1 || len(n.Arcs) > math.MaxInt32-len(n.Supply) {
		return fmt.Errorf("arcs: %d between %d nodes are too many", len(n.Arcs), len(n.Supply))
	}
	var given, needed uint64 // each counted up, so that they cannot cancel an overflow
	for v, supply := range n.Supply {
		if supply == math.MinInt64 {
			return fmt.Errorf("supply[%d]: %d is too much", v, supply)
		}
		given += uint64(max(supply, 0))
		needed += uint64(max(-supply, 0))
		if given > math.MaxInt64 || needed > math.MaxInt64 {
			return fmt.Errorf("supply[%d]: the sum up to here does not fit into 64 bits", v)
		}
	}
	if given != needed {
		return fmt.Errorf("supply: %d are given, but %d needed", given, needed)
	}
	return n.validateArcs(given)
}

// validateArcs checks arcs that carry so many units, but for cycles of negative cost.
func (n *Network) validateArcs(given uint64) error {
	room := int64(math.MaxInt64>>3) / int64(len(n.Supply)+2)
	var cost uint64
	for i, arc := range n.Arcs {
		switch {
		case arc.From < 0 || arc.From >= len(n.Supply) || arc.To < 0 || arc.To >= len(n.Supply):
			return fmt.Errorf("arcs[%d]: %d to %d are not both among %d nodes", i, arc.From, arc.To, len(n.Supply))
		case arc.Capacity < 0:
			return fmt.Errorf("arcs[%d]: a capacity of %d is less than 0", i, arc.Capacity)
		case arc.Cost > room || arc.Cost < -room:
			return fmt.Errorf("arcs[%d]: a cost of %d is more than 64-bit potentials can hold; scale the costs down", i, arc.Cost)
		}
		units := uint64(arc.Capacity)
		if arc.Cost >= 0 || arc.Capacity == UnboundedArc {
			units = min(units, given)
		}
		high, low := bits.Mul64(units, uint64(max(arc.Cost, -arc.Cost)))
		sum, carry := bits.Add64(cost, low, 0)
		if cost = sum; high > 0 || carry > 0 || cost > math.MaxInt64 {
			return fmt.Errorf("arcs[%d]: the costs up to here may sum to more than 64 bits", i)
		}
	}
	return nil
}

// Certify proves that a flow is feasible and the cheapest, or says what is wrong. An
// arc that has room costs no less than its end is worth more than its beginning, and
// one that is used no more.
func (n *Network) Certify(f *NetworkFlow) error {
	switch {
	case len(f.Flow) != len(n.Arcs):
		return fmt.Errorf("flow: there are %d, not one for each of %d arcs", len(f.Flow), len(n.Arcs))
	case len(f.Potentials) != len(n.Supply):
		return fmt.Errorf("potentials: there are %d, not one for each of %d nodes", len(f.Potentials), len(n.Supply))
	}
	var cost int64
	left := append([]int64(nil), n.Supply...)
	for i, arc := range n.Arcs {
		flow := f.Flow[i]
		if flow < 0 || flow > arc.Capacity {
			return fmt.Errorf("flow[%d]: %d is not 0 to %d", i, flow, arc.Capacity)
		}
		left[arc.From] -= flow
		left[arc.To] += flow
		cost += flow * arc.Cost
		reduced := arc.Cost + f.Potentials[arc.From] - f.Potentials[arc.To]
		if flow < arc.Capacity && reduced < 0 {
			return fmt.Errorf("flow[%d]: one more unit would save %d", i, -reduced)
		}
		if flow > 0 && reduced > 0 {
			return fmt.Errorf("flow[%d]: one unit less would save %d", i, reduced)
		}
	}
	for v, units := range left {
		if units != 0 {
			return fmt.Errorf("flow: node %d has %d units left", v, units)
		}
	}
	if cost != f.Cost {
		return fmt.Errorf("cost: %d, but the flow costs %d", f.Cost, cost)
	}
	return nil
}

// Solve finds a cheapest flow by the primal network simplex method: a spanning tree
// whose arcs alone are between 0 and their capacity, which at each pivot takes in an
// arc that saves cost and gives one up. The tree is kept strongly feasible (from
// each node a little could flow to the root), which rules out cycling. The same
// network has the same flow. Errors are those of [Network.Validate],
// [ErrInfeasible] and [ErrUnbounded].
func (n *Network) Solve() (*NetworkFlow, error) {
	if err := n.Validate(); err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	s := newSimplex(n)
	for {
		in := s.entering()
		if in < 0 {
			break
		}
		if !s.pivot(in) {
			return nil, fmt.Errorf("network: %w", ErrUnbounded)
		}
	}
	for v := range n.Supply {
		if s.flow[len(n.Arcs)+v] != 0 {
			return nil, fmt.Errorf("network: %w", ErrInfeasible)
		}
	}
	result := &NetworkFlow{Flow: s.flow[:len(n.Arcs)], Potentials: s.potential[:len(n.Supply)]}
	for i, arc := range n.Arcs {
		result.Cost += result.Flow[i] * arc.Cost
	}
	return result, nil
}

// place is where an arc's flow is.
type place int8

const (
	full  place = -1
	inner place = 0 // in the tree
	empty place = 1
)

// simplex is a network with an artificial root and arcs between it and each node,
// too dear to be used if there is another way.
type simplex struct {
	arcs  []Arc // the network's, then one for each node
	given int   // arcs of the network
	flow  []int64
	place []place

	potential []int64
	tree      tree

	block, at int // how many arcs are priced at once, and where to go on
}

// tree is a spanning tree; nodes hang from the root. Siblings are a list.
type tree struct {
	parent, arc, depth []int32 // arc leads to or from the parent
	child, next, prev  []int32 // the first child, and siblings; -1 for none
}

func newSimplex(n *Network) *simplex {
	nodes, given := len(n.Supply), len(n.Arcs)
	s := &simplex{
		arcs: append(make([]Arc, 0, given+nodes), n.Arcs...), given: given,
		flow: make([]int64, given+nodes), place: make([]place, given+nodes),
		potential: make([]int64, nodes+1),
		tree:      newTree(nodes + 1),
		block:     max(64, int(math.Sqrt(float64(given)))),
	}
	var mostExpensive int64
	for i, arc := range n.Arcs {
		s.place[i] = empty
		mostExpensive = max(mostExpensive, arc.Cost, -arc.Cost)
	}
	artificial := (mostExpensive + 1) * int64(nodes+1)
	root := int32(nodes)
	for v, supply := range n.Supply {
		arc := Arc{From: v, To: nodes, Capacity: UnboundedArc, Cost: artificial}
		s.potential[v] = -artificial
		if supply < 0 {
			arc.From, arc.To = nodes, v
			s.potential[v] = artificial
		}
		s.flow[len(s.arcs)] = max(supply, -supply)
		s.tree.hang(int32(v), root, int32(len(s.arcs)))
		s.tree.depth[v] = 1
		s.arcs = append(s.arcs, arc)
	}
	return s
}

// entering is the arc that saves most of the first block in which one does, or -1.
func (s *simplex) entering() int {
	best, saved := -1, int64(0)
	for seen := 1; seen <= s.given; seen++ {
		i := s.at
		if s.at++; s.at == s.given {
			s.at = 0
		}
		if reduced := int64(s.place[i]) * s.reduced(i); reduced < saved {
			best, saved = i, reduced
		}
		if seen%s.block == 0 && best >= 0 {
			break
		}
	}
	return best
}

// reduced is what one more unit on an arc costs, with the tree's potentials.
func (s *simplex) reduced(i int) int64 {
	arc := &s.arcs[i]
	return arc.Cost + s.potential[arc.From] - s.potential[arc.To]
}

// pivot sends as much as it can around the cycle that an arc closes, and takes the
// arc into the tree for the one that stops it; false if none does.
func (s *simplex) pivot(in int) bool {
	first, second := int32(s.arcs[in].From), int32(s.arcs[in].To)
	if s.place[in] == full {
		first, second = second, first
	}
	join := s.tree.join(first, second)
	units, out := s.arcs[in].Capacity, int32(-1)
	outFirst := false
	for v := first; v != join; v = s.tree.parent[v] {
		if room := s.room(v, false); room < units {
			units, out, outFirst = room, v, true
		}
	}
	for v := second; v != join; v = s.tree.parent[v] {
		if room := s.room(v, true); room <= units {
			units, out, outFirst = room, v, false
		}
	}
	if units == UnboundedArc {
		return false
	}
	s.flow[in] += int64(s.place[in]) * units
	for v := first; v != join; v = s.tree.parent[v] {
		s.send(v, -units)
	}
	for v := second; v != join; v = s.tree.parent[v] {
		s.send(v, units)
	}
	if out < 0 {
		s.place[in] = -s.place[in]
		return true
	}
	if !outFirst {
		first, second = second, first
	}
	s.swap(int32(in), out, first, second)
	return true
}

// up says whether a node's tree arc leads to its parent.
func (s *simplex) up(v int32) bool { return s.arcs[s.tree.arc[v]].From == int(v) }

// room is how much more can flow between a node and its parent, up or down.
func (s *simplex) room(v int32, up bool) int64 {
	arc := s.tree.arc[v]
	if s.up(v) != up {
		return s.flow[arc]
	}
	if s.arcs[arc].Capacity == UnboundedArc {
		return UnboundedArc
	}
	return s.arcs[arc].Capacity - s.flow[arc]
}

// send changes what flows from a node up to its parent.
func (s *simplex) send(v int32, units int64) {
	if !s.up(v) {
		units = -units
	}
	s.flow[s.tree.arc[v]] += units
}

// swap takes an arc from below to above into the tree, for the arc over out, which
// is over below or further up.
func (s *simplex) swap(in, out, below, above int32) {
	leaving := s.tree.arc[out]
	s.place[leaving] = empty
	if s.flow[leaving] != 0 {
		s.place[leaving] = full
	}
	s.place[in] = inner
	parent, arc := above, in
	for v := below; ; {
		oldParent, oldArc := s.tree.parent[v], s.tree.arc[v]
		s.tree.cut(v)
		s.tree.hang(v, parent, arc)
		if v == out {
			break
		}
		v, parent, arc = oldParent, v, oldArc
	}
	change := s.reduced(int(in))
	if s.up(below) {
		change = -change
	}
	s.lift(below, change)
}

// lift adds to the potentials of a node and all that hangs from it, and counts their
// depths anew.
func (s *simplex) lift(top int32, change int64) {
	t := &s.tree
	for v := top; ; {
		s.potential[v] += change
		t.depth[v] = t.depth[t.parent[v]] + 1
		if t.child[v] >= 0 {
			v = t.child[v]
			continue
		}
		for v != top && t.next[v] < 0 {
			v = t.parent[v]
		}
		if v == top {
			return
		}
		v = t.next[v]
	}
}

func newTree(nodes int) tree {
	none := func() []int32 {
		list := make([]int32, nodes)
		for i := range list {
			list[i] = -1
		}
		return list
	}
	return tree{
		parent: none(), arc: none(), depth: make([]int32, nodes),
		child: none(), next: none(), prev: none(),
	}
}

// join is the lowest node that is above both, or one of them.
func (t *tree) join(a, b int32) int32 {
	for a != b {
		if t.depth[a] >= t.depth[b] {
			a = t.parent[a]
		} else {
			b = t.parent[b]
		}
	}
	return a
}

// hang puts a node below a parent.
func (t *tree) hang(v, parent, arc int32) {
	t.parent[v], t.arc[v] = parent, arc
	t.prev[v], t.next[v] = -1, t.child[parent]
	if t.next[v] >= 0 {
		t.prev[t.next[v]] = v
	}
	t.child[parent] = v
}

// cut takes a node from its parent.
func (t *tree) cut(v int32) {
	if t.prev[v] >= 0 {
		t.next[t.prev[v]] = t.next[v]
	} else {
		t.child[t.parent[v]] = t.next[v]
	}
	if t.next[v] >= 0 {
		t.prev[t.next[v]] = t.prev[v]
	}
}
