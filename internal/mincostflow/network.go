package mincostflow

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

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
// For jobs on systems use [Problem].
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
		high, low := bits.Mul64(units, uint64(max(arc.Cost, -arc.Cost))) //nolint:gosec // not negative
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
