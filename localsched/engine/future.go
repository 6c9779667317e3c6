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
	state   ClusterState
	made    protocol.Instant // when it began
	due     protocol.Instant // the first estimated end at that time
	order   uint64           // of the last job submitted
}

// behindLive is an order of submission behind all live jobs.
const behindLive = math.MaxUint64 / 2

func newFuture(m Machine, p Policy) future {
	f := future{machine: m, policy: p, state: newClusterState(m, p)}
	f.state.inPlan = true
	return f
}

func (f *future) begin(live *ClusterState, now protocol.Instant) {
	f.state.copyFrom(live)
	f.state.now, f.made = now, now
	f.state.reservations.expect(now)
	f.order = behindLive
	f.due = lastInstant
	if r := f.state.running.first(); r != nil {
		f.due = r.End
	}
}

// submit puts a request at the end of the queue, unless it never fits.
func (f *future) submit(r protocol.Request) bool {
	job, reason := size(f.machine, f.policy, f.state.now, r)
	if reason != "" {
		return false
	}
	job.slot = aheadSlot
	f.enqueue(job)
	return true
}

func (f *future) enqueue(job PendingJob) {
	f.order++
	job.order, job.since = f.order, f.state.now
	f.state.enqueue(&job)
}

func (f *future) pass() BackfillWindow {
	f.state.started, f.state.offers = f.state.started[:0], f.state.offers[:0]
	return f.state.pass()
}

// next goes to the time at which the next running job ends, and ends it, or to a
// reserved start before that. Jobs that end together do so one by one, in the
// order of their starts, as the engine hears of them. It returns false when
// nothing is to come.
func (f *future) next() bool {
	first := f.state.running.first()
	if wake := f.state.Wake(); wake != 0 && (first == nil || wake < f.endOf(first)) {
		f.state.now = max(f.state.now, wake)
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
		if due := f.state.running.place(f.made, 0); due < f.state.running.len() && f.state.running.list()[due].End == f.made {
			i = due
		}
	}
	f.state.now = f.endOf(&f.state.running.list()[i])
	f.state.end(i)
}

// start submits a job to a future and is when it starts.
func (f *future) start(job PendingJob) protocol.Instant {
	job.slot = newcomerSlot
	f.enqueue(job)
	for {
		f.pass()
		for i := range f.state.started {
			if f.state.started[i].slot == newcomerSlot {
				return f.state.now
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
// that is to come may break one, and so may a hold that begins late; a job whose time may be
// lowered need not keep one.
func (f *future) promised() (protocol.Instant, bool) {
	if !f.state.profile.firm || f.state.flexible > 0 || f.state.budget != nil || f.state.reservationOverrun(f.state.now) {
		return 0, false
	}
	c, ok := f.state.pending.last()
	return f.state.pending.at(c).reserved, ok
}

// startInOrder is when a job starts that is served in the order of the queue.
// Those behind it do not matter. The queue is left as it is.
func (f *future) startInOrder(job PendingJob) protocol.Instant {
	job.rank, job.order = f.policy.Rank(job), math.MaxUint64
	for w := range f.state.pending.all() {
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
	return f.state.now
}

// serve starts a job as soon as it fits. It returns false when it never does.
func (f *future) serve(w *PendingJob) bool {
	for {
		if place, ok := f.state.free.Find(w.Demand(), nil); ok {
			f.state.run(w, f.state.now, place, w.Time)
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
	f.begin(&c.state, now)
	for _, r := range ahead {
		if f.submit(r) {
			f.state.pass()
		}
	}
	return f
}
