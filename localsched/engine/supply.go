package engine

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// supply is the power of a floor: what its jobs draw, and what a budgeted policy needs for
// its passes. Under other policies nobody asks, and every draw is 0.
type supply struct {
	taken  int64            // milliwatts that running jobs draw
	change protocol.Instant // the next one at which the budget is another; 0: nobody waits for it
	oldest protocol.Instant // no job waits longer than since then
	trial  *trial           // of passes that may not start all that they choose; nil until there is one

	hungriest int64 // no waiting job draws more
}

func appetiteOf(r protocol.Request) appetite {
	return appetite{cpus: narrow(r.CPUs), power: narrow(r.Power)}
}

// narrow is n, or the nearest that fits; no machine has more CPUs.
func narrow(n int) int32 { return int32(min(max(0, n), math.MaxInt32)) }

// wants works out what a job would draw.
func (s *supply) wants(f *Floor, job *Waiting) {
	job.draw = 0
	if f.budget == nil {
		return
	}
	job.draw = f.budget.draw(f.machine, job.Units, job.appetite)
	if f.waiting.length == 0 {
		s.oldest, s.hungriest = job.since, job.draw
	}
	s.oldest, s.hungriest = min(s.oldest, job.since), max(s.hungriest, job.draw)
}

// reckon works out anew what the running jobs draw, under another policy.
func (s *supply) reckon(f *Floor) {
	s.taken, s.change = 0, 0
	list := f.running.list()
	for i := range list {
		r := &list[i]
		r.draw = 0
		if f.budget != nil {
			r.draw = f.budget.draw(f.machine, r.Units, r.appetite)
		}
		s.taken += r.draw
	}
}

func (s *supply) copyFrom(other *supply) {
	s.taken, s.change, s.oldest, s.hungriest = other.taken, other.change, other.oldest, other.hungriest
}
