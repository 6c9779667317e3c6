package engine

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// future is a floor that runs ahead of the live one: all estimates hold, and
// nothing arrives but what is submitted at its beginning.
type future struct {
	machine Machine
	policy  Policy
	floor   Floor
	made    protocol.Instant // when it began
	due     protocol.Instant // the first estimated end at that time
	order   uint64           // of the last job submitted
}

func newFuture(m Machine, p Policy) future {
	return future{machine: m, policy: p, floor: newFloor(m, p)}
}

func (f *future) begin(live *Floor, now protocol.Instant) {
	f.floor.copyFrom(live)
	f.floor.now, f.made = now, now
	f.order = math.MaxUint64 / 2 // behind all live jobs
	f.due = lastInstant
	if r, ok := f.floor.running.first(); ok {
		f.due = r.End
	}
}

// submit puts a request at the end of the queue, unless it never fits.
func (f *future) submit(r protocol.Request) bool {
	job, reason := size(f.machine, r)
	if reason != "" {
		return false
	}
	job.slot = aheadSlot
	f.enqueue(job)
	return true
}

func (f *future) enqueue(job Waiting) {
	f.order++
	job.order = f.order
	f.floor.waiting.insert(job)
}

func (f *future) pass() Opening {
	f.floor.started = f.floor.started[:0]
	return f.policy.Pass(&f.floor)
}

// endNext goes to the time at which the next running job ends, and ends it. Jobs
// that end together do so one by one, in the order of their starts, as the
// engine hears of them. It returns false when nothing runs.
func (f *future) endNext() bool {
	next, ok := f.floor.running.first()
	if !ok {
		return false
	}
	if next.End < f.made {
		f.endOverdue()
		return true
	}
	f.floor.now = next.End
	f.floor.end(Cursor{})
	return true
}

// endOverdue ends the first of the jobs that were past their estimate when the
// future began: a millisecond after, and after the jobs that were just due.
func (f *future) endOverdue() {
	c, ok := f.floor.running.from(Running{End: f.made})
	if ok && f.floor.running.at(c).End == f.made {
		f.floor.end(c)
		return
	}
	f.floor.now = f.made.Add(1)
	f.floor.end(Cursor{})
}

// trialAt is a future of the present state with the ahead requests submitted.
func (e *Engine) trialAt(now protocol.Instant, ahead []protocol.Request) *future {
	f := &e.trial
	f.begin(&e.floor, now)
	for _, r := range ahead {
		if f.submit(r) {
			f.pass()
		}
	}
	return f
}

// start submits a job to a future and is when it starts.
func (f *future) start(job Waiting) protocol.Instant {
	job.slot = newcomerSlot
	f.enqueue(job)
	for {
		f.pass()
		for _, r := range f.floor.started {
			if r.slot == newcomerSlot {
				return f.floor.now
			}
		}
		if !f.endNext() {
			return lastInstant
		}
	}
}
