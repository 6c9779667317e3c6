package localschedv1

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeCapacity converts a capacity.
func EncodeCapacity(c protocol.Capacity) *Capacity {
	return &Capacity{
		Cpus: int64(c.CPUs), Nodes: int64(c.Nodes), MemoryMb: c.MemoryMB, WholeNode: c.WholeNode,
		MaxWallTime: wire.EncodeSpan(c.MaxWallTime), Mhz: int64(c.MHz), Mflops: int64(c.Mflops),
		Machine: wireMachine(c.Machine), NodeCpus: int64(c.NodeCPUs),
	}
}

// wireMachine leaves out what says nothing.
func wireMachine(m protocol.Machine) *Machine {
	if m == (protocol.Machine{}) {
		return nil
	}
	return &Machine{Flops: m.Flops, Words: m.Words, Network: m.Network, LatencyNs: m.Latency, Bus: m.Bus}
}

func readMachine(m *Machine) protocol.Machine {
	return protocol.Machine{
		Flops: m.GetFlops(), Words: m.GetWords(), Network: m.GetNetwork(), Latency: m.GetLatencyNs(), Bus: m.GetBus(),
	}
}

// DecodeCapacity checks and converts a capacity. The error names the field.
func DecodeCapacity(m *Capacity) (protocol.Capacity, error) {
	machine := readMachine(m.GetMachine())
	if err := wire.In("capacity", wire.First(
		wire.Present("cpus", m.GetCpus() != 0),
		wire.Count("cpus", m.GetCpus()),
		wire.Count("nodes", m.GetNodes()),
		wire.Amount("memory_mb", m.GetMemoryMb()),
		span("max_wall_time", m.GetMaxWallTime()),
		wire.Count("mhz", m.GetMhz()),
		wire.Count("mflops", m.GetMflops()),
		wire.Machine("machine", machine),
		wire.Count("node_cpus", m.GetNodeCpus()),
	)); err != nil {
		return protocol.Capacity{}, err
	}
	return protocol.Capacity{
		CPUs: int(m.GetCpus()), Nodes: int(m.GetNodes()), NodeCPUs: int(m.GetNodeCpus()), MemoryMB: m.GetMemoryMb(), WholeNode: m.GetWholeNode(),
		MaxWallTime: wire.DecodeSpan(m.GetMaxWallTime()), MHz: int(m.GetMhz()),
		Mflops: int(m.GetMflops()), Machine: machine,
	}, nil
}

// EncodeLoad converts a load.
func EncodeLoad(l protocol.Load) *MachineLoad {
	return &MachineLoad{
		Cpus: int64(l.CPUs), Busy: int64(l.Busy), QueuedJobs: int64(l.QueuedJobs), QueuedWork: l.QueuedWork,
		Withheld: int64(l.Withheld), Draw: l.Draw, Budget: l.Budget,
	}
}

// DecodeLoad checks and converts a load, which must be there: an absent one would
// say that the machine has no CPUs. The error names the field.
func DecodeLoad(m *MachineLoad) (protocol.Load, error) {
	if err := wire.First(
		wire.Present("load", m != nil),
		wire.In("load", wire.First(
			wire.Count("cpus", m.GetCpus()),
			wire.Count("busy", m.GetBusy()),
			wire.Count("queued_jobs", m.GetQueuedJobs()),
			wire.Amount("queued_work", m.GetQueuedWork()),
			wire.Count("withheld", m.GetWithheld()),
			wire.Amount("draw", m.GetDraw()),
			wire.Amount("budget", m.GetBudget()),
		)),
	); err != nil {
		return protocol.Load{}, err
	}
	return protocol.Load{
		CPUs: int(m.GetCpus()), Busy: int(m.GetBusy()),
		QueuedJobs: int(m.GetQueuedJobs()), QueuedWork: m.GetQueuedWork(),
		Withheld: int(m.GetWithheld()), Draw: m.GetDraw(), Budget: m.GetBudget(),
	}, nil
}

// EncodeDescription converts what a scheduler says of itself.
func EncodeDescription(d localsched.Description) *DescribeResponse {
	return &DescribeResponse{Name: d.Name, Capacity: EncodeCapacity(d.Capacity), Capabilities: d.Capabilities}
}

// DecodeDescription checks and converts what a scheduler says of itself. The error
// names the field.
func DecodeDescription(m *DescribeResponse) (localsched.Description, error) {
	capacity, err := DecodeCapacity(m.GetCapacity())
	if err = wire.First(
		wire.Required("name", m.GetName(), wire.MaxName),
		wire.Present("capacity", m.GetCapacity() != nil),
		err,
		checkCapabilities(m.GetCapabilities()),
	); err != nil {
		return localsched.Description{}, fmt.Errorf("description: %w", err)
	}
	return localsched.Description{Name: m.GetName(), Capacity: capacity, Capabilities: m.GetCapabilities()}, nil
}

func checkCapabilities(list []string) error {
	if err := wire.AtMost("capabilities", len(list), maxList); err != nil {
		return err
	}
	for i, one := range list {
		if err := wire.Required("name", one, wire.MaxName); err != nil {
			return fmt.Errorf("capabilities[%d]: %w", i, err)
		}
		if i > 0 && list[i-1] >= one {
			return fmt.Errorf("capabilities[%d]: %q does not sort after %q", i, one, list[i-1])
		}
	}
	return nil
}
