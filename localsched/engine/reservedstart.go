package engine

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// ReservedStart is the reserved start of a pending job under a policy with [PlanReserved]. It follows
// from the events since the job came, and not from the present jobs, so a driver must save it to keep
// it over a restart.
type ReservedStart struct {
	Tag   protocol.Tag     `json:"tag"`
	Start protocol.Instant `json:"start_ms"` // zero: none
	Place string           `json:"place,omitempty"`
}

// ReservedStarts lists the reserved starts of pending jobs, in the order of the queue. It is empty
// under a policy without reserved starts.
func (e *Engine) ReservedStarts() (all []ReservedStart) {
	c := e.core
	if c.policy.PlanMode() != PlanReserved {
		return nil
	}
	for w := range c.state.pending.all() {
		if w.reserved != unreserved {
			all = append(all, ReservedStart{Tag: e.tags.tags[w.slot], Start: w.reserved, Place: c.placeName(w.place)})
		}
	}
	return all
}

// restoreReservedStart has the next pass reserve the same start for a pending job as before a restart.
func (c *Core) restoreReservedStart(number int, as ReservedStart) {
	if as.Start == 0 || c.policy.PlanMode() != PlanReserved {
		return
	}
	e := c.entries[number]
	at, ok := c.state.pending.find(&PendingJob{rank: e.rank, order: e.order})
	if !ok {
		return
	}
	w := c.state.pending.at(at)
	place, ok := c.placeNamed(as.Place, w.Units)
	if ok || c.pool {
		w.reserved, w.place = as.Start, place
		c.state.profile.restored = true
	}
}

// restoreReservedStarts reserves the starts that jobs had before a restart, as far as units are free
// then in the new profile: the machine may have changed. The other jobs come after them. Because jobs
// may have ended meanwhile, each job then takes the earliest start, which is never later.
func (f *ClusterState) restoreReservedStarts() {
	p := &f.profile
	p.due, p.restored = unreserved, false
	var found []*PendingJob
	for w := range f.pending.all() {
		if w.reserved != unreserved {
			found = append(found, w)
		}
	}
	slices.SortStableFunc(found, func(a, b *PendingJob) int { return cmp.Compare(a.reserved, b.reserved) })
	for _, w := range found {
		at := max(w.reserved, f.now)
		if w.reserved = unreserved; p.hasFree(at, at.Add(w.Time), w.Demand(), w.place) {
			w.reserved = at
			p.allocate(at, at.Add(w.Time), w.Demand(), w.place)
		}
	}
	p.made = true
	f.improveReservedStarts()
}
