package workload_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Jobs fit the machine, and what users ask for has a bound only where one is given.
func TestLublinMachine(t *testing.T) {
	t.Parallel()
	for _, longest := range []protocol.Duration{0, 36 * protocol.Hour} {
		grid, err := workload.LublinMachine(workload.LublinOptions{CPUs: 64, Jobs: 300, Load: 1, Longest: longest}, 1)
		if err != nil {
			t.Fatal(err)
		}
		exact := 0
		for _, job := range grid.Jobs {
			if job.CPUs < 1 || job.CPUs > 64 || longest > 0 && job.Estimate > longest {
				t.Errorf("job %+v", job)
			}
			if job.Estimate == job.Run {
				exact++
			}
		}
		if len(grid.Jobs) != 300 || (exact == 300) != (longest == 0) {
			t.Errorf("bound %v: %d jobs, %d ask for what they need", longest, len(grid.Jobs), exact)
		}
	}
	usual, err := workload.LublinMachine(workload.LublinOptions{CPUs: 64, Load: 1}, 1)
	if err != nil || len(usual.Jobs) != 1000 {
		t.Errorf("%v", err)
	}
	if _, err = workload.LublinMachine(workload.LublinOptions{Load: 1}, 1); err == nil {
		t.Error("a machine without CPUs draws jobs")
	}
}
