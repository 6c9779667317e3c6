package engine_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// prioritized are queued jobs by their sequence numbers.
type prioritized struct {
	*engine.Engine
	now protocol.Instant
}

func (p *prioritized) submit(t interface{ Fatal(...any) }, seq uint64, cpus int, limit protocol.Duration, priority int64) []protocol.Tag {
	actions, err := p.Submit(p.now, localsched.Queued{
		Tag:     protocol.Tag{Job: protocol.JobID(seq), Epoch: 1},
		Request: protocol.Request{Job: protocol.JobID(seq), CPUs: cpus, WallTime: limit, Priority: priority},
	})
	if err != nil {
		t.Fatal(err)
	}
	return actions.Starts
}

func (p *prioritized) end(t interface{ Fatal(...any) }, seq uint64) (started []protocol.JobID) {
	actions, err := p.Finished(p.now, protocol.Tag{Job: protocol.JobID(seq), Epoch: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range actions.Starts {
		started = append(started, tag.Job)
	}
	return started
}

func machineOf(cpus int) engine.Machine {
	return engine.PerCPU(protocol.Capacity{CPUs: cpus, Nodes: 1, NodeCPUs: cpus})
}

// TestMultifactorOrder: the highest priority starts first, equal ones as they were submitted, and later jobs are
// backfilled beside the reservation of the first.
func TestMultifactorOrder(t *testing.T) {
	t.Parallel()
	p := &prioritized{Engine: engine.New(machineOf(4), engine.Multifactor())}
	hour := protocol.Hour
	p.submit(t, 1, 3, 2*hour, 5)
	p.submit(t, 2, 4, hour, 10)
	p.submit(t, 3, 4, hour, 10)
	p.submit(t, 4, 4, hour, 20)
	if got := p.submit(t, 5, 1, 3*hour, 1); len(got) != 0 {
		t.Errorf("%v starts, which would delay job 4", got)
	}
	if got := p.submit(t, 6, 1, 2*hour, 1); len(got) != 1 {
		t.Error("job 6 does not start beside the reservation of job 4")
	}
	p.now = p.now.Add(2 * hour)
	p.end(t, 6)
	for _, step := range []struct{ ends, starts uint64 }{{1, 4}, {4, 2}, {2, 3}, {3, 5}} {
		if got := p.end(t, step.ends); !slices.Equal(got, []protocol.JobID{protocol.JobID(step.starts)}) {
			t.Errorf("after job %d started %v, want %d", step.ends, got, step.starts)
		}
	}
}

// TestPrioritiesChange: with other priorities the queue has another order, and the reservation is another job's. Running
// and unknown jobs are passed over.
func TestPrioritiesChange(t *testing.T) {
	t.Parallel()
	p := &prioritized{Engine: engine.New(machineOf(4), engine.Multifactor())}
	p.submit(t, 1, 4, protocol.Hour, 1)
	p.submit(t, 2, 4, protocol.Hour, 9)
	p.submit(t, 3, 2, protocol.Hour, 5)
	p.submit(t, 4, 2, protocol.Hour, 5)
	tag := func(seq uint64) protocol.Tag { return protocol.Tag{Job: protocol.JobID(seq), Epoch: 1} }
	p.SetPriorities(p.now, []localsched.Priority{{Tag: tag(1), Priority: 100}, {Tag: tag(2), Priority: 1}, {Tag: tag(4), Priority: 7}, {Tag: tag(77), Priority: 3}})
	if got := p.end(t, 1); !slices.Equal(got, []protocol.JobID{4, 3}) {
		t.Errorf("started %v, want 4 and 3", got)
	}
}

// TestMultifactorPlan: the plan says when a job of some priority starts if nothing else comes, which is when it then does.
func TestMultifactorPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := &prioritized{Engine: engine.New(machineOf(8), engine.Multifactor())}
		limits := map[uint64]protocol.Duration{}
		ends := map[uint64]protocol.Instant{}
		var order []uint64 // of the starts, in which jobs are reported that end together
		draw := func() (int, protocol.Duration, int64) {
			return rapid.IntRange(1, 8).Draw(t, "CPUs"), protocol.Duration(rapid.Int64Range(1, 20).Draw(t, "limit")) * protocol.Minute, rapid.Int64Range(0, 4).Draw(t, "priority")
		}
		note := func(started []protocol.Tag) {
			for _, tag := range started {
				order = append(order, uint64(tag.Job))
				ends[uint64(tag.Job)] = p.now.Add(limits[uint64(tag.Job)])
			}
		}
		jobs := uint64(rapid.IntRange(0, 8).Draw(t, "jobs"))
		for seq := uint64(1); seq <= jobs; seq++ {
			cpus, limit, priority := draw()
			limits[seq] = limit
			note(p.submit(t, seq, cpus, limit, priority))
			if rapid.Bool().Draw(t, "change") {
				other := protocol.Tag{Job: protocol.JobID(rapid.Uint64Range(1, seq).Draw(t, "whose")), Epoch: 1}
				note(p.SetPriorities(p.now, []localsched.Priority{{Tag: other, Priority: rapid.Int64Range(0, 4).Draw(t, "to")}}).Starts)
			}
		}
		cpus, limit, priority := draw()
		last := jobs + 1
		limits[last] = limit
		planned := p.Plan(p.now, nil, []protocol.Request{{CPUs: cpus, WallTime: limit, Priority: priority}})[0].Start
		note(p.submit(t, last, cpus, limit, priority))
		for ends[last] == 0 {
			next := uint64(0)
			for _, seq := range order {
				if end, runs := ends[seq]; runs && (next == 0 || end < ends[next]) {
					next = seq
				}
			}
			p.now = ends[next]
			delete(ends, next)
			actions, err := p.Finished(p.now, protocol.Tag{Job: protocol.JobID(next), Epoch: 1})
			if err != nil {
				t.Fatal(err)
			}
			note(actions.Starts)
		}
		if got := ends[last].Add(-limit); got != planned {
			t.Fatalf("planned to start at %d, started at %d", planned, got)
		}
	})
}
