package engine

import "github.com/switchyard-hpc/switchyard/protocol"

// A job may state, beside its time limit, the least limit with which it takes a start that it would not
// get with the whole of it (--time-min of Slurm). It is given the longest limit with which it starts now
// and delays no reservation: neither the head's, nor a reserved start, nor an advance reservation. It
// keeps that limit, whatever becomes free later. While a power budget holds no limit is lowered.

// flexible reports whether the time of the job may be lowered.
func (w *PendingJob) flexible() bool { return w.least < w.Time }

func flexible(r protocol.Request) bool { return r.LeastTime() < r.WallTime }

// StartShorter starts the job at c with a shorter time than its estimate, the longest with which it ends by
// an instant or, where there are advance reservations, delays none: the head's is among them. It returns
// false if the job takes none so short, or if there is no place for it now.
func (f *ClusterState) StartShorter(c Cursor, by protocol.Instant) bool {
	w := f.pending.at(c)
	if !w.flexible() || f.candidates != nil {
		return false
	}
	place, ok := f.free.Find(w.Demand(), nil)
	if !ok {
		return false
	}
	if f.hasReservations() {
		by = f.reservations.ahead.freeUntil(f.now, w.Demand(), place)
	}
	time := min(w.Time, by.Sub(f.now))
	if time < w.least {
		return false
	}
	job := f.take(c)
	f.run(&job, f.now, place, time)
	return true
}

// startShorter starts the jobs that have a reserved start and may start now with a shorter time, beside all
// other reserved starts. The start that one of them gives up may bring others forward. While a running
// job is past its estimate, what is free after it is not known well enough.
func (f *ClusterState) startShorter() {
	if f.flexible == 0 || f.candidates != nil || f.overdue() {
		return
	}
	for c, ok := f.pending.valid(Cursor{}); ok && f.free.Free() > 0; c, ok = f.pending.valid(c) {
		if !f.startReservedShorter(c) {
			c = c.After()
			continue
		}
		f.improveReservedStarts()
		f.startDue()
		c = Cursor{}
	}
}

func (f *ClusterState) startReservedShorter(c Cursor) bool {
	w, p := f.pending.at(c), &f.profile
	if !w.flexible() || w.reserved <= f.now || w.Units > f.free.Free() {
		return false
	}
	p.release(w.reserved, w.reserved.Add(w.Time), w.Demand(), w.place)
	place, time := p.longest(f.now, w.Demand(), w.least, w.Time)
	if time == 0 || !f.free.Has(w.Demand(), place) {
		p.allocate(w.reserved, w.reserved.Add(w.Time), w.Demand(), w.place)
		return false
	}
	job := f.take(c)
	p.allocate(f.now, f.now.Add(time), job.Demand(), place)
	f.run(&job, f.now, place, time)
	return true
}

// freeUntil is until when a place is free from now on; now if it is not.
func (p *profile) freeUntil(now protocol.Instant, demand Demand, place Place) protocol.Instant {
	for i := p.index(now); i < len(p.steps); i++ {
		s := &p.steps[i]
		if s.free < demand.Units || s.freeSet != nil && !s.freeSet.Has(demand, place) {
			return max(s.at, now)
		}
	}
	return lastInstant
}

// longest is the longest time between the least and the most for which a place is free from now on, and
// that place; 0 if there is none for the least.
func (p *profile) longest(now protocol.Instant, demand Demand, least, most protocol.Duration) (place Place, time protocol.Duration) {
	first := p.index(now)
	for i, next := first, least; ; i++ {
		if i > first {
			next = most
			if i < len(p.steps) {
				next = min(most, p.steps[i].at.Sub(now))
			}
		}
		if next <= time {
			continue
		}
		found, _, ok := p.fits(first, now.Add(next), demand)
		if !ok {
			return place, time
		}
		if place, time = found, next; time == most {
			return place, time
		}
	}
}
