package engine

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// reservation is room that is kept for one job from an instant on, for all of its wall time.
type reservation struct {
	Waiting // its size; once taken, the job itself

	start protocol.Instant
	taken bool // the job has been submitted
}

func (h *reservation) end() protocol.Instant { return h.start.Add(h.Time) }

// holds are what is held of a machine whose units are alike.
type holds struct {
	list   []reservation // by start, then in the order of making
	ahead  profile       // free from now on beside what runs and all that is held; made while anything is
	head   reservation   // the reservation of the queue's head, in ahead during a pass; no units: none
	lapsed []int         // the slots of holds that ended without a job, since the driver last looked
}

// held says whether anything is held.
func (f *ClusterState) held() bool { return len(f.holds.list) > 0 }

// Find is a place, as [FreeSet.Find] gives it, for a job that would start now and take so long,
// and would leave alone all that is held.
func (f *ClusterState) Find(units int, time protocol.Duration, beside FreeSet) (place Place, ok bool) {
	place, ok = f.room.Find(units, beside)
	return place, ok && (!f.held() || f.besideHolds(units, time, place))
}

// besideHolds says whether a job that starts now at a place leaves alone all that is held.
func (f *ClusterState) besideHolds(units int, time protocol.Duration, place Place) bool {
	return f.holds.ahead.holds(f.now, f.now.Add(time), units, place)
}

// pass starts the jobs whose holds have begun, and lets the policy start others.
func (f *ClusterState) pass() BackfillWindow {
	if f.held() {
		f.serveHolds()
	}
	return f.policy.Pass(f)
}

// serveHolds ends the holds that are over and starts the jobs of those that have begun. Where
// a job past its limit still has the room, that is waited for. In a future every hold is used,
// from its start to its end: also one whose job should have come by now.
func (f *ClusterState) serveHolds() {
	s := &f.holds
	s.keepHead(reservation{})
	s.ahead.trim(f.now)
	for i := 0; i < len(s.list) && s.list[i].start <= f.now; {
		h := &s.list[i]
		switch {
		case !h.taken && h.end() <= f.now:
			s.lapsed = append(s.lapsed, h.slot)
			f.removeReservation(i)
			f.profile.freed = true
		case (h.taken || f.foresees) && f.room.Has(h.Units, 0):
			f.startHeld(i)
		case h.taken && h.start < f.now:
			f.delayReservation(i)
		default:
			i++
		}
	}
}

// startHeld starts the job of a hold. One that is late runs past the end of the hold, so that
// promises must be made anew.
func (f *ClusterState) startHeld(i int) {
	h := f.removeReservation(i)
	began := f.now
	if !h.taken {
		began = h.start
	}
	if began != h.start {
		f.profile.forget()
	}
	f.supply.wants(f, &h.Waiting)
	f.run(&h.Waiting, began, 0)
}

// delayReservation has a hold begin now whose room was not free in time, and is not yet.
func (f *ClusterState) delayReservation(i int) {
	h := f.removeReservation(i)
	h.start = f.now
	f.keep(h)
	f.profile.forget()
}

// keep adds a hold. What was promised to waiting jobs stands if it leaves that alone.
func (f *ClusterState) keep(h reservation) {
	s := &f.holds
	if !f.held() {
		s.head = reservation{}
		f.foresee(&s.ahead)
	}
	at, _ := slices.BinarySearchFunc(s.list, h, func(one, h reservation) int {
		return cmp.Or(cmp.Compare(one.start, h.start), cmp.Compare(one.order, h.order))
	})
	s.list = slices.Insert(s.list, at, h)
	s.ahead.take(max(h.start, f.now), h.end(), h.Units, 0)
	f.shadow.forget()
}

// removeReservation takes a hold away.
func (f *ClusterState) removeReservation(i int) reservation {
	s := &f.holds
	h := s.list[i]
	s.list = slices.Delete(s.list, i, i+1)
	s.ahead.give(max(h.start, f.now), h.end(), h.Units, 0)
	f.shadow.forget()
	return h
}

// takeHold gives a hold to its job. What the job does not need of it is free.
func (f *ClusterState) takeHold(i int, job Waiting) {
	was := f.holds.list[i]
	job.slot, job.order = was.slot, was.order
	h := reservation{Waiting: job, start: was.start, taken: true}
	if job.Units == was.Units && job.Time == was.Time {
		f.holds.list[i] = h
		return
	}
	f.removeReservation(i)
	f.profile.dropped(f.now, &was)
	f.keep(h)
	f.profile.promiseHeld(f.now, &h)
}

// promiseHeld takes from the profile of the promises what a new hold keeps.
func (p *profile) promiseHeld(now protocol.Instant, h *reservation) {
	if p.made {
		p.trim(now)
		p.take(max(h.start, now), h.end(), h.Units, 0)
	}
}

