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
	now = max(now, c.floor.now)
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
func (f *future) simulate(job Waiting) protocol.Instant {
	job.slot = newcomerSlot
	f.enqueue(job)
	for {
		f.pass()
		for _, r := range f.floor.started {
			if r.slot == newcomerSlot {
				return f.floor.now
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
	for _, r := range c.floor.running.list() {
		busy += r.Units
		if c.entries[r.slot].state != runs {
			return "a running job is booked as waiting"
		}
	}
	for w := range c.floor.waiting.all() {
		waiting = waiting.Plus(c.workOf(*w))
		if c.entries[w.slot].state != queued {
			return "a waiting job is booked as running"
		}
	}
	for i := range c.floor.holds.list {
		h := &c.floor.holds.list[i]
		if h.taken {
			waiting = waiting.Plus(c.workOf(h.Waiting))
		}
		if want := map[bool]phase{false: holding, true: taken}[h.taken]; c.entries[h.slot].state != want {
			return "a hold is booked as something else"
		}
	}
	total := c.machine.Room().Free()
	switch {
	case busy != c.busy || total-busy != c.floor.room.Free():
		return "busy units do not add up"
	case busy > total:
		return "more units are busy than exist"
	case waiting != c.work:
		return "queued work does not add up"
	case len(e.book.slots) != c.floor.running.len()+c.floor.waiting.length+len(c.floor.holds.list):
		return "the book and the floor have different jobs"
	}
	return c.floor.running.check() + c.floor.waiting.check() + c.floor.checkProfile() + c.floor.checkHolds()
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
	var last *Waiting
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

// bounds says whether low is no higher than another bound.
func (low *least) bounds(other *least) bool {
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
	scratch.profile = profile{pool: true, made: true}
	p := &scratch.profile
	p.reset(f.now, f.room)
	for _, r := range f.running.list() {
		p.give(r.End, lastInstant, r.Units, r.Place)
	}
	f.bookHolds(p)
	for w := range f.waiting.all() {
		p.take(w.reserved, w.reserved.Add(w.Time), w.Units, w.place)
	}
	for i := range p.steps {
		at := p.steps[i].at
		if kept := &f.profile.steps[f.profile.index(at)]; kept.free != p.steps[i].free {
			return "the profile does not add up"
		}
		if p.steps[i].free < 0 && !f.reservationOverrun(f.now) {
			return "more is promised than there is"
		}
	}
	return ""
}

// checkHolds compares what is free beside the holds with a profile made from scratch.
func (f *ClusterState) checkHolds() string {
	if !f.held() || f.overdue() {
		return ""
	}
	f.holds.keepHead(reservation{})
	scratch := profile{pool: true}
	f.foresee(&scratch)
	for _, s := range scratch.steps {
		if f.holds.ahead.steps[f.holds.ahead.index(s.at)].free != s.free {
			return "what is free beside the holds does not add up"
		}
	}
	return ""
}

// PlanIsKept says whether the next quote is a lookup in a plan that exists.
func (e *Engine) PlanIsKept(now protocol.Instant) bool { return e.core.planned(now) }

// PromisedTo is the reserved start of a job, or now if it has started.
func (e *Engine) PromisedTo(tag protocol.Tag, now protocol.Instant) protocol.Instant {
	entry := e.core.entries[e.book.slots[tag]]
	if c, ok := e.core.floor.waiting.find(&Waiting{rank: entry.rank, order: entry.order}); ok && entry.state == queued {
		return e.core.floor.waiting.at(c).reserved
	}
	return now
}

// HeadReserved is the reservation of the queue's head; 0: it has none.
func (e *Engine) HeadReserved() protocol.Instant {
	f := &e.core.floor
	if head := f.waiting.first(); head != nil && f.shadow.order == head.order {
		return f.shadow.at
	}
	return 0
}
