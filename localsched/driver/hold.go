package driver

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ends is when an advance reservation is over.
func ends(h localsched.Reservation) protocol.Instant { return h.Start.Add(h.Request.WallTime) }

// CanReserve reports whether advance reservations can be made under the present rules.
func (d *Driver) CanReserve() bool {
	if d.own != nil {
		return d.own.CanReserve()
	}
	_, ok := d.engine.(localsched.EngineReserver)
	return ok
}

// Reserve makes an advance reservation and returns its start. Repeating a tag returns the same
// one. The error is a *[localsched.RefusedError] where there is none to be had.
func (d *Driver) Reserve(now protocol.Instant, asked localsched.Reservation) (protocol.Instant, error) {
	start, actions, err := d.hold(now, asked, false)
	if err != nil {
		return 0, err
	}
	asked.Start = start
	d.holds[asked.Tag] = asked
	d.take(now, actions)
	return start, nil
}

func (d *Driver) hold(now protocol.Instant, asked localsched.Reservation, exactly bool) (protocol.Instant, localsched.Actions, error) {
	if d.own != nil {
		return d.own.Reserve(now, asked, exactly)
	}
	holder, ok := d.engine.(localsched.EngineReserver)
	if !ok {
		return 0, localsched.Actions{}, &localsched.RefusedError{Reason: "this site's batch system makes no advance reservations"}
	}
	return holder.Reserve(now, asked, exactly)
}

// CancelReservation gives up an advance reservation that no job has taken. There need not be one.
func (d *Driver) CancelReservation(now protocol.Instant, tag protocol.Tag) error {
	delete(d.holds, tag)
	if d.own != nil {
		d.take(now, d.own.CancelReservation(now, tag))
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
	d.take(now, actions)
	return nil
}

// Held reports whether there is an advance reservation for a job that has not come.
func (d *Driver) Held(now protocol.Instant, tag protocol.Tag) bool {
	h, ok := d.holds[tag]
	return ok && d.jobs[tag] == nil && now < ends(h)
}

// Reservations are the tags with an advance reservation that no job has taken, by their
// starts.
func (d *Driver) Reservations() (tags []protocol.Tag) {
	for _, h := range d.reservations() {
		if d.jobs[h.Tag] == nil {
			tags = append(tags, h.Tag)
		}
	}
	return tags
}

func (d *Driver) reservations() []localsched.Reservation {
	return slices.SortedFunc(maps.Values(d.holds), func(a, b localsched.Reservation) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Tag.Job, b.Tag.Job), cmp.Compare(a.Tag.Epoch, b.Tag.Epoch))
	})
}

// AddReservation has the driver know an advance reservation that is there already, for
// [Driver.Rebuild].
func (d *Driver) AddReservation(h localsched.Reservation) { d.holds[h.Tag] = h }

// spend forgets an advance reservation that is of no more use.
func (d *Driver) spend(tag protocol.Tag) {
	if _, ok := d.holds[tag]; ok {
		delete(d.holds, tag)
		d.work.Spent = append(d.work.Spent, tag)
	}
}

// planHolds has a new engine reserve what is reserved, before anything is queued.
func (d *Driver) planHolds(now protocol.Instant) (misfits []Misfit) {
	for _, h := range d.reservations() {
		if j := d.jobs[h.Tag]; j != nil && j.started {
			continue // it has its room, and the reservation goes with it
		}
		if ends(h) <= now {
			d.spend(h.Tag)
			continue
		}
		_, actions, err := d.hold(now, h, true)
		if err != nil {
			misfits = append(misfits, Misfit{Tag: h.Tag, Reserved: true, Err: err})
			d.spend(h.Tag)
			continue
		}
		d.note(now, actions)
	}
	return misfits
}
