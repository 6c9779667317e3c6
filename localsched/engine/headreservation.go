package engine

import "github.com/switchyard-hpc/switchyard/protocol"

// headReservation is the EASY reservation of one pending job, normally the head of the queue: at
// shadowTime it fits if all running jobs end by their estimates.
//
// It stays valid while jobs end on time and each job started since either ends by shadowTime or fits
// into extra. Most passes therefore reuse it instead of computing it again.
//
// Invariant: no job that is backfilled delays the head beyond shadowTime, if estimates hold.
// TestReference checks it.
type headReservation struct {
	order      uint64           // submission order of the job; the reservation is valid if nonzero
	shadowTime protocol.Instant // planned start of the job
	extra      FreeSet          // free then, without this job and those started since
}

func (s *headReservation) forget() { s.order = 0 }

// started allocates in extra a job that has just started and still runs at shadowTime.
func (s *headReservation) started(order uint64, r *Running) {
	switch s.order {
	case 0:
		return
	case order:
		s.forget()
		return
	}
	if r.End > s.shadowTime {
		s.extra.Allocate(r.Demand(), r.Place)
	}
}

func (s *headReservation) copyFrom(other *headReservation) {
	s.order, s.shadowTime = other.order, other.shadowTime
	s.extra.CopyFrom(other.extra)
}

// Reserve makes the EASY reservation of a job that does not fit now. It returns
//
//	at:    the shadow time, the earliest time at which the job fits if running jobs end by their estimates
//	extra: the units free at that time without the job; jobs that end then count as ended
//
// A running job at or past its estimate may end at any moment: it counts as ended now, so units of it
// that the reserved job needs are not given to others. Extra is valid until the next Reserve, and
// Start allocates in it the jobs that still run at the shadow time.
func (f *ClusterState) Reserve(job PendingJob) (at protocol.Instant, extra FreeSet) {
	s := &f.head
	if s.order == job.order && f.pool && !f.overdue() && !f.hasReservations() {
		return s.shadowTime, s.extra
	}
	s.order = job.order
	if f.hasReservations() {
		s.shadowTime = f.reserveHeadAround(job)
	} else {
		s.shadowTime = f.findShadowTime(job)
	}
	return s.shadowTime, s.extra
}

func (f *ClusterState) findShadowTime(job PendingJob) protocol.Instant {
	beside, shadow := f.head.extra, lastInstant
	beside.CopyFrom(f.free)
	place, found := Place(0), false
	list := f.running.list()
	for i := range list {
		r := &list[i]
		end := max(r.End, f.now)
		if found && end > shadow {
			break
		}
		beside.Release(r.Demand(), r.Place)
		if !found && beside.Free() >= job.Units {
			if place, found = beside.Find(job.Demand(), nil); found {
				shadow = end
			}
		}
	}
	if found {
		beside.Allocate(job.Demand(), place)
	}
	return shadow
}
