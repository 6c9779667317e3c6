package slurmtext_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestNiceInJSON: squeue --json has the nice value of a job, null for 0 as Slurm 22.05 prints it, and the priority that it was given.
func TestNiceInJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		nice, priority int64
		want           any
	}{{0, 0, nil}, {100, 7, int64(100)}, {-5, 0, int64(-5)}} {
		job := slurmtext.Job{Job: view.Job{Nice: tt.nice, Conditions: protocol.Conditions{Priority: tt.priority}}, Clock: &slurmtext.Clock{}}
		got := job.JSON()
		if nice, listed := got["nice"]; nice != tt.want || !listed || got["priority"] != tt.priority {
			t.Errorf("%+v: nice %v, priority %v", tt, nice, got["priority"])
		}
	}
}
