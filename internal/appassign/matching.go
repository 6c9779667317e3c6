package appassign

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// matching says whether the components can all have a place at a site that takes them.
type matching struct {
	at   [][]int // components at each site
	seen []bool  // sites looked at for the component at hand
}

// fits looks for places, by augmenting paths.
func (r *relaxation) fits() bool {
	if !r.in.crowded {
		return true
	}
	m := &r.places
	m.at = resized(m.at, len(r.in.sites))
	m.seen = resized(m.seen, len(r.in.sites))
	for s := range m.at {
		m.at[s] = m.at[s][:0]
	}
	for k := range r.picked {
		clear(m.seen)
		if !r.seat(k) {
			return false
		}
	}
	return true
}

// seat finds a place for component k; others may move.
func (r *relaxation) seat(k int) bool {
	m := &r.places
	for _, i := range r.active[r.first[k]:r.first[k+1]] {
		s := r.in.options[i].site
		if m.seen[s] {
			continue
		}
		m.seen[s] = true
		if len(m.at[s]) < r.in.sites[s].accept {
			m.at[s] = append(m.at[s], k)
			return true
		}
		for place, other := range m.at[s] {
			if r.seat(other) {
				m.at[s][place] = k
				return true
			}
		}
	}
	return false
}

// Seated says which components the sites take, whatever the limits of cost and time: as
// many as possible, the first ones first, and those that start together all or none.
func Seated(p *Problem) ([]bool, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	free := *p
	free.MaxEnd = protocol.Never - 1
	in := newWhole(&free)
	r := newRelaxation(in)
	r.first = in.first
	for i := range in.options {
		r.active = append(r.active, i)
	}
	r.places = matching{at: make([][]int, len(in.sites)), seen: make([]bool, len(in.sites))}
	seated, asked := make([]bool, len(p.Components)), make([]bool, in.groups)
	for k := range p.Components {
		members := []int{k}
		if g := in.group[k]; g != ungrouped {
			if asked[g] {
				continue
			}
			asked[g] = true
			members = in.members(g)
		}
		if r.seatAll(members) {
			for _, member := range members {
				seated[member] = true
			}
		}
	}
	return seated, nil
}

// members are the components of a group.
func (in *instance) members(group int) (members []int) {
	for k, g := range in.group {
		if g == group {
			members = append(members, k)
		}
	}
	return members
}

// seatAll finds places for some components, or leaves everything as it was.
func (r *relaxation) seatAll(members []int) bool {
	if len(members) == 1 {
		clear(r.places.seen)
		return r.seat(members[0])
	}
	before := make([][]int, len(r.places.at))
	for s, there := range r.places.at {
		before[s] = slices.Clone(there)
	}
	for _, k := range members {
		clear(r.places.seen)
		if !r.seat(k) {
			r.places.at = before
			return false
		}
	}
	return true
}
