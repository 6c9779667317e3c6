package main_test

import (
	"testing"

	widest "github.com/switchyard-hpc/switchyard/examples/plugins/widest"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestConformance: the order does what every engine must.
func TestConformance(t *testing.T) {
	t.Parallel()
	localschedtest.TestEngine(t, localschedtest.EngineTarget{
		Open: func(machine protocol.Capacity) (localsched.Engine, error) { return widest.Engine(machine), nil },
	})
}

// TestWidestFirst: when the machine is free again the widest job that fits starts, and
// then whatever fits beside it.
func TestWidestFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cpus []int // of the jobs that wait, in the order of their submission
		want []int // of them that start
	}{
		"the widest":             {[]int{1, 2, 4, 3}, []int{2}},
		"and what fits beside":   {[]int{1, 2, 3}, []int{2, 0}},
		"past what does not fit": {[]int{3, 2, 2, 1}, []int{0, 3}},
		"equals as they came":    {[]int{2, 2, 2}, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := widest.Engine(protocol.Capacity{CPUs: 4, Nodes: 1})
			submit(t, e, 99, 4)
			for n, cpus := range tt.cpus {
				submit(t, e, n, cpus)
			}
			actions, err := e.Finished(1, tag(99))
			if err != nil || len(actions.Starts) != len(tt.want) {
				t.Fatalf("started %v, %v; want %v", actions.Starts, err, tt.want)
			}
			for i, n := range tt.want {
				if actions.Starts[i] != tag(n) {
					t.Errorf("started %v, want %v", actions.Starts, tt.want)
				}
			}
		})
	}
}

func submit(t *testing.T, e localsched.Engine, n, cpus int) {
	t.Helper()
	request := protocol.Request{Job: tag(n).Job, CPUs: cpus, WallTime: protocol.Hour}
	if _, err := e.Submit(0, localsched.Queued{Request: request, Tag: tag(n)}); err != nil {
		t.Fatal(err)
	}
}

func tag(n int) protocol.Tag { return protocol.Tag{Job: protocol.NewJobID(1, uint64(n)), Epoch: 1} }
