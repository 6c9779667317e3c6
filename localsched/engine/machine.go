package engine

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Machine is a machine model: how a machine is divided among jobs. It is immutable;
// a [FreeSet] has the units that are free.
type Machine interface {
	Capacity() protocol.Capacity
	// Units is what a request takes of the machine, at least 1. The reason says
	// why it would not run on the empty machine; it is empty when it would.
	Units(r protocol.Request) (units int, reason string)
	// CPUs is the number of CPUs that are busy when a number of units is allocated.
	CPUs(units int) int
	// NewFreeSet returns the free set of the empty machine.
	NewFreeSet() FreeSet
	// Pool says that units are alike: any units that are free serve any job, if what else
	// it takes is free as well, and it does not matter where they are.
	Pool() bool
}

// Demand is what a job takes of a machine.
type Demand struct {
	Units int
	// What it takes beside units, by a number that the engine's core gives; 0: nothing.
	// A [FreeSet] of a machine without resources need not look at it.
	Extras int32
}

// FreeSet is the set of free units of a machine at one time, now or in a plan.
type FreeSet interface {
	// Free is the number of units free. Nothing larger fits.
	Free() int
	// Find is a place for a job that is free here and, unless beside is nil, in
	// beside too.
	Find(demand Demand, beside FreeSet) (place Place, ok bool)
	// Has reports whether a place is free.
	Has(demand Demand, place Place) bool
	// Intersect removes what is not free in another set of the same machine.
	Intersect(other FreeSet)
	// Allocate and Release change what is free. The place comes from Find.
	Allocate(demand Demand, place Place)
	Release(demand Demand, place Place)
	// CopyFrom copies another set of the same machine.
	CopyFrom(other FreeSet)
}

// Place is where a job runs, in the numbers of its machine model: a partition,
// for example. In a pool every place is 0.
type Place int32

// WholeNode is a machine whose nodes run one job at a time. A unit is a node; a
// job takes as many as it asks for or as its CPUs, or its tasks, need, whichever is more.
// What the capacity states of resources and of groups of nodes is counted beside units.
func WholeNode(capacity protocol.Capacity) Machine { return withResources(wholeNode{capacity}) }

type wholeNode struct{ capacity protocol.Capacity }

func (m wholeNode) Capacity() protocol.Capacity { return m.capacity }

// Units shares the CPUs evenly over the nodes, so that a machine whose nodes
// differ a little still takes a job for all its CPUs.
func (m wholeNode) Units(r protocol.Request) (units int, reason string) {
	if reason = m.capacity.Fits(r); reason != "" {
		return 0, reason
	}
	if m.capacity.Nodes < 1 || m.capacity.CPUs < 1 {
		return 0, "the site has no nodes"
	}
	nodes := max(1, r.LeastNodes(), int(ceil(int64(r.CPUs)*int64(m.capacity.Nodes), int64(m.capacity.CPUs))))
	if cpus := m.capacity.NodeCPUs; r.Layout.Divided() && cpus*m.capacity.Nodes == m.capacity.CPUs {
		nodes = max(nodes, r.NodesOf(cpus)) // they are alike
	}
	if most := r.Layout.MaxNodes; most > 0 {
		nodes = min(nodes, most)
	}
	if nodes > m.capacity.Nodes {
		return 0, fmt.Sprintf("needs %d nodes, since its tasks stay whole, the site has %d", nodes, m.capacity.Nodes)
	}
	return nodes, ""
}

func (m wholeNode) CPUs(units int) int {
	return int(int64(units) * int64(m.capacity.CPUs) / int64(max(1, m.capacity.Nodes)))
}

func (m wholeNode) NewFreeSet() FreeSet { return &pool{m.capacity.Nodes} }

func (m wholeNode) Pool() bool { return true }

// PerCPU is a machine whose nodes are shared by jobs, seen as one pool of CPUs. A
// unit is a CPU; a job that asks for more than its CPUs' share of the memory is
// charged for the CPUs that go with it, as Slurm does under MaxMemPerCPU. How
// jobs are packed on nodes is not modelled. A job that asks for nodes of its own is
// charged for all their CPUs. Resources and groups of nodes are counted as by [WholeNode].
func PerCPU(capacity protocol.Capacity) Machine { return withResources(perCPU{capacity}) }

type perCPU struct{ capacity protocol.Capacity }

func (m perCPU) Capacity() protocol.Capacity { return m.capacity }

func (m perCPU) Units(r protocol.Request) (units int, reason string) {
	if reason = m.capacity.Fits(r); reason != "" {
		return 0, reason
	}
	if m.capacity.CPUs < 1 {
		return 0, "the site has no CPUs"
	}
	units = max(1, r.CPUs, m.memoryCPUs(r))
	if r.Exclusive {
		units = max(units, m.nodeCPUs(r))
	}
	return units, ""
}

// nodeCPUs is how many CPUs the nodes of a request have, if it has as few as it can.
func (m perCPU) nodeCPUs(r protocol.Request) int {
	each := ceil(int64(m.capacity.CPUs), int64(max(1, m.capacity.Nodes)))
	each = max(each, int64(m.capacity.NodeCPUs))
	nodes := max(1, int64(r.LeastNodes()), ceil(int64(r.CPUs), each))
	return int(min(nodes*each, int64(m.capacity.CPUs)))
}

// memoryCPUs is how many CPUs go with the memory of a request, over all the
// nodes that it asks for.
func (m perCPU) memoryCPUs(r protocol.Request) int {
	if m.capacity.MemoryMB <= 0 {
		return 0
	}
	total := m.capacity.MemoryMB * int64(max(1, m.capacity.Nodes))
	asked := min(r.TotalMemoryMB(), total+1) // more needs more CPUs than there are
	return int(ceil(asked*int64(m.capacity.CPUs), total))
}

func (m perCPU) CPUs(units int) int { return units }

func (m perCPU) NewFreeSet() FreeSet { return &pool{m.capacity.CPUs} }

func (m perCPU) Pool() bool { return true }

// ceil is a/b rounded up, 0 for a negative a.
func ceil(a, b int64) int64 {
	if a <= 0 {
		return 0
	}
	return (a-1)/b + 1
}

// pool is the free set of a machine whose units are alike.
type pool struct{ free int }

func (p *pool) Free() int { return p.free }

func (p *pool) Find(demand Demand, beside FreeSet) (place Place, ok bool) {
	return 0, demand.Units <= p.free && (beside == nil || demand.Units <= beside.Free())
}

func (p *pool) Has(demand Demand, _ Place) bool { return demand.Units <= p.free }

func (p *pool) Intersect(other FreeSet) { p.free = min(p.free, other.Free()) }

func (p *pool) Allocate(demand Demand, _ Place) { p.free -= demand.Units }

func (p *pool) Release(demand Demand, _ Place) { p.free += demand.Units }

func (p *pool) CopyFrom(other FreeSet) { p.free = other.Free() }

// Of is the model of a machine with this capacity.
func Of(capacity protocol.Capacity) Machine {
	if capacity.WholeNode {
		return WholeNode(capacity)
	}
	return PerCPU(capacity)
}
