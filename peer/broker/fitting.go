package broker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A policy sees quotes for one job each, so it may put more members of a group at one site than
// that has room for at one instant. So what it decides about groups is checked. Where it does
// not fit, the policy is asked again about places that do, and only about these: it still has
// the last word on limits and costs. The places are those that leave as many members as possible
// where the policy wants them, then the cheapest, then those that end first. A group without
// such places waits, with the reason.

// fit is that of one group.
type fit struct {
	key     GroupKey
	members []protocol.JobID
	first   []int    // of each member its first row in the snapshot; the others follow
	options []option // that are left to be tried
	place   []int    // index of each member's row in the snapshot, and
	site    []int    // of its site, that the policy is asked about; nil: whatever it likes
	why     string   // the group waits; empty: it does not
	open    bool     // the policy is to be asked again
	tried   map[string]bool
}

// option is a way to choose among the places that fit.
type option string

const (
	nearest  option = "nearest" // to what the policy has decided
	cheapest option = "cheapest"
	soonest  option = "soonest"
)

// Fitting is the search for places of the groups of a round, in as many questions to the policy as
// they need.
type Fitting struct {
	In policy.Snapshot // of the whole round

	specs  []protocol.Spec // of its rows
	groups []*fit
	asked  int
}

// Rooms are what a site of the snapshot, by its index, has for a group now; false: its machine is not
// known.
type Rooms func(group GroupKey, site int) (Room, bool)

// maxDecisions bounds the questions to the policy in one round.
const maxDecisions = 8

// Fit begins the search for a round whose rows have these specs. The groups are those of which more
// than one member is in it; groupOf names that of a job, if it has one.
func Fit(in policy.Snapshot, specs []protocol.Spec, groupOf func(protocol.JobID) (GroupKey, bool)) *Fitting {
	byKey := map[GroupKey]*fit{}
	for row := range in.Jobs {
		id := in.Jobs[row].ID
		if in.Jobs[row].Together == 0 || (row > 0 && in.Jobs[row-1].ID == id) {
			continue
		}
		key, ok := groupOf(id)
		if !ok {
			continue
		}
		g := byKey[key]
		if g == nil {
			g = &fit{key: key, options: []option{nearest, cheapest, soonest}, tried: map[string]bool{}}
			byKey[key] = g
		}
		g.members, g.first = append(g.members, id), append(g.first, row)
	}
	groups := slices.SortedFunc(maps.Values(byKey), func(a, b *fit) int {
		return cmp.Or(cmp.Compare(a.key.Application, b.key.Application), cmp.Compare(a.key.Number, b.key.Number))
	})
	groups = slices.DeleteFunc(groups, func(g *fit) bool { return len(g.members) < 2 })
	return &Fitting{In: in, specs: specs, groups: groups}
}

// Narrowed is the snapshot in which groups have only the places that the policy is asked about.
func (f *Fitting) Narrowed() policy.Snapshot {
	in := f.In
	if !slices.ContainsFunc(f.groups, func(g *fit) bool { return g.site != nil }) {
		return in
	}
	in.AWT, in.ERT = slices.Clone(in.AWT), slices.Clone(in.ERT)
	for _, g := range f.groups {
		if g.site == nil {
			continue
		}
		for k, id := range g.members {
			for row := g.first[k]; row < len(in.Jobs) && in.Jobs[row].ID == id; row++ {
				for s := range in.Sites {
					if row != g.place[k] || s != g.site[k] {
						in.AWT[in.At(row, s)], in.ERT[in.At(row, s)] = protocol.Never, protocol.Never
					}
				}
			}
		}
	}
	return in
}

// Review checks what the policy has decided about groups. It says whether the policy is to be
// asked again; last says that it cannot be.
func (f *Fitting) Review(decisions []policy.Decision, rooms Rooms, last bool) (again bool) {
	if len(f.groups) == 0 {
		return false
	}
	chosen := make(map[protocol.JobID]policy.Decision, len(decisions))
	for _, one := range decisions {
		chosen[f.In.Jobs[one.Job].ID] = one
	}
	for _, g := range f.groups {
		if g.why == "" {
			g.open = f.reviewGroup(g, chosen, rooms)
			again = again || g.open
		}
	}
	if f.asked++; again && (f.asked >= maxDecisions || last) {
		for _, g := range f.groups {
			if g.open {
				g.why = "no places with room for all components that start together were found in this round"
			}
		}
		return false
	}
	return again
}

// reviewGroup is Review for one group.
func (f *Fitting) reviewGroup(g *fit, chosen map[protocol.JobID]policy.Decision, rooms Rooms) (again bool) {
	s := f.seatsIn(g, rooms)
	verdict, why := f.judge(g, s, chosen)
	if verdict == fits {
		return false
	}
	if g.site == nil {
		if s.Find() == nil {
			g.why = f.noRoom(g, s)
			return false
		}
		if verdict == refusedByPolicy {
			return false // it has said why, having seen all places
		}
	}
	for len(g.options) > 0 && (g.site == nil || verdict != silent) {
		by := g.options[0]
		g.options = g.options[1:]
		if f.choose(g, by, chosen, rooms) {
			return true
		}
	}
	g.why = "places with room for all components that start together are there, but the policy takes none of them"
	if why != "" {
		g.why += ": " + why
	}
	return false
}

// What a policy's decision about a group is.
type groupVerdict int

const (
	fits groupVerdict = iota
	doesNotFit
	refusedByPolicy
	silent // it places not all of it, and does not say why
)

