package engine

import "github.com/switchyard-hpc/switchyard/protocol"

// shadow is the reservation of one job. It stands while jobs end in time and
// while those started meanwhile are over by then or stay beside it, so that
// most passes find it made.
type shadow struct {
	order  uint64 // of the job; 0: nobody's
	at     protocol.Instant
	beside Room // what is free then beside the job
}

func (s *shadow) forget() { s.order = 0 }

// started takes from the room beside the job what one just started still holds
// at the shadow.
func (s *shadow) started(order uint64, r *Running) {
	switch s.order {
	case 0:
		return
	case order:
		s.forget()
		return
	}
	if r.End > s.at {
		s.beside.Take(r.Units, r.Place)
	}
}

func (s *shadow) copyFrom(other *shadow) {
	s.order, s.at = other.order, other.at
	s.beside.CopyFrom(other.beside)
}

// Reserve finds the shadow of a job that does not fit now: the earliest time at
// which it fits if all running jobs end as estimated. One at or past its estimate
// may end at any moment, so that nothing the job needs of it is lent meanwhile.
// The room is what is free at the shadow beside the job, all jobs that end at the
// shadow counted as ended. It holds until the next Reserve; Start takes from it
// what still runs at the shadow.
func (f *Floor) Reserve(job Waiting) (at protocol.Instant, beside Room) {
	s := &f.shadow
	if s.order == job.order && f.pool && !f.overdue() && !f.held() {
		return s.at, s.beside
	}
	s.order = job.order
	if f.held() {
		s.at = f.reserveBesideHolds(job)
	} else {
		s.at = f.findShadow(job)
	}
	return s.at, s.beside
}

func (f *Floor) findShadow(job Waiting) protocol.Instant {
	beside, shadow := f.shadow.beside, lastInstant
	beside.CopyFrom(f.room)
	place, found := Place(0), false
	list := f.running.list()
	for i := range list {
		r := &list[i]
		end := max(r.End, f.now)
		if found && end > shadow {
			break
		}
		beside.Give(r.Units, r.Place)
		if !found && beside.Free() >= job.Units {
			if place, found = beside.Find(job.Units, nil); found {
				shadow = end
			}
		}
	}
	if found {
		beside.Take(job.Units, place)
	}
	return shadow
}
