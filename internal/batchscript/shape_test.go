package batchscript_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLayout: options about tasks come to the CPUs that sbatch would allocate for them, and
// stay what they were.
func TestLayout(t *testing.T) {
	t.Parallel()
	type layout = protocol.Layout
	for options, want := range map[string]protocol.Request{
		"":                              {CPUs: 1},
		"-n 1":                          {CPUs: 1, Layout: layout{Tasks: 1}},
		"-n 2 -c 2":                     {CPUs: 4, Layout: layout{Tasks: 2, CPUsPerTask: 2}},
		"-c 4":                          {CPUs: 4, Layout: layout{CPUsPerTask: 4}},
		"-N 2":                          {CPUs: 2, Nodes: 2, Layout: layout{MaxNodes: 2}},
		"-N 2 -c 3":                     {CPUs: 6, Nodes: 2, Layout: layout{CPUsPerTask: 3, MaxNodes: 2}},
		"-N 2 -n 5":                     {CPUs: 5, Nodes: 2, Layout: layout{Tasks: 5, MaxNodes: 2}},
		"-N 2 --ntasks-per-node=2":      {CPUs: 4, Nodes: 2, Layout: layout{TasksPerNode: 2, MaxNodes: 2}},
		"-N2 --ntasks-per-node=2 -c2":   {CPUs: 8, Nodes: 2, Layout: layout{TasksPerNode: 2, CPUsPerTask: 2, MaxNodes: 2}},
		"-n 7 --ntasks-per-node=3":      {CPUs: 7, Layout: layout{Tasks: 7, TasksPerNode: 3}},
		"-N2-4 -n7 --ntasks-per-node=2": {CPUs: 7, Nodes: 2, Layout: layout{Tasks: 7, TasksPerNode: 2, MaxNodes: 4}},
		"-N 2-4":                        {CPUs: 2, Nodes: 2, Layout: layout{MaxNodes: 2}},
		"-N 2-4 -n 3":                   {CPUs: 3, Nodes: 2, Layout: layout{Tasks: 3, MaxNodes: 3}},
		"-n 1 -N 3":                     {CPUs: 1, Nodes: 1, Layout: layout{Tasks: 1, MaxNodes: 1}},
		"--cpus=8":                      {CPUs: 8},
		"--cpus=8 -N2":                  {CPUs: 8, Nodes: 2, Layout: layout{MaxNodes: 2}},
	} {
		job, _ := read(t, script("#SWITCHYARD "+options))
		got := protocol.Request{CPUs: job.Spec.CPUs, Nodes: job.Spec.Nodes, Layout: job.Spec.Layout}
		if !got.Equal(want) {
			t.Errorf("%q: got %+v, want %+v", options, got, want)
		}
		if err := got.CheckLayout(); err != nil {
			t.Errorf("%q: %v", options, err)
		}
	}
}

// TestLayoutsThatSayTwoThings: what sbatch refuses is refused, and what it changes with a
// warning is noticed, as is what is left out.
func TestLayoutsThatSayTwoThings(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"-n3 -N2 --ntasks-per-node=1":     "job.sh:2: --ntasks-per-node: allows 2 tasks on 2 nodes; the job has 3",
		"-n 9 -N 2-4 --ntasks-per-node=2": "job.sh:2: --ntasks-per-node: allows 8 tasks on 4 nodes; the job has 9",
		"-n 0":                            `job.sh:2: --ntasks: "0" is not a whole number from 1 to 1000000`,
	} {
		if got := problemsOf(t, script("#SBATCH "+options)); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", options, got, want)
		}
	}
	for options, want := range map[string]string{
		"-n 1 -N 3": "job.sh:2: --nodes: each node has a task at least, so the job gets 1 instead of 3",
	} {
		if _, got := read(t, script("#SWITCHYARD "+options)); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %q, want %q", options, got, want)
		}
	}
}

// TestNoSites: an empty list of sites takes back that of the script, as in update.
func TestNoSites(t *testing.T) {
	t.Parallel()
	job, _ := read(t, script("#SWITCHYARD --sites=aurora"), batchscript.Setting{Long: "sites"})
	if job.Spec.Sites != nil {
		t.Errorf("may run at %v only", job.Spec.Sites)
	}
}

// Memory of each CPU is asked for on as many nodes as the tasks need.
func TestMemoryPerCPUFollowsTheNodes(t *testing.T) {
	t.Parallel()
	job, _ := read(t, script("#SBATCH -n 8 --ntasks-per-node=2 -c 3 --mem-per-cpu=1G"))
	if job.Spec.MemoryMB != 6<<10 {
		t.Errorf("%d MB a node, want those of 2 tasks of 3 CPUs", job.Spec.MemoryMB)
	}
}
