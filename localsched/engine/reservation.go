package engine

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// reservation is room that is kept for one job from an instant on, for all of its wall time.
type reservation struct {
	PendingJob // its size; once taken, the job itself

	start   protocol.Instant
	claimed bool // the job has been submitted
}

func (h *reservation) end() protocol.Instant { return h.start.Add(h.Time) }

// reservations are the advance reservations of a machine whose units are alike.
type reservations struct {
	list    []reservation // by start, then in the order of making
	ahead   profile       // free from now on beside what runs and all that is held; made while anything is
	head    reservation   // the reservation of the queue's head, in ahead during a pass; no units: none
	expired []int         // the slots of holds that ended without a job, since the driver last looked
}

// cardJobs says whether anything is held.
func (f *ClusterState) hasReservations() bool { return len(f.reservations.list) > 0 }

// Find is a place, as [FreeSet.Find] gives it, for a job that would start now and take so long,
// and would leave alone all that is held.
func (f *ClusterState) Find(units int, time protocol.Duration, beside FreeSet) (place Place, ok bool) {
	place, ok = f.free.Find(units, beside)
	return place, ok && (!f.hasReservations() || f.avoidsReservations(units, time, place))
}

// avoidsReservations says whether a job that starts now at a place leaves alone all that is held.
func (f *ClusterState) avoidsReservations(units int, time protocol.Duration, place Place) bool {
	return f.reservations.ahead.hasFree(f.now, f.now.Add(time), units, place)
}

// pass starts the jobs whose holds have begun, and lets the policy start others.
func (f *ClusterState) pass() BackfillWindow {
	if f.hasReservations() {
		f.serveReservations()
	}
	return f.policy.Pass(f)
}

// serveReservations ends the holds that are over and starts the jobs of those that have begun. Where
// a job past its limit still has the room, that is waited for. In a future every hold is used,
// from its start to its end: also one whose job should have come by now.
func (f *ClusterState) serveReservations() {
	s := &f.reservations
	s.setHead(reservation{})
	s.ahead.trim(f.now)
	for i := 0; i < len(s.list) && s.list[i].start <= f.now; {
		h := &s.list[i]
		switch {
		case !h.claimed && h.end() <= f.now:
			s.expired = append(s.expired, h.slot)
			f.removeReservation(i)
			f.profile.freed = true
		case (h.claimed || f.inPlan) && f.free.Has(h.Units, 0):
			f.startReserved(i)
		case h.claimed && h.start < f.now:
			f.delayReservation(i)
		default:
			i++
		}
	}
}

// startReserved starts the job of a hold. One that is late runs past the end of the hold, so that
// profileWith must be made anew.
func (f *ClusterState) startReserved(i int) {
	h := f.removeReservation(i)
	began := f.now
	if !h.claimed {
		began = h.start
	}
	if began != h.start {
		f.profile.forget()
	}
	f.supply.setDraw(f, &h.PendingJob)
	f.run(&h.PendingJob, began, 0)
}

// delayReservation has a hold begin now whose room was not free in time, and is not yet.
func (f *ClusterState) delayReservation(i int) {
	h := f.removeReservation(i)
	h.start = f.now
	f.addReservation(h)
	f.profile.forget()
}

// addReservation adds a reservation. What was promised to waiting jobs stands if it leaves that alone.
func (f *ClusterState) addReservation(h reservation) {
	s := &f.reservations
	if !f.hasReservations() {
		s.head = reservation{}
		f.projectRunning(&s.ahead)
	}
	at, _ := slices.BinarySearchFunc(s.list, h, func(one, h reservation) int {
		return cmp.Or(cmp.Compare(one.start, h.start), cmp.Compare(one.order, h.order))
	})
	s.list = slices.Insert(s.list, at, h)
	s.ahead.allocate(max(h.start, f.now), h.end(), h.Units, 0)
	f.head.forget()
}

// removeReservation takes a hold away.
func (f *ClusterState) removeReservation(i int) reservation {
	s := &f.reservations
	h := s.list[i]
	s.list = slices.Delete(s.list, i, i+1)
	s.ahead.release(max(h.start, f.now), h.end(), h.Units, 0)
	f.head.forget()
	return h
}

// claimReservation gives a hold to its job. What the job does not need of it is free.
func (f *ClusterState) claimReservation(i int, job PendingJob) {
	was := f.reservations.list[i]
	job.slot, job.order = was.slot, was.order
	h := reservation{PendingJob: job, start: was.start, claimed: true}
	if job.Units == was.Units && job.Time == was.Time {
		f.reservations.list[i] = h
		return
	}
	f.removeReservation(i)
	f.profile.removeReservation(f.now, &was)
	f.addReservation(h)
	f.profile.addReservation(f.now, &h)
}

// addReservation takes from the profile of the promises what a new hold keeps.
func (p *profile) addReservation(now protocol.Instant, h *reservation) {
	if p.made {
		p.trim(now)
		p.allocate(max(h.start, now), h.end(), h.Units, 0)
	}
}