// dropped gives that back.
func (p *profile) dropped(now protocol.Instant, h *reservation) {
	p.freed = true
	if p.made {
		p.trim(now)
		p.give(max(h.start, now), h.end(), h.Units, 0)
		p.firm = false
	}
}

// reserveBesideHolds reserves for the head of the queue where it leaves alone all that is
// held. Until the end of the pass Find leaves the reservation alone as well.
func (f *ClusterState) reserveBesideHolds(job Waiting) protocol.Instant {
	s := &f.holds
	s.keepHead(reservation{})
	at, _ := s.ahead.earliest(f.now, job.Units, job.Time)
	s.keepHead(reservation{Waiting: job, start: at})
	f.shadow.beside.CopyFrom(f.room)
	f.shadow.beside.Allocate(f.room.Free()-s.ahead.steps[s.ahead.index(at)].free, 0)
	return at
}

// opening bounds the jobs that could start now: as far as what is held next has it.
func (f *ClusterState) opening() BackfillWindow {
	o := Open(f.room.Free())
	if !f.held() {
		return o
	}
	p := &f.holds.ahead
	for i := p.index(f.now); i < len(p.steps); i++ {
		if s := &p.steps[i]; s.free < o.Free {
			o.Extra, o.Shadow = s.free, max(s.at, f.now)
			break
		}
	}
	return o
}

// keepHead has another reservation of the head in the profile, or none.
func (s *holds) keepHead(head reservation) {
	if s.head.Units > 0 {
		s.ahead.give(s.head.start, s.head.end(), s.head.Units, 0)
	}
	if s.head = head; head.Units > 0 {
		s.ahead.take(head.start, head.end(), head.Units, 0)
	}
}

// foresee makes a profile of what runs and what is held. A job past its estimate ends in the
// next millisecond.
func (f *ClusterState) foresee(p *profile) {
	p.reset(f.now, f.room)
	for _, r := range f.running.list() {
		end := r.End
		if end < f.now {
			end = f.now.Add(1)
		}
		p.give(end, lastInstant, r.Units, r.Place)
	}
	f.bookHolds(p)
}

// bookHolds takes what is held from a profile that begins now.
func (f *ClusterState) bookHolds(p *profile) {
	for i := range f.holds.list {
		h := &f.holds.list[i]
		p.take(max(h.start, f.now), h.end(), h.Units, 0)
	}
}

// booked makes a profile of all that is promised: what runs and is held, the reserved starts
// of waiting jobs, and the reservation of the head.
func (f *ClusterState) booked(p *profile) {
	f.foresee(p)
	for w := range f.waiting.all() {
		if w.reserved != unreserved {
			from := max(w.reserved, f.now)
			p.take(from, from.Add(w.Time), w.Units, w.place)
		}
	}
	if head := f.waiting.first(); head != nil && f.shadow.order == head.order {
		from := max(f.shadow.at, f.now)
		p.take(from, from.Add(head.Time), head.Units, 0)
	}
}

// reservationOverrun says whether a job has run into a hold, which then begins late.
func (f *ClusterState) reservationOverrun(now protocol.Instant) bool {
	if !f.held() {
		return false
	}
	if slices.ContainsFunc(f.holds.list, func(h reservation) bool { return h.taken && h.start < now }) {
		return true
	}
	return slices.ContainsFunc(f.holds.ahead.steps[f.holds.ahead.begin:], func(s step) bool {
		return s.free < 0
	})
}

// holdWakes is when a pass must be made for a hold: when its job starts, or when it ends
// without one. 0: no such time is known.
func (f *ClusterState) holdWakes() (wake protocol.Instant) {
	for i := range f.holds.list {
		h := &f.holds.list[i]
		at := h.start
		if !h.taken {
			at = h.end()
		}
		if at > f.now && at != lastInstant && (wake == 0 || at < wake) {
			wake = at
		}
	}
	return wake
}

// began takes from what is free beside the holds what a job needs that has started, and ended
// gives it back.
func (s *holds) began(now protocol.Instant, r *Running) { s.ahead.take(now, r.End, r.Units, r.Place) }

func (s *holds) ended(now protocol.Instant, r *Running) { s.ahead.give(now, r.End, r.Units, r.Place) }

func (s *holds) copyFrom(other *holds) {
	s.list, s.lapsed = append(s.list[:0], other.list...), s.lapsed[:0]
	if s.head = other.head; len(s.list) > 0 {
		s.ahead.copyFrom(&other.ahead)
	}
}

// expect has the jobs come of all holds that begin from now on.
func (s *holds) expect(now protocol.Instant) {
	for i := range s.list {
		h := &s.list[i]
		h.taken = h.taken || h.start >= now
	}
}

// at is the index of the hold of a slot, -1 if there is none.
func (s *holds) at(slot int) int {
	return slices.IndexFunc(s.list, func(h reservation) bool { return h.slot == slot })
}

// taken is how many jobs wait for their holds to begin.
func (s *holds) taken() (n int) {
	for i := range s.list {
		if s.list[i].taken {
			n++
		}
	}
	return n
}
