package engine

import "github.com/switchyard-hpc/switchyard/protocol"

// ReserveAll gives every pending job a reserved start, in the order of the queue, and starts the jobs
// whose start has come. A new job is given the earliest start that delays no earlier reservation.
// After a job has left, each pending job releases its reserved start and takes the earliest one again.
//
// While a running job is past its estimate, all reserved starts are computed again in every pass, as if
// that job ended in the next millisecond. After a restart the reserved starts that the driver has saved
// are restored.
//
// Invariant: a reserved start never moves to a later time while running jobs end by their estimates.
// TestConservativePromise checks it.
func (f *ClusterState) ReserveAll() {
	p := &f.profile
	switch kept := f.refresh(); {
	case p.restored && !f.overdue():
		f.restoreReservedStarts()
	case !kept:
		f.reserveAgain()
	case p.freed && !p.firm:
		f.improveReservedStarts()
	default:
		f.reserveNewcomers()
	}
	p.freed = false
	f.startDue()
	f.startShorter()
}

// refresh brings the profile up to the present. It returns false if the reserved starts are not valid
// any more, because a job runs past its estimate or a reserved start has passed.
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
			f.profile.allocate(w.reserved, w.reserved.Add(w.Time), w.Demand(), w.place)
		}
	}
}

// reserveEarliest reserves the earliest start for a job.
func (f *ClusterState) reserveEarliest(w *PendingJob) {
	p := &f.profile
	w.reserved, w.place = p.earliest(f.now, w.Demand(), w.Time)
	p.allocate(w.reserved, w.reserved.Add(w.Time), w.Demand(), w.place)
	p.note(w.reserved)
}

func (f *ClusterState) reserveAgain() {
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
			p.release(at, at.Add(w.Time), w.Demand(), place)
			f.reserveEarliest(w)
			p.firm = p.firm && w.reserved == at && w.place == place
		}
	}
}

// reserveNewcomers reserves for the jobs that came since the last pass, which are at the end of the
// queue.
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

// startDue starts the jobs whose reserved start has come and whose units are free: a job that is about
// to end may still have them.
func (f *ClusterState) startDue() {
	p := &f.profile
	soon := f.now
	if f.overdue() {
		soon = soon.Add(1) // a start reserved on the units of an overdue job, whose end makes a pass
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
		if w.reserved <= f.now && f.free.Has(w.Demand(), w.place) {
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

// Wake is when a pending job may have to be started without another event: a reserved start, an
// advance reservation, or a change of the power budget. Zero means that there is none.
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
