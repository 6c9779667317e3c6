package engine

import "github.com/switchyard-hpc/switchyard/protocol"

// ReserveAll keeps a promise to every waiting job, in the order of the queue: a
// newcomer is given the earliest start that delays no earlier promise. When a
// job has left, each one that waits gives its start up and takes the earliest
// again, which is never later. Jobs whose start has come are started.
//
// Promises break only if a job runs past its estimate: until it ends, and with
// every pass, all are given anew, as if it ended in the next millisecond. After a
// restart they stand if the driver has kept them.
func (f *ClusterState) ReserveAll() {
	p := &f.profile
	switch kept := f.refresh(); {
	case p.restored && !f.overdue():
		f.restoreReservedStarts()
	case !kept:
		f.reserveAnew()
	case p.freed && !p.firm:
		f.improveReservedStarts()
	default:
		f.reserveNewcomers()
	}
	p.freed = false
	f.startDue()
}

// refresh brings the profile up to the present. It returns false when promises
// cannot be kept, because a job runs past its estimate or what was promised did
// not come.
func (f *ClusterState) refresh() (kept bool) {
	p := &f.profile
	kept = p.made && !p.restored && !f.overdue() && (p.due == unreserved || p.due >= f.now)
	if kept && p.pool {
		p.trim(f.now)
		return true
	}
	f.projectRunning(p)
	if kept {
		f.allocateReservedStarts()
	}
	return kept
}

func (f *ClusterState) allocateReservedStarts() {
	for w := range f.pending.all() {
		if w.reserved != unreserved {
			f.profile.allocate(w.reserved, w.reserved.Add(w.Time), w.Units, w.place)
		}
	}
}

// reserveEarliest gives a job the earliest start.
func (f *ClusterState) reserveEarliest(w *PendingJob) {
	p := &f.profile
	w.reserved, w.place = p.earliest(f.now, w.Units, w.Time)
	p.allocate(w.reserved, w.reserved.Add(w.Time), w.Units, w.place)
	p.note(w.reserved)
}

func (f *ClusterState) reserveAnew() {
	p := &f.profile
	p.due, p.restored = unreserved, false
	for w := range f.pending.all() {
		f.reserveEarliest(w)
	}
	p.made = !f.overdue()
	p.firm = p.made
}

func (f *ClusterState) improveReservedStarts() {
	p := &f.profile
	p.due, p.firm = unreserved, true
	for w := range f.pending.all() {
		switch {
		case w.reserved == unreserved:
			f.reserveEarliest(w)
		case w.reserved <= f.now || p.pool && !p.earlier(f.now, w):
			p.note(w.reserved)
		default:
			at, place := w.reserved, w.place
			p.release(at, at.Add(w.Time), w.Units, place)
			f.reserveEarliest(w)
			p.firm = p.firm && w.reserved == at && w.place == place
		}
	}
}

// reserveNewcomers serves the jobs that came since the last pass, which stand at
// the end.
func (f *ClusterState) reserveNewcomers() {
	c, ok := f.pending.last()
	if !ok || f.pending.at(c).reserved != unreserved {
		return
	}
	for before := c; ok && f.pending.at(before).reserved == unreserved; before, ok = f.pending.previous(before) {
		c = before
	}
	for ok = true; ok; c, ok = f.pending.valid(c.After()) {
		f.reserveEarliest(f.pending.at(c))
	}
}

// startDue starts the jobs whose time has come. What they were promised may
// still be held by a job that is just to end.
func (f *ClusterState) startDue() {
	p := &f.profile
	soon := f.now
	if f.overdue() {
		soon = soon.Add(1) // what was promised of an overdue job, whose end makes a pass
	}
	if p.due > soon {
		p.wake = p.due
		return
	}
	p.wake = 0
	if p.due == unreserved {
		return
	}
	p.due = unreserved
	for c, ok := f.pending.valid(Cursor{}); ok; c, ok = f.pending.valid(c) {
		w := f.pending.at(c)
		if w.reserved <= f.now && f.free.Has(w.Units, w.place) {
			f.Start(c, w.place)
			continue
		}
		p.note(w.reserved)
		if w.reserved > soon && (p.wake == 0 || w.reserved < p.wake) {
			p.wake = w.reserved
		}
		c = c.After()
	}
}

// Wake is when a job that waits may have to be started though nothing else happens: a
// promised start, a hold, or another power budget. 0: no such time is known.
func (f *ClusterState) Wake() (wake protocol.Instant) {
	if f.hasReservations() {
		wake = f.reservationWake()
	}
	for _, at := range [...]protocol.Instant{f.profile.wake, f.supply.change} {
		if at != 0 && at != lastInstant && (wake == 0 || at < wake) {
			wake = at
		}
	}
	return wake
}
