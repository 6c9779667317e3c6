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
	floor   ClusterState
	made    protocol.Instant // when it began
	due     protocol.Instant // the first estimated end at that time
	order   uint64           // of the last job submitted
}

// behindLive is an order of submission behind all live jobs.
const behindLive = math.MaxUint64 / 2

func newFuture(m Machine, p Policy) future {
	f := future{machine: m, policy: p, floor: newFloor(m, p)}
	f.floor.foresees = true
	return f
}

func (f *future) begin(live *ClusterState, now protocol.Instant) {
	f.floor.copyFrom(live)
	f.floor.now, f.made = now, now
	f.floor.holds.expect(now)
	f.order = behindLive
	f.due = lastInstant
	if r := f.floor.running.first(); r != nil {
		f.due = r.End
	}
}

// submit puts a request at the end of the queue, unless it never fits.
func (f *future) submit(r protocol.Request) bool {
	job, reason := size(f.machine, f.policy, f.floor.now, r)
	if reason != "" {
		return false
	}
	job.slot = aheadSlot
	f.enqueue(job)
	return true
}

func (f *future) enqueue(job Waiting) {
	f.order++
	job.order, job.since = f.order, f.floor.now
	f.floor.enqueue(&job)
}

func (f *future) pass() BackfillWindow {
	f.floor.started, f.floor.offers = f.floor.started[:0], f.floor.offers[:0]
	return f.floor.pass()
}

// next goes to the time at which the next running job ends, and ends it, or to a
// reserved start before that. Jobs that end together do so one by one, in the
// order of their starts, as the engine hears of them. It returns false when
// nothing is to come.
func (f *future) next() bool {
	first := f.floor.running.first()
	if wake := f.floor.Wake(); wake != 0 && (first == nil || wake < f.endOf(first)) {
		f.floor.now = max(f.floor.now, wake)
		return true
	}
	if first == nil {
		return false
	}
	f.endNext(first)
	return true
}

// endOf is when a running job ends.
func (f *future) endOf(r *Running) protocol.Instant {
	if r.End < f.made {
		return f.made.Add(1)
	}
	return r.End
}

// endNext ends the next job. One that was past its estimate when the future
// began ends a millisecond after, and after the jobs that were just due.
func (f *future) endNext(first *Running) {
	i := 0
	if first.End < f.made {
		if due := f.floor.running.place(f.made, 0); due < f.floor.running.len() && f.floor.running.list()[due].End == f.made {
			i = due
		}
	}
	f.floor.now = f.endOf(&f.floor.running.list()[i])
	f.floor.end(i)
}

// start submits a job to a future and is when it starts.
func (f *future) start(job Waiting) protocol.Instant {
	job.slot = newcomerSlot
	f.enqueue(job)
	for {
		f.pass()
		for i := range f.floor.started {
			if f.floor.started[i].slot == newcomerSlot {
				return f.floor.now
			}
		}
		if at, ok := f.promised(); ok {
			return at
		}
		if !f.next() {
			return lastInstant
		}
	}
}

// promised is the reserved start of the last job, if no promise will change: a power budget
// that is to come may break one, and so may a hold that begins late.
func (f *future) promised() (protocol.Instant, bool) {
	if !f.floor.profile.firm || f.floor.budget != nil || f.floor.reservationOverrun(f.floor.now) {
		return 0, false
	}
	c, ok := f.floor.waiting.last()
	return f.floor.waiting.at(c).reserved, ok
}

// startInOrder is when a job starts that is served in the order of the queue.
// Those behind it do not matter. The queue is left as it is.
func (f *future) startInOrder(job Waiting) protocol.Instant {
	job.rank, job.order = f.policy.Rank(job), math.MaxUint64
	for w := range f.floor.waiting.all() {
		if !w.before(&job) {
			break
		}
		if !f.serve(w) {
			return lastInstant
		}
	}
	if !f.serve(&job) {
		return lastInstant
	}
	return f.floor.now
}

// serve starts a job as soon as it fits. It returns false when it never does.
func (f *future) serve(w *Waiting) bool {
	for {
		if place, ok := f.floor.room.Find(w.Units, nil); ok {
			f.floor.run(w, f.floor.now, place)
			return true
		}
		if !f.next() {
			return false
		}
	}
}

// trialAt is a future of the present state with the ahead requests submitted. What they have
// set off stands among the started.
func (c *Core) trialAt(now protocol.Instant, ahead []protocol.Request) *future {
	f := &c.trial
	f.begin(&c.floor, now)
	for _, r := range ahead {
		if f.submit(r) {
			f.floor.pass()
		}
	}
	return f
}
