package slurm

import (
	"cmp"
	"slices"
	"sync"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// outlook plans the queue of one look ahead: by EASY backfilling over the jobs
// that Slurm shows, and not before what Slurm itself plans for jobs that are no
// larger and wait already.
type outlook struct {
	at       protocol.Instant
	capacity protocol.Capacity
	queue    []entry // of the partitions, without ended jobs

	mu     sync.Mutex
	engine *engine.Engine // nil: not made yet
}

func newOutlook(seen *sight, queue []entry) *outlook {
	capacity := seen.capacity()
	// A plan knows only the nodes that take jobs.
	capacity.CPUs, capacity.Nodes, capacity.MaxWallTime = seen.machine.up, seen.machine.upNodes, 0
	return &outlook{at: protocol.InstantOf(seen.at), capacity: capacity, queue: queue}
}

// starts says when each job would start that came after the ahead ones, or why it
// would not.
func (o *outlook) starts(now protocol.Instant, ahead, jobs []protocol.Request) []localsched.Planned {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.engine == nil {
		o.engine = o.model()
	}
	planned := o.engine.Plan(now, ahead, jobs)
	for i, job := range jobs {
		if planned[i].Declined == "" {
			planned[i].Start = max(planned[i].Start, o.notBefore(job))
		}
	}
	return planned
}

// model is an engine in the state of Slurm's queue.
func (o *outlook) model() *engine.Engine {
	model := engine.New(engine.Of(o.capacity), engine.EASY())
	var waiting, running []entry
	for _, e := range o.queue {
		switch {
		case e.runs():
			running = append(running, e)
		case e.may():
			waiting = append(waiting, e)
		}
	}
	slices.SortStableFunc(running, func(a, b entry) int { return cmp.Compare(a.start, b.start) })
	slices.SortStableFunc(waiting, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.ID, b.ID))
	})
	// What does not fit is on nodes that are going down, or waits for some that are:
	// it does not stand in the way of others.
	number := protocol.JobID(0)
	job := func(e entry) localsched.Queued {
		number++
		return localsched.Queued{Tag: protocol.Tag{Job: number}, Request: protocol.Request{Job: number, CPUs: e.cpus, WallTime: e.limit}}
	}
	for _, e := range running {
		_ = model.Restore(job(e), e.start)
	}
	for _, e := range waiting {
		_, _ = model.Submit(o.at, job(e))
	}
	return model
}

// notBefore is the latest start that Slurm plans for a waiting job that asks for
// no more CPUs and no more time.
func (o *outlook) notBefore(r protocol.Request) (at protocol.Instant) {
	limit := protocol.Duration(minutes(r.WallTime)) * protocol.Minute
	for i := range o.queue {
		e := &o.queue[i]
		if e.waits() && e.may() && e.cpus <= r.CPUs && e.limit <= limit {
			at = max(at, e.start)
		}
	}
	return at
}
