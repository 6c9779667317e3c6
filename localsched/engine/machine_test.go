package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestUnits(t *testing.T) {
	t.Parallel()
	whole := engine.WholeNode(protocol.Capacity{CPUs: 16, Nodes: 4, MemoryMB: 1000})
	alike := engine.WholeNode(protocol.Capacity{CPUs: 16, Nodes: 4, NodeCPUs: 4})
	uneven := engine.WholeNode(protocol.Capacity{CPUs: 10, Nodes: 3})
	shared := engine.PerCPU(protocol.Capacity{CPUs: 16, Nodes: 4, MemoryMB: 1000})
	for _, c := range []struct {
		name    string
		machine engine.Machine
		request protocol.Request
		want    int // 0: refused
	}{
		{"whole: a CPU takes a node", whole, protocol.Request{CPUs: 1}, 1},
		{"whole: a full node", whole, protocol.Request{CPUs: 4}, 1},
		{"whole: rounds up", whole, protocol.Request{CPUs: 5}, 2},
		{"whole: nodes count if they are more", whole, protocol.Request{CPUs: 5, Nodes: 3}, 3},
		{"whole: all", whole, protocol.Request{CPUs: 16}, 4},
		{"whole: too many CPUs", whole, protocol.Request{CPUs: 17}, 0},
		{"whole: too many nodes", whole, protocol.Request{CPUs: 1, Nodes: 5}, 0},
		{"whole: too much memory on a node", whole, protocol.Request{CPUs: 1, MemoryMB: 1001}, 0},
		{"whole: nothing asked", whole, protocol.Request{}, 1},
		{"whole: tasks stay whole", alike, protocol.Request{CPUs: 9, Layout: protocol.Layout{Tasks: 3, CPUsPerTask: 3}}, 3},
		{"whole: a task has too many CPUs", alike, protocol.Request{CPUs: 5, Layout: protocol.Layout{CPUsPerTask: 5}}, 0},
		{"whole: tasks apart", alike, protocol.Request{CPUs: 4, Layout: protocol.Layout{Tasks: 4, TasksPerNode: 1}}, 4},
		{"whole: too many tasks apart", alike, protocol.Request{CPUs: 5, Layout: protocol.Layout{Tasks: 5, TasksPerNode: 1}}, 0},
		{"whole: whole tasks need too many nodes", alike, protocol.Request{CPUs: 15, Layout: protocol.Layout{Tasks: 5, CPUsPerTask: 3}}, 0},
		{"whole: no more nodes than allowed", uneven, protocol.Request{CPUs: 4, Nodes: 1, Layout: protocol.Layout{Tasks: 4, MaxNodes: 1}}, 1},
		{"uneven: all CPUs", uneven, protocol.Request{CPUs: 10}, 3},
		{"uneven: a node's share", uneven, protocol.Request{CPUs: 3}, 1},
		{"uneven: more than a node's share", uneven, protocol.Request{CPUs: 4}, 2},
		{"shared: CPUs", shared, protocol.Request{CPUs: 5}, 5},
		{"shared: nodes take nothing", shared, protocol.Request{CPUs: 5, Nodes: 3}, 5},
		{"shared: memory within the share", shared, protocol.Request{CPUs: 2, MemoryMB: 500}, 2},
		{"shared: memory beyond the share", shared, protocol.Request{CPUs: 2, MemoryMB: 501}, 3},
		{"shared: memory of each node", shared, protocol.Request{CPUs: 2, Nodes: 2, MemoryMB: 501}, 5},
		{"shared: all memory", shared, protocol.Request{CPUs: 4, Nodes: 4, MemoryMB: 1000}, 16},
		{"shared: too many CPUs", shared, protocol.Request{CPUs: 17}, 0},
		{"shared: nothing asked", shared, protocol.Request{}, 1},
		{"no machine", engine.WholeNode(protocol.Capacity{}), protocol.Request{}, 0},
		{"no machine", engine.PerCPU(protocol.Capacity{}), protocol.Request{}, 0},
	} {
		units, reason := c.machine.Units(c.request)
		if units != c.want || (reason == "") != (c.want > 0) {
			t.Errorf("%s: %d units, reason %q, want %d", c.name, units, reason, c.want)
		}
	}
}

// TestUnitsFit: what the capacity takes never needs more units than there are,
// and whatever the numbers are nothing panics.
func TestUnitsFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		capacity := protocol.Capacity{
			CPUs:     rapid.IntRange(-1, 1000).Draw(t, "CPUs"),
			Nodes:    rapid.IntRange(-1, 100).Draw(t, "nodes"),
			MemoryMB: rapid.Int64Range(-1, 1000).Draw(t, "memory"),
			NodeCPUs: rapid.IntRange(-1, 100).Draw(t, "CPUs of a node"),
		}
		request := protocol.Request{
			CPUs:     rapid.IntRange(-5, 1000).Draw(t, "job CPUs"),
			Nodes:    rapid.IntRange(-5, 100).Draw(t, "job nodes"),
			MemoryMB: rapid.Int64Range(-5, 1000).Draw(t, "job memory"),
			Layout: protocol.Layout{
				Tasks:        rapid.IntRange(0, 100).Draw(t, "tasks"),
				TasksPerNode: rapid.IntRange(0, 10).Draw(t, "tasks a node"),
				CPUsPerTask:  rapid.IntRange(0, 10).Draw(t, "CPUs a task"),
				MaxNodes:     rapid.IntRange(0, 100).Draw(t, "most nodes"),
			},
		}
		for _, m := range []engine.Machine{engine.WholeNode(capacity), engine.PerCPU(capacity)} {
			units, reason := m.Units(request)
			if reason != "" {
				continue
			}
			if total := m.NewFreeSet().Free(); units < 1 || units > total {
				t.Fatalf("%+v takes %d of %d units", request, units, total)
			}
			if busy := m.CPUs(units); busy < 0 || busy > capacity.CPUs {
				t.Fatalf("%d units are %d of %d CPUs", units, busy, capacity.CPUs)
			}
		}
	})
}
