package sim_test

import (
	"math"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// TestMetricsByHand: two sites, the second twice as fast; one of three jobs moved,
// a fourth never ran.
func TestMetricsByHand(t *testing.T) {
	t.Parallel()
	machines := []sim.Machine{
		{Name: "a", Nodes: 4, CPUsPerNode: 1, MHz: 100},
		{Name: "b", Nodes: 2, CPUsPerNode: 1, MHz: 200},
	}
	jobs := []workload.Job{
		{Origin: 0, Submit: 0, Run: 100_000, CPUs: 2},
		{Origin: 0, Submit: 10_000, Run: 100_000, CPUs: 2},
		{Origin: 1, Submit: 20_000, Run: 4_000, CPUs: 1},
		{Origin: 1, Submit: 30_000, Run: 4_000, CPUs: 99},
	}
	r := &sim.Result{
		Placements: []sim.Placement{
			{Site: 0, Start: 0, End: 100_000},
			{Site: 1, Start: 40_000, End: 90_000}, // half as long there
			{Site: 1, Start: 100_000, End: 104_000},
			{Site: -1},
		},
		Traffic: sim.Traffic{Messages: 6, Bytes: 300},
	}
	m := sim.Measure(machines, jobs, r)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	mean := (0.0 + 30 + 80) / 3
	near("jobs", float64(m.Jobs), 3)
	near("unplaced", float64(m.Unplaced), 1)
	near("wait", m.MeanWait, mean)
	near("response", m.MeanResponse, (100.0+80+84)/3)
	near("deviation", m.WaitDeviation, math.Sqrt((0+900+6400)/3.0-mean*mean))
	near("deviation of the paper", m.WaitDeviationPaper, math.Sqrt(0+900+6400-mean*mean)/3)
	near("slowdown", m.BoundedSlowdown, (1+80.0/50+84.0/10)/3)
	near("makespan", m.Makespan, 104)
	near("utilization", m.Utilization, (2*100+2*50+4)/(6*104.0))
	near("efficiency", m.GridEfficiency, (200*100+100*200+4*200)/(104.0*(400+400)))
	near("transferred", m.Transferred, 1/3.0)
	near("messages", m.MessagesPerJob, 2)
	near("bytes", m.BytesPerJob, 100)
	a, b := m.Sites[0], m.Sites[1]
	if a.Site != "a" || a.Submitted != 2 || a.Ran != 1 || a.Sent != 1 || b.Submitted != 2 || b.Ran != 2 || b.Sent != 0 {
		t.Errorf("sites %+v", m.Sites)
	}
	near("a's wait", a.MeanWait, 15)
	near("a's utilization", a.Utilization, 200/400.0)
	near("b's utilization", b.Utilization, 104/(2*84.0))
	near("allocated", m.Allocated, m.Utilization) // CPUs are allocated one by one
	near("b's, allocated", b.Allocated, b.Utilization)
	if none := sim.Measure(machines, nil, &sim.Result{}); none.Jobs != 0 || none.Utilization != 0 || math.IsNaN(none.MeanWait) {
		t.Errorf("of no jobs: %+v", none)
	}
}

// TestWholeNodesAreAllocated: the numbers of [SS 3.2] count the CPUs that jobs use, those of its
// Tables 5 and 6 the nodes that nobody else can use meanwhile. A job of 17 CPUs has 2 nodes of 16.
func TestWholeNodesAreAllocated(t *testing.T) {
	t.Parallel()
	machines := []sim.Machine{
		{Name: "m1", Nodes: 4, CPUsPerNode: 16, MHz: 375, WholeNode: true},
		{Name: "m2", Nodes: 8, CPUsPerNode: 4, MHz: 375, WholeNode: true},
	}
	jobs := []workload.Job{
		{Origin: 0, Run: 100_000, CPUs: 17}, // 32 CPUs of m1
		{Origin: 0, Run: 100_000, CPUs: 1},  // moved: 4 CPUs of m2, not 16
	}
	m := sim.Measure(machines, jobs, &sim.Result{Placements: []sim.Placement{
		{Site: 0, Start: 0, End: 100_000}, {Site: 1, Start: 0, End: 100_000},
	}})
	for what, numbers := range map[string][2]float64{
		"utilization":      {m.Utilization, 18 / 96.0},
		"allocated":        {m.Allocated, 36 / 96.0},
		"efficiency":       {m.GridEfficiency, 18 / 96.0}, // equal clocks
		"m1's utilization": {m.Sites[0].Utilization, 17 / 64.0},
		"m1's, allocated":  {m.Sites[0].Allocated, 32 / 64.0},
		"m2's utilization": {m.Sites[1].Utilization, 1 / 32.0},
		"m2's, allocated":  {m.Sites[1].Allocated, 4 / 32.0},
	} {
		if math.Abs(numbers[0]-numbers[1]) > 1e-12 {
			t.Errorf("%s = %v, want %v", what, numbers[0], numbers[1])
		}
	}
}
