package partition_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

// The classes of Intrepid have all its partitions, from the smallest up, and the whole machine
// conflicts with every other partition for jobs.
func TestClasses(t *testing.T) {
	t.Parallel()
	layout, err := partition.Intrepid()
	if err != nil {
		t.Fatal(err)
	}
	classes := layout.Classes()
	all, forJobs := 0, 0
	for i, c := range classes {
		if i > 0 && c.Nodes <= classes[i-1].Nodes {
			t.Errorf("%d nodes come after %d", c.Nodes, classes[i-1].Nodes)
		}
		all += c.Torus + c.Mesh + c.Diagnostics
		forJobs += c.Torus + c.Mesh
	}
	last := classes[len(classes)-1]
	if all != len(layout.Partitions) || last.Nodes != layout.Nodes() || last.Most != forJobs-1 {
		t.Errorf("%d of %d partitions, the last are %+v of %d", all, len(layout.Partitions), last, forJobs)
	}
	for want, c := range map[string]partition.Class{
		"-": {Diagnostics: 3}, "7": {Torus: 1, Fewest: 7, Most: 7}, "2 to 7": {Mesh: 1, Fewest: 2, Most: 7},
	} {
		if got := c.ConflictsText(); got != want {
			t.Errorf("%+v has %s, want %s", c, got, want)
		}
	}
}
