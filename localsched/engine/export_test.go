package engine

import (
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// PlanAlone is Plan without short cuts: every job is simulated in a future of its
// own until it starts.
func (e *Engine) PlanAlone(now protocol.Instant, ahead, jobs []protocol.Request) []localsched.Planned {
	c := e.core
	now = max(now, c.state.now)
	planned := make([]localsched.Planned, len(jobs))
	for i, r := range jobs {
		job, reason := size(c.machine, c.policy, now, r)
		if planned[i].Declined = reason; reason == "" {
			planned[i].Start = c.trialAt(now, ahead).simulate(job)
			planned[i].Note = c.note(now, planned[i].Start, job)
		}
	}
	return planned
}

// simulate is start without looking at promises.
func (f *future) simulate(job PendingJob) protocol.Instant {
	job.slot = newcomerSlot
	f.enqueue(job)
	for {
		f.pass()
		for _, r := range f.state.started {
			if r.slot == newcomerSlot {
				return f.state.now
			}
		}
		if !f.next() {
			return lastInstant
		}
	}
}

// Check says what is wrong with the engine's books, if anything.
func (e *Engine) Check() string {
	c := e.core
	busy, waiting := 0, int128.Number{}
	for _, r := range c.state.running.list() {
		busy += r.Units
		if c.entries[r.slot].state != runs {
			return "a running job is booked as waiting"
		}
	}
	for w := range c.state.pending.all() {
		waiting = waiting.Plus(c.workOf(*w))
		if c.entries[w.slot].state != queued {
			return "a waiting job is booked as running"
		}
	}
	for i := range c.state.reservations.list {
		h := &c.state.reservations.list[i]
		if h.claimed {
			waiting = waiting.Plus(c.workOf(h.PendingJob))
		}
		if want := map[bool]phase{false: unclaimed, true: claimed}[h.claimed]; c.entries[h.slot].state != want {
			return "a hold is booked as something else"
		}
	}
	total := c.machine.NewFreeSet().Free()
	free := c.machine.NewFreeSet()
	for i := range c.state.running.list() {
		free.Allocate(c.state.running.list()[i].Demand(), c.state.running.list()[i].Place)
	}
	if set, ok := c.state.free.(*countedSet); ok {
		if again, _ := free.(*countedSet); !set.same(again) {
			return "what is free beside units does not add up"
		}
		if set.overdrawn() {
			return "more is allocated than exists"
		}
	}
	switch {
	case busy != c.busy || total-busy != c.state.free.Free():
		return "busy units do not add up"
	case busy > total:
		return "more units are busy than exist"
	case waiting != c.work:
		return "queued work does not add up"
	case len(e.tags.slots) != c.state.running.len()+c.state.pending.length+len(c.state.reservations.list):
		return "the book and the floor have different jobs"
	}
	return c.state.running.check() + c.state.pending.check() + c.state.checkProfile() + c.state.checkHolds()
}

func (e *ends) check() string {
	list := e.list()
	for i := range list {
		if e.place(list[i].End, list[i].order) != i {
			return "the running jobs are out of order"
		}
	}
	return ""
}

func (q *queue) check() string {
	var last *PendingJob
	length := 0
	for i, at := range q.chunks {
		if len(at.jobs) == 0 || len(at.jobs) > chunkSize {
			return "a chunk is empty or too long"
		}
		exact := chunk{jobs: at.jobs}
		exact.bound()
		if !at.low.bounds(&exact.low) || !at.loose && at.low != exact.low {
			return "a chunk's bound is wrong"
		}
		if !q.groups[i/groupSize].low.bounds(&at.low) {
			return "a group's bound is wrong"
		}
		for j := range at.jobs {
			if last != nil && !last.before(&at.jobs[j]) {
				return "the queue is out of order"
			}
			last = &at.jobs[j]
		}
		length += len(at.jobs)
	}
	if length != q.length || len(q.groups) != (len(q.chunks)+groupSize-1)/groupSize {
		return "the queue's length is wrong"
	}
	return ""
}

// bounds reports whether low is no higher than another bound.
func (low *sizeBound) bounds(other *sizeBound) bool {
	ok := low.units <= other.units
	for i := range low.time {
		ok = ok && low.time[i] <= other.time[i]
	}
	return ok
}

// checkProfile compares the profile that is kept with one made from scratch.
func (f *ClusterState) checkProfile() string {
	if !f.profile.made || !f.pool || f.overdue() {
		return ""
	}
	var scratch ClusterState
	scratch.profile = newProfile(f.machine)
	scratch.profile.made = true
	p := &scratch.profile
	p.reset(f.now, f.free)
	for _, r := range f.running.list() {
		p.release(r.End, lastInstant, r.Demand(), r.Place)
	}
	f.allocateReservations(p)
	for w := range f.pending.all() {
		p.allocate(w.reserved, w.reserved.Add(w.Time), w.Demand(), w.place)
	}
	for i := range p.steps {
		at := p.steps[i].at
		if kept := &f.profile.steps[f.profile.index(at)]; !kept.same(&p.steps[i]) {
			return "the profile does not add up"
		}
		if p.steps[i].overdrawn() && !f.reservationOverrun(f.now) {
			return "more is promised than there is"
		}
	}
	return ""
}

// checkHolds compares what is free beside the holds with a profile made from scratch.
func (f *ClusterState) checkHolds() string {
	if !f.hasReservations() || f.overdue() {
		return ""
	}
	f.reservations.setHead(reservation{})
	scratch := newProfile(f.machine)
	f.projectRunning(&scratch)
	for _, s := range scratch.steps {
		if !f.reservations.ahead.steps[f.reservations.ahead.index(s.at)].same(&s) {
			return "what is free beside the holds does not add up"
		}
	}
	return ""
}

// PlanIsKept reports whether the next quote is a lookup in a plan that exists.
func (e *Engine) PlanIsKept(now protocol.Instant) bool { return e.core.planned(now) }

// PromisedTo is the reserved start of a job, or now if it has started.
func (e *Engine) PromisedTo(tag protocol.Tag, now protocol.Instant) protocol.Instant {
	entry := e.core.entries[e.tags.slots[tag]]
	if c, ok := e.core.state.pending.find(&PendingJob{rank: entry.rank, order: entry.order}); ok && entry.state == queued {
		return e.core.state.pending.at(c).reserved
	}
	return now
}

// HeadReserved is the reservation of the queue's head; 0: it has none.
func (e *Engine) HeadReserved() protocol.Instant {
	f := &e.core.state
	if head := f.pending.first(); head != nil && f.head.order == head.order {
		return f.head.shadowTime
	}
	return 0
}
