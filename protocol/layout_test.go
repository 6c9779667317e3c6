package protocol_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLayouts: what a job's tasks come to. The numbers of nodes are those of sbatch.
func TestLayouts(t *testing.T) {
	t.Parallel()
	type layout = protocol.Layout
	for name, tt := range map[string]struct {
		r                     protocol.Request
		tasks, cpus           int
		stated                bool
		least, nodeCPUs, of4s int
		spread                []int
	}{
		"CPUs alone":      {protocol.Request{CPUs: 6}, 6, 1, true, 0, 1, 2, []int{6}},
		"nothing":         {protocol.Request{CPUs: 1}, 1, 1, false, 0, 1, 1, []int{1}},
		"-N 2":            {protocol.Request{CPUs: 2, Nodes: 2, Layout: layout{MaxNodes: 2}}, 2, 1, false, 2, 1, 2, []int{1, 1}},
		"--cpus=5 -N 2":   {protocol.Request{CPUs: 5, Nodes: 2, Layout: layout{MaxNodes: 2}}, 5, 1, true, 2, 3, 2, []int{3, 2}},
		"-n 3 -c 3":       {protocol.Request{CPUs: 9, Layout: layout{Tasks: 3, CPUsPerTask: 3}}, 3, 3, true, 0, 3, 3, []int{3}},
		"-c 4":            {protocol.Request{CPUs: 4, Layout: layout{CPUsPerTask: 4}}, 1, 4, false, 0, 4, 1, []int{1}},
		"-N2 tpn=2 -c2":   {protocol.Request{CPUs: 8, Nodes: 2, Layout: layout{TasksPerNode: 2, CPUsPerTask: 2, MaxNodes: 2}}, 4, 2, true, 2, 4, 2, []int{2, 2}},
		"-n 7 tpn=3":      {protocol.Request{CPUs: 7, Layout: layout{Tasks: 7, TasksPerNode: 3}}, 7, 1, true, 3, 1, 3, []int{3, 2, 2}},
		"-n 5 -N 2":       {protocol.Request{CPUs: 5, Nodes: 2, Layout: layout{Tasks: 5, MaxNodes: 2}}, 5, 1, true, 2, 3, 2, []int{3, 2}},
		"-n 5 -N 2-4 -c2": {protocol.Request{CPUs: 10, Nodes: 2, Layout: layout{Tasks: 5, CPUsPerTask: 2, MaxNodes: 4}}, 5, 2, true, 2, 4, 3, []int{3, 2}},
	} {
		r := tt.r
		if err := r.CheckLayout(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r.Tasks() != tt.tasks || r.CPUsPerTask() != tt.cpus || r.StatesTasks() != tt.stated {
			t.Errorf("%s: %d tasks of %d CPUs, stated: %t", name, r.Tasks(), r.CPUsPerTask(), r.StatesTasks())
		}
		if r.LeastNodes() != tt.least || r.NodeCPUs() != tt.nodeCPUs || r.NodesOf(4) != tt.of4s {
			t.Errorf("%s: at least %d nodes, of %d CPUs; %d of 4", name, r.LeastNodes(), r.NodeCPUs(), r.NodesOf(4))
		}
		if got := r.Spread(); !slices.Equal(got, tt.spread) {
			t.Errorf("%s: spread %v, want %v", name, got, tt.spread)
		}
	}
}

func TestLayoutsThatContradict(t *testing.T) {
	t.Parallel()
	type layout = protocol.Layout
	for name, tt := range map[string]struct {
		r   protocol.Request
		why string
	}{
		"negative":      {protocol.Request{CPUs: 1, Layout: layout{Tasks: -1}}, "asks for -1 tasks"},
		"too many":      {protocol.Request{CPUs: 1, Layout: layout{CPUsPerTask: math.MaxInt32 + 1}}, "CPUs a task"},
		"fewer CPUs":    {protocol.Request{CPUs: 4, Layout: layout{Tasks: 4, CPUsPerTask: 2}}, "asks for 4 CPUs, but its 4 tasks of 2 CPUs"},
		"more CPUs":     {protocol.Request{CPUs: 8, Nodes: 2, Layout: layout{TasksPerNode: 2}}, "asks for 8 CPUs, but its 4 tasks"},
		"more than fit": {protocol.Request{CPUs: math.MaxInt32, Nodes: math.MaxInt32, Layout: layout{TasksPerNode: math.MaxInt32, CPUsPerTask: math.MaxInt32}}, "make another number"},
		"idle nodes":    {protocol.Request{CPUs: 2, Nodes: 3, Layout: layout{Tasks: 2}}, "2 tasks on 3 nodes"},
		"no room":       {protocol.Request{CPUs: 5, Nodes: 2, Layout: layout{Tasks: 5, TasksPerNode: 2, MaxNodes: 2}}, "2 on each of 2 nodes are fewer"},
		"a wrong range": {protocol.Request{CPUs: 5, Nodes: 3, Layout: layout{MaxNodes: 2}}, "3 nodes at least and 2 at most"},
	} {
		if err := tt.r.CheckLayout(); err == nil || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v, want %q", name, err, tt.why)
		}
	}
}

// TestSpreadKeepsTheLayout: of a layout that is no contradiction every task has its place, and
// no node is idle or has more tasks than were asked for.
func TestSpreadKeepsTheLayout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := func(what string, least int) int { return rapid.IntRange(least, 40).Draw(t, what) }
		r := protocol.Request{Nodes: count("nodes", 0)}
		r.Layout = protocol.Layout{Tasks: count("tasks", 1), TasksPerNode: count("a node", 0), CPUsPerTask: count("CPUs", 0), MaxNodes: count("most", 0)}
		r.CPUs = r.Layout.Tasks * r.CPUsPerTask()
		if r.CheckLayout() != nil {
			t.Skip("a contradiction")
		}
		sum := 0
		for _, n := range r.Spread() {
			if sum += n; n < 1 || r.Layout.TasksPerNode > 0 && n > r.Layout.TasksPerNode {
				t.Fatalf("%+v: %d tasks on a node", r, n)
			}
		}
		nodes := len(r.Spread())
		if sum != r.Tasks() || nodes < r.Nodes || r.Layout.MaxNodes > 0 && nodes > r.Layout.MaxNodes {
			t.Fatalf("%+v: %d tasks on %d nodes", r, sum, nodes)
		}
	})
}
