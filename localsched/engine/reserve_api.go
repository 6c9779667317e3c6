package engine

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// CanReserve says whether the engine can hold room: on machines whose units are alike, without a
// power budget. A hold does not say in which partition it is, which must stay the same over a
// restart; and what it would draw could not be promised.
func (e *Engine) CanReserve() bool { return e.cannotReserveReason() == "" }

// cannotReserveReason is why the engine cannot hold room.
func (e *Engine) cannotReserveReason() string {
	switch {
	case !e.core.pool:
		return "no room is held on a machine of partitions"
	case e.core.state.budget != nil:
		return "no room is held under a power budget"
	}
	return ""
}

// Reserve implements [localsched.EngineReserver]. What is promised already is the limits of running
// jobs, the starts that the policy has reserved, and other holds. With exactly it may stand
// in the way of promises, and a power budget does not matter: a hold is older than that.
func (e *Engine) Reserve(
	now protocol.Instant, hold localsched.Reservation, exactly bool,
) (protocol.Instant, localsched.Actions, error) {
	if slot, ok := e.tags.slots[hold.Tag]; ok {
		at, ok := e.core.reservationStart(slot)
		if !ok {
			return 0, localsched.Actions{}, fmt.Errorf("hold room for job %v: %w", hold.Tag, localsched.ErrDuplicate)
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
		return 0, localsched.Actions{}, &localsched.RefusedError{Reason: "no time is in sight at which there is room"}
	}
	return start, e.actions(e.core.reserve(now, e.tags.add(hold.Tag), w, start, exactly)), nil
}

// CancelReservation implements [localsched.EngineReserver]. A hold whose job has come is no more to be given up.
func (e *Engine) CancelReservation(now protocol.Instant, tag protocol.Tag) localsched.Actions {
	slot, ok := e.tags.slots[tag]
	if !ok || e.core.entries[slot].state != unclaimed {
		return e.actions(nil)
	}
	e.core.dropReservation(now, slot)
	e.tags.remove(tag)
	return e.Pass(now)
}

// unclaimedReservation is the slot of a hold that a submission may take. One that is over is forgotten.
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

// submitReserved gives a job the room that is held for it, without a pass.
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

// forgetExpired forgets the tags of holds that have ended without a job.
func (e *Engine) forgetExpired() {
	lapsed := &e.core.state.reservations.expired
	for _, slot := range *lapsed {
		e.core.entries[slot] = entry{}
		e.tags.remove(e.tags.tags[slot])
	}
	*lapsed = (*lapsed)[:0]
}

// reservationStart is when the hold of a number begins.
func (c *Core) reservationStart(number int) (at protocol.Instant, ok bool) {
	i := c.state.reservations.at(number)
	if i < 0 {
		return 0, false
	}
	return c.state.reservations.list[i].start, true
}

// earliestFree is the first instant, not before a given one, at which there is room for all of
// the time beside what is promised.
func (c *Core) earliestFree(now protocol.Instant, w PendingJob, from protocol.Instant) protocol.Instant {
	c.advance(now)
	p := &c.trial.state.profile
	c.state.projectAll(p)
	at, _ := p.earliest(max(from, c.state.now), w.Units, w.Time)
	return at
}

// reservation keeps room, and makes a pass, in which the head of the queue is given its reservation
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

// exceedsReason is why a job may not have the room that is held under its number.
func (c *Core) exceedsReason(number int, w PendingJob) (reason string) {
	h := &c.state.reservations.list[c.state.reservations.at(number)]
	if w.Units > h.Units || w.Time > h.Time {
		return fmt.Sprintf("asks for %s for %s, but room for %s for %s is held for it",
			protocol.Count(c.machine.CPUs(w.Units), "CPU"), w.Time.Text(), protocol.Count(c.machine.CPUs(h.Units), "CPU"), h.Time.Text())
	}
	return ""
}

// claim gives the room that is held under a job's number to the job, and what the job does not
// need of it to others, without a pass.
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

// dropReservation gives up what is held under a number, without a pass.
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

// reserver is a border with room to hold.
type reserver struct{ fallibleEngine }

func (h reserver) CancelReservation(now protocol.Instant, tag protocol.Tag) (localsched.Actions, error) {
	return h.Engine.CancelReservation(now, tag), nil
}

var _ localsched.EngineReserver = reserver{}
