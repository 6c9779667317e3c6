package engine

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// powerState is the power of a cluster state: what its jobs draw, and what a budgeted policy
// needs for its passes. Other policies do not use it, and every draw is 0.
type powerState struct {
	taken      int64            // milliwatts that running jobs draw
	change     protocol.Instant // the next instant at which the budget changes; zero if no job waits for it
	oldest     protocol.Instant // no job waits longer than since then
	budgetPass *budgetPass      // of passes that may not start all that they choose; nil until there is one

	maxDemand int64 // no waiting job draws more
}

func powerDemandOf(r protocol.Request) powerDemand {
	return powerDemand{cpus: narrow(r.CPUs), power: narrow(r.Power)}
}

// narrow is n, or the nearest that fits; no machine has more CPUs.
func narrow(n int) int32 { return int32(min(max(0, n), math.MaxInt32)) }

// setDraw works out what a job would draw.
func (s *powerState) setDraw(f *ClusterState, job *PendingJob) {
	job.draw = 0
	if f.budget == nil {
		return
	}
	job.draw = f.budget.draw(f.machine, job.Units, job.powerDemand)
	if f.pending.length == 0 {
		s.oldest, s.maxDemand = job.since, job.draw
	}
	s.oldest, s.maxDemand = min(s.oldest, job.since), max(s.maxDemand, job.draw)
}

// recompute sums what the running jobs draw, under another policy.
func (s *powerState) recompute(f *ClusterState) {
	s.taken, s.change = 0, 0
	list := f.running.list()
	for i := range list {
		r := &list[i]
		r.draw = 0
		if f.budget != nil {
			r.draw = f.budget.draw(f.machine, r.Units, r.powerDemand)
		}
		s.taken += r.draw
	}
}

func (s *powerState) copyFrom(other *powerState) {
	s.taken, s.change, s.oldest, s.maxDemand = other.taken, other.change, other.oldest, other.maxDemand
}
