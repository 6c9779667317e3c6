package engine

import "github.com/switchyard-hpc/switchyard/protocol"

// headReservation is the reservation of one job. It stands while jobs end in time and
// while those started meanwhile are over by then or stay beside it, so that
// most passes find it made.
type headReservation struct {
	order      uint64 // of the job; 0: nobody's
	shadowTime protocol.Instant
	extra      FreeSet // what is free then beside the job
}

func (s *headReservation) forget() { s.order = 0 }

// started takes from the room beside the job what one just started still holds
// at the shadow time.
func (s *headReservation) started(order uint64, r *Running) {
	switch s.order {
	case 0:
		return
	case order:
		s.forget()
		return
	}
	if r.End > s.shadowTime {
		s.extra.Allocate(r.Units, r.Place)
	}
}

func (s *headReservation) copyFrom(other *headReservation) {
	s.order, s.shadowTime = other.order, other.shadowTime
	s.extra.CopyFrom(other.extra)
}

// Reserve finds the shadow of a job that does not fit now: the earliest time at
// which it fits if all running jobs end as estimated. One at or past its estimate
// may end at any moment, so that nothing the job needs of it is lent meanwhile.
// The room is what is free at the shadow beside the job, all jobs that end at the
// headReservation counted as ended. It holds until the next Reserve; Start takes from it
// what still runs at the shadow.
func (f *ClusterState) Reserve(job PendingJob) (at protocol.Instant, beside FreeSet) {
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
		beside.Release(r.Units, r.Place)
		if !found && beside.Free() >= job.Units {
			if place, found = beside.Find(job.Units, nil); found {
				shadow = end
			}
		}
	}
	if found {
		beside.Allocate(job.Units, place)
	}
	return shadow
}
