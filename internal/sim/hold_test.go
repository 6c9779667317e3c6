package sim_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSimulatedHolds: the first job has the machine from 1000 on. The second is over by then,
// the third is not; the fourth gives its hold up.
func TestSimulatedHolds(t *testing.T) {
	t.Parallel()
	cfg := sim.Config{
		Seed: 1, Scheme: sim.Distributed, Policy: local.New(), Tuning: rules.RuntimeConfig{RoundJobs: 1},
		Sites: []sim.Site{{Machine: sim.Machine{Name: "one", Nodes: 4, CPUsPerNode: 1, MHz: 1000}, Local: engine.EASY()}},
	}
	batch, err := sim.NewBatch(cfg, []workload.Job{
		{ID: 1, CPUs: 4, Run: 400, Estimate: 500},
		{ID: 2, CPUs: 2, Run: 900, Estimate: 1000},
		{ID: 3, CPUs: 1, Run: 10, Estimate: 1001},
		{ID: 4, CPUs: 4, Run: 10, Estimate: 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	holds := func(job int, from, want protocol.Instant) {
		t.Helper()
		if at, failed := batch.Reserve(job, from); failed != nil || at != want {
			t.Errorf("room for job %d is held from %d on, %v; want %d", job, at, failed, want)
		}
	}
	holds(0, 1000, 1000)
	holds(0, 1000, 1000)
	holds(3, 995, 1500)
	if wait, failed := batch.Wait(2, 3); failed != nil || wait != 1510 {
		t.Errorf("a job that comes after one with a hold waits %d, %v; want 1510", wait, failed)
	}
	for range 2 {
		if err = batch.Release(3); err != nil {
			t.Error(err)
		}
	}
	for _, job := range []int{0, 1, 2} {
		if err = batch.Submit(job); err != nil {
			t.Error(err)
		}
	}
	starts, err := batch.Drain(t.Context())
	if want := []protocol.Instant{1000, 0, 1400, 0}; err != nil || !slices.Equal(starts, want) {
		t.Errorf("started at %d, %v; want %d", starts, err, want)
	}
}

// TestSimulatedHoldsRefused: no room is held for what never fits.
func TestSimulatedHoldsRefused(t *testing.T) {
	t.Parallel()
	cfg := three("")
	batch, err := sim.NewBatch(cfg, []workload.Job{{ID: 1, CPUs: 1 << 20, Run: 1, Estimate: 1}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = batch.Reserve(0, 0)
	if _, refused := errors.AsType[*localsched.RefusedError](err); !refused {
		t.Errorf("got %v, want a refusal", err)
	}
}
