package engine

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// CanReserve reports whether the engine makes advance reservations: on machines whose units are alike,
// without a power budget. A reservation has no partition, which would have to stay the same over a
// restart, and power for it could not be guaranteed.
func (e *Engine) CanReserve() bool { return e.cannotReserveReason() == "" }

// cannotReserveReason is the reason why the engine makes no advance reservations, or "".
func (e *Engine) cannotReserveReason() string {
	switch {
	case !e.core.pool:
		return "no advance reservations on a machine with partitions"
	case e.core.state.budget != nil:
		return "no advance reservations under a power budget"
	}
	return ""
}

// Reserve implements [localsched.EngineReserver]. The start is the first at which the units are free
// beside the limits of running jobs, the reserved starts of pending jobs and other reservations. With
// exactly the reservation is an existing one: it may overlap reserved starts, and it is made under a
// power budget too.
func (e *Engine) Reserve(
	now protocol.Instant, hold localsched.Reservation, exactly bool,
) (protocol.Instant, localsched.Actions, error) {
	if slot, ok := e.tags.slots[hold.Tag]; ok {
		at, ok := e.core.reservationStart(slot)
		if !ok {
			return 0, localsched.Actions{}, fmt.Errorf("reserve for job %v: %w", hold.Tag, localsched.ErrDuplicate)
		}
		return at, e.actions(nil), nil
	}
	w, reason := machineSize(e.core.machine, hold.Request)
	if unable := e.cannotReserveReason(); reason == "" && (!exactly || !e.core.pool) {
		reason = unable
	}
	if reason != "" {
		return 0, localsched.Actions{}, &localsched.RefusedError{Reason: reason}
	}
	start := hold.Start
	if !exactly {
		start = e.core.earliestFree(now, w, hold.Start)
	}
	if start == lastInstant {
		return 0, localsched.Actions{}, &localsched.RefusedError{Reason: "no time is known at which enough CPUs are free"}
	}
	return start, e.actions(e.core.reserve(now, e.tags.add(hold.Tag), w, start, exactly)), nil
}

// CancelReservation implements [localsched.EngineReserver]. A reservation whose job has come is kept.
func (e *Engine) CancelReservation(now protocol.Instant, tag protocol.Tag) localsched.Actions {
	slot, ok := e.tags.slots[tag]
	if !ok || e.core.entries[slot].state != unclaimed {
		return e.actions(nil)
	}
	e.core.dropReservation(now, slot)
	e.tags.remove(tag)
	return e.Pass(now)
}

// unclaimedReservation is the slot of a reservation that a submission may claim. An expired one is
// removed.
func (e *Engine) unclaimedReservation(now protocol.Instant, tag protocol.Tag) (slot int, ok bool) {
	if !e.core.state.hasReservations() {
		return 0, false
	}
	slot, ok = e.tags.slots[tag]
	if !ok || e.core.entries[slot].state != unclaimed {
		return 0, false
	}
	if h := e.core.state.reservations.list[e.core.state.reservations.at(slot)]; h.end() > max(now, e.core.state.now) {
		return slot, true
	}
	e.core.dropReservation(now, slot)
	e.tags.remove(tag)
	return 0, false
}

// submitReserved gives a job its reservation, without a pass.
func (e *Engine) submitReserved(now protocol.Instant, slot int, job localsched.Queued) error {
	w, reason := machineSize(e.core.machine, job.Request)
	if reason == "" {
		reason = e.core.exceedsReason(slot, w)
	}
	if reason != "" {
		return &localsched.RefusedError{Reason: reason}
	}
	w.since = job.Since
	e.core.claim(now, slot, w)
	return nil
}

// forgetExpired removes the tags of reservations that have expired without a job.
func (e *Engine) forgetExpired() {
	lapsed := &e.core.state.reservations.expired
	for _, slot := range *lapsed {
		e.core.entries[slot] = entry{}
		e.tags.remove(e.tags.tags[slot])
	}
	*lapsed = (*lapsed)[:0]
}

// reservationStart is the start of the reservation of a job number.
func (c *Core) reservationStart(number int) (at protocol.Instant, ok bool) {
	i := c.state.reservations.at(number)
	if i < 0 {
		return 0, false
	}
	return c.state.reservations.list[i].start, true
}

// earliestFree is the first instant, not before a given one, from which enough units are free for the
// whole time beside everything planned.
func (c *Core) earliestFree(now protocol.Instant, w PendingJob, from protocol.Instant) protocol.Instant {
	c.advance(now)
	p := &c.trial.state.profile
	c.state.projectAll(p)
	at, _ := p.earliest(max(from, c.state.now), w.Demand(), w.Time)
	return at
}

// reserve adds a reservation and makes a pass, in which the head of the queue is given its reservation
// beside it. It returns the numbers of the jobs to start.
func (c *Core) reserve(now protocol.Instant, number int, w PendingJob, start protocol.Instant, exactly bool) []int {
	c.change(now)
	w.slot, w.order = number, c.version
	h := reservation{PendingJob: w, start: start}
	c.state.addReservation(h)
	c.lookUp()
	*c.entry(number) = entry{state: unclaimed}
	if exactly {
		c.state.profile.forget()
	} else {
		c.state.profile.addReservation(c.state.now, &h)
	}
	return c.Pass(now)
}

// exceedsReason is the reason why a job exceeds the reservation of its number, or "".
func (c *Core) exceedsReason(number int, w PendingJob) (reason string) {
	h := &c.state.reservations.list[c.state.reservations.at(number)]
	if w.Units > h.Units || w.Time > h.Time {
		return fmt.Sprintf("requests %s for %s; its reservation has %s for %s",
			protocol.Count(c.machine.CPUs(w.Units), "CPU"), w.Time.Text(), protocol.Count(c.machine.CPUs(h.Units), "CPU"), h.Time.Text())
	}
	if m, ok := c.machine.(*counted); ok && !m.covers(h.extras, w.extras) {
		return "requests resources or features of nodes that its reservation does not have"
	}
	return ""
}

// claim gives the reservation of a number to its job, without a pass. What the job does not need
// becomes free.
func (c *Core) claim(now protocol.Instant, number int, w PendingJob) {
	c.change(now)
	if w.since == 0 {
		w.since = c.state.now
	}
	c.state.claimReservation(c.state.reservations.at(number), w)
	c.work = c.work.Plus(c.workOf(w))
	*c.entry(number) = entry{state: claimed}
	c.passDone = false
}

// dropReservation removes the reservation of a number, without a pass.
func (c *Core) dropReservation(now protocol.Instant, number int) {
	c.change(now)
	h := c.state.removeReservation(c.state.reservations.at(number))
	c.state.profile.removeReservation(c.state.now, &h)
	if h.claimed {
		c.work = c.work.Plus(c.workOf(h.PendingJob).Negative())
	}
	c.passDone = false
	c.lookUp()
	c.entries[number] = entry{}
}

// reserver is a fallibleEngine that makes advance reservations.
type reserver struct{ fallibleEngine }

func (h reserver) CancelReservation(now protocol.Instant, tag protocol.Tag) (localsched.Actions, error) {
	return h.Engine.CancelReservation(now, tag), nil
}

var _ localsched.EngineReserver = reserver{}
