package commonv1

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeCapacity converts a capacity.
func EncodeCapacity(c protocol.Capacity) *Capacity {
	return &Capacity{
		Cpus: int64(c.CPUs), Nodes: int64(c.Nodes), NodeCpus: int64(c.NodeCPUs), MemoryMb: c.MemoryMB, WholeNode: c.WholeNode,
		MaxWallTimeMs: wire.EncodeSpan(c.MaxWallTime), Mhz: int64(c.MHz), Mflops: int64(c.Mflops), Machine: encodeMachine(c.Machine),
		Groups: wire.Convert(c.Groups, encodeGroup), Shared: wire.Convert(c.Shared, encodeResource), Exclusive: c.Exclusive,
		Containers: c.Containers,
	}
}

// DecodeCapacity converts a capacity.
func DecodeCapacity(m *Capacity) protocol.Capacity {
	return protocol.Capacity{
		CPUs: wire.Narrow(m.GetCpus()), Nodes: wire.Narrow(m.GetNodes()), NodeCPUs: wire.Narrow(m.GetNodeCpus()), MemoryMB: m.GetMemoryMb(),
		WholeNode: m.GetWholeNode(), MaxWallTime: wire.DecodeSpan(m.GetMaxWallTimeMs()), MHz: wire.Narrow(m.GetMhz()),
		Mflops: wire.Narrow(m.GetMflops()), Machine: decodeMachine(m.GetMachine()),
		Groups: wire.Convert(m.GetGroups(), decodeGroup), Shared: wire.Convert(m.GetShared(), decodeResource), Exclusive: m.GetExclusive(),
		Containers: m.GetContainers(),
	}
}

// CheckCapacity checks a capacity.
func CheckCapacity(c protocol.Capacity) error {
	return wire.In("capacity", wire.First(
		wire.Count("cpus", c.CPUs),
		wire.Count("nodes", c.Nodes),
		wire.Count("node_cpus", c.NodeCPUs),
		wire.Amount("memory_mb", c.MemoryMB),
		wire.Amount("max_wall_time_ms", c.MaxWallTime),
		wire.Count("mhz", c.MHz),
		wire.Count("mflops", c.Mflops),
		checkMachine(c.Machine),
		c.CheckGroups(),
	))
}

func encodeGroup(g protocol.NodeGroup) *NodeGroup {
	return &NodeGroup{
		Nodes: int64(g.Nodes), Cpus: int64(g.CPUs), MemoryMb: g.MemoryMB,
		Resources: wire.Convert(g.Resources, encodeResource), Features: g.Features,
	}
}

func decodeGroup(m *NodeGroup) protocol.NodeGroup {
	return protocol.NodeGroup{
		Nodes: wire.Narrow(m.GetNodes()), CPUs: wire.Narrow(m.GetCpus()), MemoryMB: m.GetMemoryMb(),
		Resources: wire.Convert(m.GetResources(), decodeResource), Features: m.GetFeatures(),
	}
}

func encodeResource(r protocol.Resource) *Resource {
	return &Resource{Name: r.Name, Type: r.Type, Count: int64(r.Count), Per: Per(r.Per)}
}

func decodeResource(m *Resource) protocol.Resource {
	return protocol.Resource{Name: m.GetName(), Type: m.GetType(), Count: wire.Narrow(m.GetCount()), Per: decodePer(m.GetPer())}
}

// decodePer keeps an unknown value unknown.
func decodePer(p Per) protocol.Per {
	if p < 0 || p > math.MaxUint8 {
		return math.MaxUint8
	}
	return protocol.Per(p)
}

func encodeMachine(m protocol.Machine) *Machine {
	if m == (protocol.Machine{}) {
		return nil
	}
	return &Machine{Flops: m.Flops, Words: m.Words, Network: m.Network, LatencyNs: m.Latency, Bus: m.Bus}
}

func decodeMachine(m *Machine) protocol.Machine {
	return protocol.Machine{
		Flops: m.GetFlops(), Words: m.GetWords(), Network: m.GetNetwork(), Latency: m.GetLatencyNs(), Bus: m.GetBus(),
	}
}

func checkMachine(m protocol.Machine) error {
	return wire.In("machine", wire.First(
		wire.Amount("flops", m.Flops),
		wire.Amount("words", m.Words),
		wire.Amount("network", m.Network),
		wire.Amount("latency_ns", m.Latency),
	))
}

// EncodeLoad converts a load.
func EncodeLoad(l protocol.Load) *Load {
	m := &Load{
		Cpus: int64(l.CPUs), Busy: int64(l.Busy),
		QueuedJobs: int64(l.QueuedJobs), QueuedWorkMs: l.QueuedWork, BenefitPpm: int64(l.Benefit),
		PowerIdledCpus: int64(l.PowerIdledCPUs), DrawMw: l.Draw,
	}
	if l.Budget.Active {
		m.BudgetMw = &l.Budget.Milliwatts
	}
	return m
}

// DecodeLoad converts a load. It must be there: an absent one would say that the machine has no
// CPUs.
func DecodeLoad(m *Load) (protocol.Load, error) {
	l := protocol.Load{
		CPUs: wire.Narrow(m.GetCpus()), Busy: wire.Narrow(m.GetBusy()),
		QueuedJobs: wire.Narrow(m.GetQueuedJobs()), QueuedWork: m.GetQueuedWorkMs(), Benefit: wire.Narrow(m.GetBenefitPpm()),
		PowerIdledCPUs: wire.Narrow(m.GetPowerIdledCpus()), Draw: m.GetDrawMw(),
	}
	if m != nil && m.BudgetMw != nil {
		l.Budget = protocol.ActiveBudget(m.GetBudgetMw())
	}
	return l, wire.Present("load", m != nil)
}

// CheckLoad checks a load.
func CheckLoad(l protocol.Load) error {
	return wire.In("load", wire.First(
		wire.Count("cpus", l.CPUs),
		wire.Count("busy", l.Busy),
		wire.Count("queued_jobs", l.QueuedJobs),
		wire.Amount("queued_work_ms", l.QueuedWork),
		wire.Count("benefit_ppm", l.Benefit),
		wire.Count("power_idled_cpus", l.PowerIdledCPUs),
		wire.Amount("draw_mw", l.Draw),
		wire.Amount("budget_mw", l.Budget.Milliwatts),
	))
}