func (f *Fitting) judge(g *fit, s *Seating, chosen map[protocol.JobID]policy.Decision) (groupVerdict, string) {
	why, all := "", true
	used := make([]Need, len(s.Rooms))
	for k, id := range g.members {
		one, ok := chosen[id]
		if !ok || one.Site == policy.NoSite {
			why, all = cmp.Or(why, one.Reason), false
			continue
		}
		i := slices.IndexFunc(s.Members[k], func(x Seat) bool { return x.Row == one.Job && s.Rooms[x.Room].Name == f.In.Sites[one.Site].Name })
		if i < 0 {
			continue // its offer will tell
		}
		b := s.Rooms[s.Members[k][i].Room]
		b.Used = used[s.Members[k][i].Room]
		if !b.Holds(s.Members[k][i].Need) {
			return doesNotFit, ""
		}
		used[s.Members[k][i].Room] = b.Used.Plus(s.Members[k][i].Need)
	}
	switch {
	case all:
		return fits, ""
	case why != "":
		return refusedByPolicy, why
	}
	return silent, ""
}

// seatsIn are the places that the members of a group have quotes for in a round.
func (f *Fitting) seatsIn(g *fit, rooms Rooms) *Seating {
	s := &Seating{Members: make([][]Seat, len(g.members))}
	at := make([]int, len(f.In.Sites))
	for i := range f.In.Sites {
		room, known := rooms(g.key, i)
		if at[i] = -1; known {
			at[i] = len(s.Rooms)
			s.Rooms = append(s.Rooms, room)
		}
	}
	for k, id := range g.members {
		for row := g.first[k]; row < len(f.In.Jobs) && f.In.Jobs[row].ID == id; row++ {
			for i := range f.In.Sites {
				if at[i] < 0 || f.In.AWT[f.In.At(row, i)] == protocol.Never {
					continue
				}
				b := &s.Rooms[at[i]]
				s.Members[k] = append(s.Members[k], Seat{Room: at[i], Row: row, Need: NeedOf(f.specs[row].ScaledRequest(b.Capacity), b.Capacity)})
			}
		}
	}
	return s
}

// choose gives a group places that it has not tried, by an option; false: there are none.
func (f *Fitting) choose(g *fit, by option, chosen map[protocol.JobID]policy.Decision, rooms Rooms) bool {
	s := f.seatsIn(g, rooms)
	s.Largest = by == soonest
	for k, id := range g.members {
		one, decided := chosen[id]
		for i := range s.Members[k] {
			x := &s.Members[k][i]
			site := slices.IndexFunc(f.In.Sites, func(row policy.Site) bool { return row.Name == s.Rooms[x.Room].Name })
			at := f.In.At(x.Row, site)
			end := f.In.Start(x.Row, site, f.In.AWT[at]).Plus(f.In.ERT[at]).Plus(f.In.Return(x.Row, site))
			switch {
			case by == cheapest:
				x.Weight = int64(f.In.Cost[at])
			case by == soonest:
				x.Weight = int64(end)
			case decided && one.Site == site && one.Job == x.Row:
			default: // away from the policy's choice, and then as soon as can be
				x.Weight = int64(min(end, 1000*protocol.Day)) + int64(10000*protocol.Day)
			}
		}
	}
	seats := s.Find()
	if seats == nil {
		return false
	}
	place, at := make([]int, len(seats)), make([]int, len(seats))
	for k, i := range seats {
		x := &s.Members[k][i]
		place[k] = x.Row
		at[k] = slices.IndexFunc(f.In.Sites, func(row policy.Site) bool { return row.Name == s.Rooms[x.Room].Name })
	}
	name := fmt.Sprint(place, at)
	if g.tried[name] {
		return false
	}
	g.tried[name], g.place, g.site = true, place, at
	return true
}

// noRoom says why a group has no places at one instant in a round.
func (f *Fitting) noRoom(g *fit, s *Seating) string {
	for k, id := range g.members {
		if len(s.Members[k]) == 0 {
			return fmt.Sprintf("no site takes job %v, which starts together with it, in this round", id)
		}
	}
	if s.CutOff {
		return fmt.Sprintf("no places with room for all %d components that start together were found in %d steps", len(g.members), MaxSeatSteps)
	}
	return fmt.Sprintf("no sites have room for all %d components that start together at one instant: %s",
		len(g.members), RoomsText(s.Rooms, f.In.Sites[f.In.Self].Name))
}

// Settled are the decisions with which a round goes on: groups without room stay.
func (f *Fitting) Settled(decisions []policy.Decision) []policy.Decision {
	if len(f.groups) == 0 {
		return decisions
	}
	of := map[protocol.JobID]*fit{}
	for _, g := range f.groups {
		for _, id := range g.members {
			of[id] = g
		}
	}
	var out []policy.Decision
	for _, one := range decisions {
		g := of[f.In.Jobs[one.Job].ID]
		if g != nil && g.why != "" {
			continue
		}
		if g != nil && g.site != nil {
			one.Reason += "; of the places that have room for all components that start together"
		}
		out = append(out, one)
	}
	return out
}

// Roomless are the reasons of groups that stay, by job.
func (f *Fitting) Roomless() map[protocol.JobID]string {
	out := map[protocol.JobID]string{}
	for _, g := range f.groups {
		if g.why != "" {
			for _, id := range g.members {
				out[id] = g.why
			}
		}
	}
	return out
}
