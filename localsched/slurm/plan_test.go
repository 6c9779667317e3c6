package slurm_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// needs that may or may not fit on nodes of up to 8 CPUs, 8 MB and 3 devices.
func drawNeed(t *rapid.T, nodes int) slurm.Need {
	n := slurm.Need{
		CPUs: rapid.IntRange(1, 12).Draw(t, "cpus"), Whole: rapid.IntRange(0, 4).Draw(t, "whole") == 0,
		NodeCPUs: rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "each"), Limit: protocol.Duration(rapid.Int64Range(1, 9).Draw(t, "limit")),
	}
	switch rapid.IntRange(0, 2).Draw(t, "memory") {
	case 1:
		n.NodeMB = rapid.Int64Range(1, 9).Draw(t, "of each")
	case 2:
		n.CPUMB = rapid.Int64Range(1, 3).Draw(t, "for each")
	}
	if rapid.Bool().Draw(t, "says nodes") {
		n.On = rapid.IntRange(1, 3).Draw(t, "on")
		n.CPUs, n.Exact = max(n.CPUs, n.On), rapid.Bool().Draw(t, "exact")
	}
	n.Task = rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "task")
	n.CPUs *= n.Task
	if rapid.IntRange(0, 2).Draw(t, "devices") == 0 {
		n.Devices = [2]int32{rapid.Int32Range(0, 3).Draw(t, "on each node"), rapid.Int32Range(0, 2).Draw(t, "for each task")}
	}
	for i := range nodes {
		if i == 0 || rapid.IntRange(0, 3).Draw(t, "may have") > 0 {
			n.Nodes = append(n.Nodes, i)
		}
	}
	return n
}

func drawPlan(t *rapid.T) (p *slurm.Plan, sizes [][3]int) {
	for range rapid.IntRange(1, 4).Draw(t, "nodes") {
		sizes = append(sizes, [3]int{rapid.IntRange(0, 8).Draw(t, "cpus"), rapid.IntRange(1, 8).Draw(t, "mb"), rapid.IntRange(0, 3).Draw(t, "devices")})
	}
	p = slurm.NewPlan(sizes)
	for range rapid.IntRange(0, 3).Draw(t, "reservations") {
		start := protocol.Instant(rapid.Int64Range(0, 20).Draw(t, "start"))
		p.Reserve(rapid.IntRange(0, len(sizes)-1).Draw(t, "node"), start, start+protocol.Instant(rapid.Int64Range(1, 9).Draw(t, "length")))
	}
	return p, sizes
}

// fits says, by looking at every instant, whether a job fits from one on.
func fits(p *slurm.Plan, sizes [][3]int, n slurm.Need, from protocol.Instant) bool {
	var offers []int
	for _, node := range n.Nodes {
		least := n.CPUs
		for at := from; at < from.Add(n.Limit); at++ {
			cpus, mb, devices := p.Free(node, at)
			devices -= int(n.Devices[0])
			if n.Whole && cpus < sizes[node][0] || mb < n.NodeMB || devices < 0 {
				cpus = 0
			}
			if each := int(n.Devices[1]); each > 0 {
				cpus = min(cpus, devices/each*n.Task)
			}
			if n.NodeCPUs > 0 {
				cpus = min(cpus, n.NodeCPUs)
			}
			if n.CPUMB > 0 {
				cpus = min(cpus, int(mb/n.CPUMB))
			}
			least = min(least, cpus-cpus%n.Task)
		}
		if least > 0 {
			offers = append(offers, least)
		}
	}
	if len(offers) < max(1, n.On) {
		return false
	}
	slices.Sort(offers)
	slices.Reverse(offers)
	if n.Exact {
		offers = offers[:n.On]
	}
	sum := 0
	for _, cpus := range offers {
		sum += cpus
	}
	return sum >= n.CPUs
}

// TestPlan: each job starts at the first instant at which it fits until its end, and takes what
// it needs of nodes that have it: never more than there is, never what is reserved.
func TestPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, sizes := drawPlan(t)
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			n := drawNeed(t, len(sizes))
			from := protocol.Instant(rapid.SampledFrom([]int64{0, 0, 0, 4}).Draw(t, "from"))
			times := slices.DeleteFunc(append(p.Times(), from), func(at protocol.Instant) bool { return at < from })
			slices.Sort(times)
			want := protocol.Instant(-1)
			if i := slices.IndexFunc(times, func(at protocol.Instant) bool { return fits(p, sizes, n, at) }); i >= 0 {
				want = times[i]
			}
			before := p
			p = p.Clone()
			got := p.Add(n, from)
			if got != want {
				t.Fatalf("%+v starts at %d, want %d", n, got, want)
			}
			if got >= 0 {
				checkUse(t, before, p, sizes, n, got)
			}
		}
	})
}

// checkUse compares what is free before and after a job was added.
func checkUse(t *rapid.T, before, after *slurm.Plan, sizes [][3]int, n slurm.Need, start protocol.Instant) {
	for _, at := range append(after.Times(), start) {
		cpus, nodes := 0, 0
		for i := range sizes {
			wasCPUs, wasMB, hadDevices := before.Free(i, at)
			isCPUs, isMB, hasDevices := after.Free(i, at)
			used, mb, devices := wasCPUs-isCPUs, wasMB-isMB, hadDevices-hasDevices
			if used == 0 && mb == 0 && devices == 0 {
				continue
			}
			if want := int(n.Devices[0]) + used/n.Task*int(n.Devices[1]); !n.Whole && devices != want || n.Whole && devices != hadDevices {
				t.Fatalf("%+v has %d devices of node %d, want %d", n, devices, i, want)
			}
			nodes++
			share := used
			if n.Whole {
				if used != sizes[i][0] {
					t.Fatalf("%+v has %d of %d CPUs of node %d", n, used, sizes[i][0], i)
				}
				share = 0
			}
			cpus += used
			if !n.Whole && mb != n.NodeMB+int64(share)*n.CPUMB || n.NodeCPUs > 0 && share > n.NodeCPUs || share%n.Task > 0 || !slices.Contains(n.Nodes, i) {
				t.Fatalf("%+v has %d CPUs and %d MB of node %d", n, used, mb, i)
			}
		}
		switch runs := at >= start && at < start.Add(n.Limit); {
		case !runs && (cpus > 0 || nodes > 0):
			t.Fatalf("%+v, from %d on, has %d CPUs at %d", n, start, cpus, at)
		case runs && (cpus < n.CPUs || !n.Whole && cpus > n.CPUs || nodes < n.On || n.Exact && nodes > n.On):
			t.Fatalf("%+v has %d CPUs on %d nodes at %d", n, cpus, nodes, at)
		}
	}
}

// TestPlanWithFewerJobs: with fewer jobs before it no job starts later, and a plan that was made
// from another leaves that one alone.
func TestPlanWithFewerJobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, sizes := drawPlan(t)
		last := drawNeed(t, len(sizes))
		at := p.Starts(last, 0)
		for range rapid.IntRange(1, 10).Draw(t, "jobs") {
			base := p
			p = p.Clone()
			p.Add(drawNeed(t, len(sizes)), 0)
			next := p.Starts(last, 0)
			if next >= 0 && (at < 0 || next < at) {
				t.Fatalf("%+v starts at %d, and before one more job at %d", last, next, at)
			}
			if again := base.Starts(last, 0); again != at {
				t.Fatalf("%+v starts at %d, and after another plan was made at %d", last, at, again)
			}
			at = next
		}
	})
}
