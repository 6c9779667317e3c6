package experiment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// unequal has one small node, and two large ones with GPUs.
const unequal = `
[[site]]
name = "one"

[[site.node_group]]
nodes = 1
cpus = 3
memory = "4GB"

[[site.node_group]]
nodes = 2
cpus = 8
memory = "64GB"
features = ["large"]
resources = ["gpu:a100:2", "nic"]

[[workload]]
site = "one"
trace = %q
requests = %q
`

// TestUnequalNodes: jobs of a site whose nodes are not alike run on those nodes that have what they ask for, at
// once as long as these have room, and one that no node serves does not run.
func TestUnequalNodes(t *testing.T) {
	t.Parallel()
	var trace strings.Builder
	for job, cpus := range []int{8, 8, 3, 1, 1, 9} {
		fmt.Fprintf(&trace, "%d 0 -1 10 %d -1 -1 %d 20 -1 1 1 1 1 1 1 -1 -1\n", job+1, cpus, cpus)
	}
	// The first two fill the large nodes, the third the small one. The fourth waits for a GPU that is free, as its CPUs
	// are not, the fifth asks for more GPUs than a node has, and the last one for a node with so much memory.
	requests := "job_id,resources,features,memory_mb\n1,,large,\n2,,large,\n3,,,\n4,gpu:1,,\n5,gpu:3,,\n6,,,128000\n"
	plan := opened(t, fmt.Sprintf(unequal, write(t, "jobs.swf", trace.String()), write(t, "requests.csv", requests)))
	placements := run(t, plan, experiment.Local, 1).Result.Placements
	var starts []protocol.Instant
	for _, p := range placements {
		if p.End == 0 {
			starts = append(starts, -1)
			continue
		}
		starts = append(starts, p.Start)
	}
	if want := []protocol.Instant{0, 0, 0, 10_000, -1, -1}; !slices.Equal(starts, want) {
		t.Errorf("starts at %v, want %v", starts, want)
	}
}

// TestNodeGroupsAreChecked: what does not go together is an error that names the table.
func TestNodeGroupsAreChecked(t *testing.T) {
	t.Parallel()
	trace := write(t, "jobs.swf", "1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n")
	text := fmt.Sprintf(unequal, trace, write(t, "requests.csv", "job_id\n1\n"))
	for _, c := range []struct{ replace, with, want string }{
		{"nodes = 2\ncpus = 8", "nodes = 0\ncpus = 8", "site[one].node_group[2]: has 0 nodes of 8 CPUs"},
		{`["gpu:a100:2", "nic"]`, `["gpu:x y"]`, `site[one].node_group[2]: "gpu:x y"`},
		{"[[site.node_group]]\nnodes = 1", "[site.localsched]\ncpus = 20\n[[site.node_group]]\nnodes = 1", "site[one].localsched.cpus: is 20, and the tables [[site.node_group]] have 19"},
		{"[[site.node_group]]\nnodes = 1", "[site.localsched]\nmachine = \"whole-node\"\n[[site.node_group]]\nnodes = 1", "site[one].localsched.machine"},
		{"[[site.node_group]]\nnodes = 1", "[site.localsched]\nfeatures = [\"a\"]\n[[site.node_group]]\nnodes = 1", "site[one].node_group: states devices and features by node"},
	} {
		if !strings.Contains(text, c.replace) {
			t.Fatalf("%q is not in the plan", c.replace)
		}
		_, err := experiment.Read(write(t, "plan.toml", strings.Replace(text, c.replace, c.with, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.with, err, c.want)
		}
	}
}
