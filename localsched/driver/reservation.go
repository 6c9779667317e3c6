package driver

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// reservationEnd is when an advance reservation expires.
func reservationEnd(h localsched.Reservation) protocol.Instant {
	return h.Start.Add(h.Request.WallTime)
}

// CanReserve reports whether the present rules allow advance reservations.
func (d *Driver) CanReserve() bool {
	if d.builtin != nil {
		return d.builtin.CanReserve()
	}
	_, ok := d.engine.(localsched.EngineReserver)
	return ok
}

// Reserve makes an advance reservation and returns its start: the first instant, not before the
// requested one, at which the CPUs are free for the whole time limit beside all reserved starts.
// Repeating a tag returns the same start. The error is a *[localsched.RefusedError] if no
// reservation is possible.
//
// Invariant: a reservation is removed exactly once: by its cancellation, with its job, or when it
// expires without one. TestReservations checks it.
func (d *Driver) Reserve(now protocol.Instant, asked localsched.Reservation) (protocol.Instant, error) {
	start, actions, err := d.reserve(now, asked, false)
	if err != nil {
		return 0, err
	}
	asked.Start = start
	d.reservations[asked.Tag] = asked
	d.applyAndUpdate(now, actions)
	return start, nil
}

func (d *Driver) reserve(now protocol.Instant, asked localsched.Reservation, exactly bool) (protocol.Instant, localsched.Actions, error) {
	if d.builtin != nil {
		return d.builtin.Reserve(now, asked, exactly)
	}
	holder, ok := d.engine.(localsched.EngineReserver)
	if !ok {
		return 0, localsched.Actions{}, &localsched.RefusedError{Reason: "this site's batch system makes no advance reservations"}
	}
	return holder.Reserve(now, asked, exactly)
}

// CancelReservation removes an advance reservation whose job has not come. It need not exist.
func (d *Driver) CancelReservation(now protocol.Instant, tag protocol.Tag) error {
	delete(d.reservations, tag)
	if d.builtin != nil {
		d.applyAndUpdate(now, d.builtin.CancelReservation(now, tag))
		return nil
	}
	holder, ok := d.engine.(localsched.EngineReserver)
	if !ok {
		return nil
	}
	actions, err := holder.CancelReservation(now, tag)
	if err != nil {
		return err
	}
	d.applyAndUpdate(now, actions)
	return nil
}

// IsReserved reports whether a tag has an advance reservation that has not expired and whose job
// has not come.
func (d *Driver) IsReserved(now protocol.Instant, tag protocol.Tag) bool {
	h, ok := d.reservations[tag]
	return ok && d.jobs[tag] == nil && now < reservationEnd(h)
}

// Reservations are the tags with an advance reservation whose job has not come, ordered by start.
func (d *Driver) Reservations() (tags []protocol.Tag) {
	for _, h := range d.sortedReservations() {
		if d.jobs[h.Tag] == nil {
			tags = append(tags, h.Tag)
		}
	}
	return tags
}

func (d *Driver) sortedReservations() []localsched.Reservation {
	return slices.SortedFunc(maps.Values(d.reservations), func(a, b localsched.Reservation) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Tag.Job, b.Tag.Job), cmp.Compare(a.Tag.Epoch, b.Tag.Epoch))
	})
}

// AddReservation gives the driver an existing advance reservation, before [Driver.Rebuild].
func (d *Driver) AddReservation(h localsched.Reservation) { d.reservations[h.Tag] = h }

// endReservation removes an advance reservation and has the runner remove its record.
func (d *Driver) endReservation(tag protocol.Tag) {
	if _, ok := d.reservations[tag]; ok {
		delete(d.reservations, tag)
		d.work.EndedReservations = append(d.work.EndedReservations, tag)
	}
}

// restoreReservations makes the advance reservations in a new engine, before jobs are queued, at
// their old starts even if those are in the way of other jobs.
func (d *Driver) restoreReservations(now protocol.Instant) (misfits []Misfit) {
	for _, h := range d.sortedReservations() {
		if j := d.jobs[h.Tag]; j != nil && j.started {
			continue // the running job has the CPUs; the reservation ends with it
		}
		if reservationEnd(h) <= now {
			d.endReservation(h.Tag)
			continue
		}
		_, actions, err := d.reserve(now, h, true)
		if err != nil {
			misfits = append(misfits, Misfit{Tag: h.Tag, Reserved: true, Err: err})
			d.endReservation(h.Tag)
			continue
		}
		d.apply(now, actions)
	}
	return misfits
}
