package engine

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// CanReserve says whether the engine can hold room: on machines whose units are alike, without a
// power budget. A hold does not say in which partition it is, which must stay the same over a
// restart; and what it would draw could not be promised.
func (e *Engine) CanReserve() bool { return e.unable() == "" }

// unable is why the engine cannot hold room.
func (e *Engine) unable() string {
	switch {
	case !e.core.pool:
		return "no room is held on a machine of partitions"
	case e.core.floor.budget != nil:
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
	if slot, ok := e.book.slots[hold.Tag]; ok {
		at, ok := e.core.heldFrom(slot)
		if !ok {
			return 0, localsched.Actions{}, fmt.Errorf("hold room for job %v: %w", hold.Tag, localsched.ErrDuplicate)
		}
		return at, e.actions(nil), nil
	}
	w, reason := sizeAlone(e.core.machine, hold.Request)
	if unable := e.unable(); reason == "" && (!exactly || !e.core.pool) {
		reason = unable
	}
	if reason != "" {
		return 0, localsched.Actions{}, &localsched.RefusedError{Reason: reason}
	}
	start := hold.Start
	if !exactly {
		start = e.core.freeFrom(now, w, hold.Start)
	}
	if start == lastInstant {
		return 0, localsched.Actions{}, &localsched.RefusedError{Reason: "no time is in sight at which there is room"}
	}
	return start, e.actions(e.core.hold(now, e.book.add(hold.Tag), w, start, exactly)), nil
}

// CancelReservation implements [localsched.EngineReserver]. A hold whose job has come is no more to be given up.
func (e *Engine) CancelReservation(now protocol.Instant, tag protocol.Tag) localsched.Actions {
	slot, ok := e.book.slots[tag]
	if !ok || e.core.entries[slot].state != holding {
		return e.actions(nil)
	}
	e.core.drop(now, slot)
	e.book.remove(tag)
	return e.Pass(now)
}

// holding is the slot of a hold that a submission may take. One that is over is forgotten.
func (e *Engine) holding(now protocol.Instant, tag protocol.Tag) (slot int, ok bool) {
	if !e.core.floor.held() {
		return 0, false
	}
	slot, ok = e.book.slots[tag]
	if !ok || e.core.entries[slot].state != holding {
		return 0, false
	}
	if h := e.core.floor.holds.list[e.core.floor.holds.at(slot)]; h.end() > max(now, e.core.floor.now) {
		return slot, true
	}
	e.core.drop(now, slot)
	e.book.remove(tag)
	return 0, false
}

// submitHeld gives a job the room that is held for it, without a pass.
func (e *Engine) submitHeld(now protocol.Instant, slot int, job localsched.Queued) error {
	w, reason := sizeAlone(e.core.machine, job.Request)
	if reason == "" {
		reason = e.core.exceeds(slot, w)
	}
	if reason != "" {
		return &localsched.RefusedError{Reason: reason}
	}
	w.since = job.Since
	e.core.take(now, slot, w)
	return nil
}

// forgetLapsed forgets the tags of holds that have ended without a job.
func (e *Engine) forgetLapsed() {
	lapsed := &e.core.floor.holds.lapsed
	for _, slot := range *lapsed {
		e.core.entries[slot] = entry{}
		e.book.remove(e.book.tags[slot])
	}
	*lapsed = (*lapsed)[:0]
}

// heldFrom is when the hold of a number begins.
func (c *Core) heldFrom(number int) (at protocol.Instant, ok bool) {
	i := c.floor.holds.at(number)
	if i < 0 {
		return 0, false
	}
	return c.floor.holds.list[i].start, true
}

// freeFrom is the first instant, not before a given one, at which there is room for all of
// the time beside what is promised.
func (c *Core) freeFrom(now protocol.Instant, w Waiting, from protocol.Instant) protocol.Instant {
	c.advance(now)
	p := &c.trial.floor.profile
	c.floor.booked(p)
	at, _ := p.earliest(max(from, c.floor.now), w.Units, w.Time)
	return at
}

// reservation keeps room, and makes a pass, in which the head of the queue is given its reservation
// beside it. It returns the numbers of the jobs to start.
func (c *Core) hold(now protocol.Instant, number int, w Waiting, start protocol.Instant, exactly bool) []int {
	c.change(now)
	w.slot, w.order = number, c.version
	h := reservation{Waiting: w, start: start}
	c.floor.keep(h)
	c.lookUp()
	*c.entry(number) = entry{state: holding}
	if exactly {
		c.floor.profile.forget()
	} else {
		c.floor.profile.promiseHeld(c.floor.now, &h)
	}
	return c.Pass(now)
}

// exceeds is why a job may not have the room that is held under its number.
func (c *Core) exceeds(number int, w Waiting) (reason string) {
	h := &c.floor.holds.list[c.floor.holds.at(number)]
	if w.Units > h.Units || w.Time > h.Time {
		return fmt.Sprintf("asks for %s for %s, but room for %s for %s is held for it",
			protocol.Count(c.machine.CPUs(w.Units), "CPU"), w.Time.Text(), protocol.Count(c.machine.CPUs(h.Units), "CPU"), h.Time.Text())
	}
	return ""
}

// take gives the room that is held under a job's number to the job, and what the job does not
// need of it to others, without a pass.
func (c *Core) take(now protocol.Instant, number int, w Waiting) {
	c.change(now)
	if w.since == 0 {
		w.since = c.floor.now
	}
	c.floor.takeHold(c.floor.holds.at(number), w)
	c.work = c.work.Plus(c.workOf(w))
	*c.entry(number) = entry{state: taken}
	c.passDone = false
}

// drop gives up what is held under a number, without a pass.
func (c *Core) drop(now protocol.Instant, number int) {
	c.change(now)
	h := c.floor.removeReservation(c.floor.holds.at(number))
	c.floor.profile.dropped(c.floor.now, &h)
	if h.taken {
		c.work = c.work.Plus(c.workOf(h.Waiting).Negative())
	}
	c.passDone = false
	c.lookUp()
	c.entries[number] = entry{}
}

// holder is a border with room to hold.
type holder struct{ fallibleEngine }

func (h holder) CancelReservation(now protocol.Instant, tag protocol.Tag) (localsched.Actions, error) {
	return h.Engine.CancelReservation(now, tag), nil
}

var _ localsched.EngineReserver = holder{}
