package engine

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// reservation is an advance reservation of one job: Units units in [start, start+Time).
//
// Invariant: no other job that the engine starts would still run at start, by its estimate, on the
// reserved units. TestHoldsAreFirm checks it.
type reservation struct {
	PendingJob // its size; once claimed, the job itself

	start   protocol.Instant
	claimed bool // the job has been submitted
}

func (h *reservation) end() protocol.Instant { return h.start.Add(h.Time) }

// reservations are the advance reservations of a machine whose units are alike.
type reservations struct {
	list    []reservation // ordered by start, then by creation
	ahead   profile       // units free from now on, without running jobs and all reservations; valid while list is not empty
	head    reservation   // that of the head of the queue, allocated in ahead during a pass; none if it has no units
	expired []int         // slots of reservations that expired without a job since the last forgetExpired
}

// hasReservations reports whether there is any advance reservation.
func (f *ClusterState) hasReservations() bool { return len(f.reservations.list) > 0 }

// Find returns a place, as [FreeSet.Find] does, for a job that would start now, without
// delaying any advance reservation.
func (f *ClusterState) Find(job *PendingJob, beside FreeSet) (place Place, ok bool) {
	place, ok = f.free.Find(job.Demand(), beside)
	return place, ok && (!f.hasReservations() || f.avoidsReservations(job, place))
}

// avoidsReservations reports whether a job that starts now at a place delays no advance reservation.
func (f *ClusterState) avoidsReservations(job *PendingJob, place Place) bool {
	return f.reservations.ahead.hasFree(f.now, f.now.Add(job.Time), job.Demand(), place)
}

// pass starts the jobs whose reservations have begun, then makes the pass of the policy.
func (f *ClusterState) pass() BackfillWindow {
	if f.hasReservations() {
		f.serveReservations()
	}
	return f.policy.Pass(f)
}

// serveReservations removes expired reservations and starts the jobs of those that have begun. If a
// job past its limit still has the units, the reservation is delayed. In a plan every reservation is
// used from its start to its end, even if its job should have come by now.
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
		case (h.claimed || f.inPlan) && f.free.Has(h.Demand(), 0):
			f.startReserved(i)
		case h.claimed && h.start < f.now:
			f.delayReservation(i)
		default:
			i++
		}
	}
}

// startReserved starts the job of a reservation. A job that came late runs past the end of its
// reservation, so all reserved starts are computed again.
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
	f.run(&h.PendingJob, began, 0, h.Time)
}

// delayReservation moves the start of reservation i to now, because its job has come but its units
// are still in use. The end moves with it. Reserved starts of pending jobs are dropped and computed
// again. It runs in every pass until the units are free.
func (f *ClusterState) delayReservation(i int) {
	h := f.removeReservation(i)
	h.start = f.now
	f.addReservation(h)
	f.profile.forget()
}

// addReservation adds a reservation. It keeps the reserved starts of pending jobs: the caller drops
// them if the reservation may overlap one.
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
	s.ahead.allocate(max(h.start, f.now), h.end(), h.Demand(), 0)
	f.head.forget()
}

// removeReservation removes reservation i and returns it.
func (f *ClusterState) removeReservation(i int) reservation {
	s := &f.reservations
	h := s.list[i]
	s.list = slices.Delete(s.list, i, i+1)
	s.ahead.release(max(h.start, f.now), h.end(), h.Demand(), 0)
	f.head.forget()
	return h
}

// claimReservation gives reservation i to its job. Units and time that the job does not need become
// free.
func (f *ClusterState) claimReservation(i int, job PendingJob) {
	was := f.reservations.list[i]
	job.slot, job.order = was.slot, was.order
	h := reservation{PendingJob: job, start: was.start, claimed: true}
	if job.Demand() == was.Demand() && job.Time == was.Time {
		f.reservations.list[i] = h
		return
	}
	f.removeReservation(i)
	f.profile.removeReservation(f.now, &was)
	f.addReservation(h)
	f.profile.addReservation(f.now, &h)
}

// addReservation allocates a new advance reservation in the profile of reserved starts.
func (p *profile) addReservation(now protocol.Instant, h *reservation) {
	if p.made {
		p.trim(now)
		p.allocate(max(h.start, now), h.end(), h.Demand(), 0)
	}
}

// removeReservation releases it.
func (p *profile) removeReservation(now protocol.Instant, h *reservation) {
	p.freed = true
	if p.made {
		p.trim(now)
		p.release(max(h.start, now), h.end(), h.Demand(), 0)
		p.firm = false
	}
}

