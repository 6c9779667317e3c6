package engine

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Promised is the start that a waiting job was promised, by a policy that quotes [PlanReserved]. It
// follows from what has happened since the job came, and not from what is there now: so that a
// driver must write it down to keep it over a restart.
type Promised struct {
	Tag   protocol.Tag     `json:"tag"`
	Start protocol.Instant `json:"start_ms"` // 0: nothing was promised
	Place string           `json:"place,omitempty"`
}

// Promised lists what the waiting jobs are promised now, in the order of the queue; nothing
// under a policy that promises nothing.
func (e *Engine) Promised() (all []Promised) {
	c := e.core
	if c.policy.PlanMode() != PlanReserved {
		return nil
	}
	for w := range c.floor.waiting.all() {
		if w.reserved != unreserved {
			all = append(all, Promised{Tag: e.book.tags[w.slot], Start: w.reserved, Place: c.placeName(w.place)})
		}
	}
	return all
}

// promiseAs has the next pass promise a waiting job what it was promised before.
func (c *Core) promiseAs(number int, as Promised) {
	if as.Start == 0 || c.policy.PlanMode() != PlanReserved {
		return
	}
	e := c.entries[number]
	at, ok := c.floor.waiting.find(&Waiting{rank: e.rank, order: e.order})
	if !ok {
		return
	}
	w := c.floor.waiting.at(at)
	place, ok := c.placeNamed(as.Place, w.Units)
	if ok || c.pool {
		w.reserved, w.place = as.Start, place
		c.floor.profile.found = true
	}
}

// promiseFound promises the jobs that were promised a start before a restart the same again,
// as far as there is room for that in the new profile: something may have changed meanwhile.
// The others come after them. As what has ended meanwhile may have left room, all are then
// given the earliest start, which is never later.
func (f *ClusterState) promiseFound() {
	p := &f.profile
	p.due, p.found = unreserved, false
	var found []*Waiting
	for w := range f.waiting.all() {
		if w.reserved != unreserved {
			found = append(found, w)
		}
	}
	slices.SortStableFunc(found, func(a, b *Waiting) int { return cmp.Compare(a.reserved, b.reserved) })
	for _, w := range found {
		at := max(w.reserved, f.now)
		if w.reserved = unreserved; p.holds(at, at.Add(w.Time), w.Units, w.place) {
			w.reserved = at
			p.take(at, at.Add(w.Time), w.Units, w.place)
		}
	}
	p.made = true
	f.promiseAgain()
}
