package engine

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// ReservedStarts is the start that a waiting job was promised, by a policy that quotes [PlanReserved]. It
// follows from what has happened since the job came, and not from what is there now: so that a
// driver must write it down to keep it over a restart.
type ReservedStart struct {
	Tag   protocol.Tag     `json:"tag"`
	Start protocol.Instant `json:"start_ms"` // 0: nothing was promised
	Place string           `json:"place,omitempty"`
}

// ReservedStarts lists what the waiting jobs are promised now, in the order of the queue; nothing
// under a policy that promises nothing.
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

// restoreReservedStart has the next pass promise a waiting job what it was promised before.
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

// restoreReservedStarts promises the jobs that were promised a start before a restart the same again,
// as far as there is room for that in the new profile: something may have changed meanwhile.
// The others come after them. As what has ended meanwhile may have left room, all are then
// given the earliest start, which is never later.
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
		if w.reserved = unreserved; p.hasFree(at, at.Add(w.Time), w.Units, w.place) {
			w.reserved = at
			p.allocate(at, at.Add(w.Time), w.Units, w.place)
		}
	}
	p.made = true
	f.improveReservedStarts()
}