// reserveHeadAround reserves for the head of the queue, beside all advance reservations. Until the
// end of the pass Find avoids this reservation too.
func (f *ClusterState) reserveHeadAround(job PendingJob) protocol.Instant {
	s := &f.reservations
	s.setHead(reservation{})
	at, _ := s.ahead.earliest(f.now, job.Demand(), job.Time)
	s.setHead(reservation{PendingJob: job, start: at})
	f.head.extra.CopyFrom(f.free)
	switch then := &s.ahead.steps[s.ahead.index(at)]; {
	case then.freeSet != nil:
		f.head.extra.CopyFrom(then.freeSet)
	default:
		f.head.extra.Allocate(Demand{Units: f.free.Free() - then.free}, 0)
	}
	return at
}

// window is the backfill window now: the next reservation that needs units that are free now is its
// shadow time.
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

// setHead replaces the reservation of the head in the profile; one without units removes it.
func (s *reservations) setHead(head reservation) {
	if s.head.Units > 0 {
		s.ahead.release(s.head.start, s.head.end(), s.head.Demand(), 0)
	}
	if s.head = head; head.Units > 0 {
		s.ahead.allocate(head.start, head.end(), head.Demand(), 0)
	}
}

// projectRunning makes a profile of the running jobs and the advance reservations. A job past its
// estimate is assumed to end in the next millisecond.
func (f *ClusterState) projectRunning(p *profile) {
	p.reset(f.now, f.free)
	list := f.running.list()
	for i := range list {
		r := &list[i]
		end := r.End
		if end < f.now {
			end = f.now.Add(1)
		}
		p.release(end, lastInstant, r.Demand(), r.Place)
	}
	f.allocateReservations(p)
}

// allocateReservations allocates the advance reservations in a profile that begins now.
func (f *ClusterState) allocateReservations(p *profile) {
	for i := range f.reservations.list {
		h := &f.reservations.list[i]
		p.allocate(max(h.start, f.now), h.end(), h.Demand(), 0)
	}
}

// projectAll makes a profile of everything planned: running jobs, advance reservations, reserved
// starts of pending jobs, and the reservation of the head.
func (f *ClusterState) projectAll(p *profile) {
	f.projectRunning(p)
	for w := range f.pending.all() {
		if w.reserved != unreserved {
			from := max(w.reserved, f.now)
			p.allocate(from, from.Add(w.Time), w.Demand(), w.place)
		}
	}
	if head := f.pending.first(); head != nil && f.head.order == head.order {
		from := max(f.head.shadowTime, f.now)
		p.allocate(from, from.Add(head.Time), head.Demand(), 0)
	}
}

// reservationOverrun reports whether a running job still has units of a reservation that has begun.
func (f *ClusterState) reservationOverrun(now protocol.Instant) bool {
	if !f.hasReservations() {
		return false
	}
	if slices.ContainsFunc(f.reservations.list, func(h reservation) bool { return h.claimed && h.start < now }) {
		return true
	}
	return slices.ContainsFunc(f.reservations.ahead.steps[f.reservations.ahead.begin:], func(s step) bool {
		return s.overdrawn()
	})
}

// reservationWake is when the next reservation needs a pass: its start if its job has come,
// otherwise its end. Zero means that there is none.
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

// began allocates a started job in the profile of the reservations, and ended releases it.
func (s *reservations) began(now protocol.Instant, r *Running) {
	s.ahead.allocate(now, r.End, r.Demand(), r.Place)
}

func (s *reservations) ended(now protocol.Instant, r *Running) {
	s.ahead.release(now, r.End, r.Demand(), r.Place)
}

func (s *reservations) copyFrom(other *reservations) {
	s.list, s.expired = append(s.list[:0], other.list...), s.expired[:0]
	if s.head = other.head; len(s.list) > 0 {
		s.ahead.copyFrom(&other.ahead)
	}
}

// expect assumes that the jobs of all reservations that begin from now on come.
func (s *reservations) expect(now protocol.Instant) {
	for i := range s.list {
		h := &s.list[i]
		h.claimed = h.claimed || h.start >= now
	}
}

// at is the index of the reservation of a slot, or -1.
func (s *reservations) at(slot int) int {
	return slices.IndexFunc(s.list, func(h reservation) bool { return h.slot == slot })
}

// claimedCount is the number of jobs that wait for their reservations to begin.
func (s *reservations) claimedCount() (n int) {
	for i := range s.list {
		if s.list[i].claimed {
			n++
		}
	}
	return n
}