// removeReservation gives that back.
func (p *profile) removeReservation(now protocol.Instant, h *reservation) {
	p.freed = true
	if p.made {
		p.trim(now)
		p.release(max(h.start, now), h.end(), h.Units, 0)
		p.firm = false
	}
}

// reserveHeadAround reserves for the head of the queue where it leaves alone all that is
// held. Until the end of the pass Find leaves the reservation alone as well.
func (f *ClusterState) reserveHeadAround(job PendingJob) protocol.Instant {
	s := &f.reservations
	s.setHead(reservation{})
	at, _ := s.ahead.earliest(f.now, job.Units, job.Time)
	s.setHead(reservation{PendingJob: job, start: at})
	f.head.extra.CopyFrom(f.free)
	f.head.extra.Allocate(f.free.Free()-s.ahead.steps[s.ahead.index(at)].free, 0)
	return at
}

// window bounds the jobs that could start now: as far as what is held next has it.
func (f *ClusterState) window() BackfillWindow {
	o := Open(f.free.Free())
	if !f.hasReservations() {
		return o
	}
	p := &f.reservations.ahead
	for i := p.index(f.now); i < len(p.steps); i++ {
		if s := &p.steps[i]; s.free < o.Free {
			o.Extra, o.Shadow = s.free, max(s.at, f.now)
			break
		}
	}
	return o
}

// reserveHead has another reservation of the head in the profile, or none.
func (s *reservations) setHead(head reservation) {
	if s.head.Units > 0 {
		s.ahead.release(s.head.start, s.head.end(), s.head.Units, 0)
	}
	if s.head = head; head.Units > 0 {
		s.ahead.allocate(head.start, head.end(), head.Units, 0)
	}
}

// projectRunning makes a profile of what runs and what is held. A job past its estimate ends in the
// next millisecond.
func (f *ClusterState) projectRunning(p *profile) {
	p.reset(f.now, f.free)
	for _, r := range f.running.list() {
		end := r.End
		if end < f.now {
			end = f.now.Add(1)
		}
		p.release(end, lastInstant, r.Units, r.Place)
	}
	f.allocateReservations(p)
}

// allocateReservations takes what is held from a profile that begins now.
func (f *ClusterState) allocateReservations(p *profile) {
	for i := range f.reservations.list {
		h := &f.reservations.list[i]
		p.allocate(max(h.start, f.now), h.end(), h.Units, 0)
	}
}

// projectAll makes a profile of all that is promised: what runs and is held, the reserved starts
// of waiting jobs, and the reservation of the head.
func (f *ClusterState) projectAll(p *profile) {
	f.projectRunning(p)
	for w := range f.pending.all() {
		if w.reserved != unreserved {
			from := max(w.reserved, f.now)
			p.allocate(from, from.Add(w.Time), w.Units, w.place)
		}
	}
	if head := f.pending.first(); head != nil && f.head.order == head.order {
		from := max(f.head.shadowTime, f.now)
		p.allocate(from, from.Add(head.Time), head.Units, 0)
	}
}

// reservationOverrun says whether a job has run into a hold, which then begins late.
func (f *ClusterState) reservationOverrun(now protocol.Instant) bool {
	if !f.hasReservations() {
		return false
	}
	if slices.ContainsFunc(f.reservations.list, func(h reservation) bool { return h.claimed && h.start < now }) {
		return true
	}
	return slices.ContainsFunc(f.reservations.ahead.steps[f.reservations.ahead.begin:], func(s step) bool {
		return s.free < 0
	})
}

// reservationWake is when a pass must be made for a hold: when its job starts, or when it ends
// without one. 0: no such time is known.
func (f *ClusterState) reservationWake() (wake protocol.Instant) {
	for i := range f.reservations.list {
		h := &f.reservations.list[i]
		at := h.start
		if !h.claimed {
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
func (s *reservations) began(now protocol.Instant, r *Running) {
	s.ahead.allocate(now, r.End, r.Units, r.Place)
}

func (s *reservations) ended(now protocol.Instant, r *Running) {
	s.ahead.release(now, r.End, r.Units, r.Place)
}

func (s *reservations) copyFrom(other *reservations) {
	s.list, s.expired = append(s.list[:0], other.list...), s.expired[:0]
	if s.head = other.head; len(s.list) > 0 {
		s.ahead.copyFrom(&other.ahead)
	}
}

// expect has the jobs come of all holds that begin from now on.
func (s *reservations) expect(now protocol.Instant) {
	for i := range s.list {
		h := &s.list[i]
		h.claimed = h.claimed || h.start >= now
	}
}

// at is the index of the hold of a slot, -1 if there is none.
func (s *reservations) at(slot int) int {
	return slices.IndexFunc(s.list, func(h reservation) bool { return h.slot == slot })
}

// claimedCount is how many jobs wait for their holds to begin.
func (s *reservations) claimedCount() (n int) {
	for i := range s.list {
		if s.list[i].claimed {
			n++
		}
	}
	return n
}
