package peer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A policy sees quotes for one job each, so it may put more members of a group at one site than
// that has room for at one instant. So what it decides about groups is checked. Where it does
// not fit, the policy is asked again about places that do, and only about these: it still has
// the last word on limits and costs. The places are those that leave as many members as possible
// where the policy wants them, then the cheapest, then those that end first. A group without
// such places waits, and is told why.

// groupFit is the search for places of a group in a round.
type groupFit struct {
	key     broker.GroupKey
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

// deciding is a round that the policy decides, in as many questions as its groups need.
type deciding struct {
	r      *round
	in     policy.Snapshot // as it is
	groups []*groupFit
	asked  int
	tuning int // in force when it began
}

// mostDecisions bounds the questions to the policy in one round.
const mostDecisions = 8

// groupsOf are the groups of a snapshot of which more than one member is in it.
func (p *Peer) groupsOf(in *policy.Snapshot) []*groupFit {
	byKey := map[broker.GroupKey]*groupFit{}
	for row := range in.Jobs {
		id := in.Jobs[row].ID
		if in.Jobs[row].Together == 0 {
			continue
		}
		j := p.jobs[id]
		if j == nil || !j.Together() || (row > 0 && in.Jobs[row-1].ID == id) {
			continue
		}
		g := byKey[j.groupKey()]
		if g == nil {
			g = &groupFit{key: j.groupKey(), options: []option{nearest, cheapest, soonest}, tried: map[string]bool{}}
			byKey[g.key] = g
		}
		g.members, g.first = append(g.members, id), append(g.first, row)
	}
	out := slices.SortedFunc(maps.Values(byKey), func(a, b *groupFit) int {
		return cmp.Or(cmp.Compare(a.key.Application, b.key.Application), cmp.Compare(a.key.Number, b.key.Number))
	})
	return slices.DeleteFunc(out, func(g *groupFit) bool { return len(g.members) < 2 })
}

// narrowed is the snapshot in which groups have only the places that the policy is asked about.
func (d *deciding) narrowed() policy.Snapshot {
	in := d.in
	if !slices.ContainsFunc(d.groups, func(g *groupFit) bool { return g.site != nil }) {
		return in
	}
	in.AWT, in.ERT = slices.Clone(in.AWT), slices.Clone(in.ERT)
	for _, g := range d.groups {
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

// review checks what the policy has decided about groups. It says whether the policy is to be
// asked again.
func (p *Peer) review(d *deciding, decisions []policy.Decision) (again bool) {
	if len(d.groups) == 0 {
		return false
	}
	chosen := make(map[protocol.JobID]policy.Decision, len(decisions))
	for _, one := range decisions {
		chosen[d.in.Jobs[one.Job].ID] = one
	}
	for _, g := range d.groups {
		if g.why == "" {
			g.open = p.reviewGroup(d, g, chosen)
			again = again || g.open
		}
	}
	if d.asked++; again && (d.asked >= mostDecisions || d.tuning != p.tunings) {
		for _, g := range d.groups {
			if g.open {
				g.why = "no places with room for all components that start together were found in this round"
			}
		}
		return false
	}
	return again
}

// reviewGroup is review for one group.
func (p *Peer) reviewGroup(d *deciding, g *groupFit, chosen map[protocol.JobID]policy.Decision) (again bool) {
	s := p.seatsIn(d, g)
	verdict, why := judgeGroup(d, g, s, chosen)
	if verdict == fits {
		return false
	}
	if g.site == nil {
		if s.Find() == nil {
			g.why = p.noRoom(g, s)
			return false
		}
		if verdict == refusedByPolicy {
			return false // it has said why, having seen all places
		}
	}
	for len(g.options) > 0 && (g.site == nil || verdict != silent) {
		by := g.options[0]
		g.options = g.options[1:]
		if p.choose(d, g, by, chosen) {
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

func judgeGroup(d *deciding, g *groupFit, s *broker.Seating, chosen map[protocol.JobID]policy.Decision) (groupVerdict, string) {
	why, all := "", true
	used := make([]broker.Need, len(s.Rooms))
	for k, id := range g.members {
		one, ok := chosen[id]
		if !ok || one.Site == policy.Nowhere {
			why, all = cmp.Or(why, one.Reason), false
			continue
		}
		i := slices.IndexFunc(s.Members[k], func(x broker.Seat) bool { return x.Row == one.Job && s.Rooms[x.Room].Name == d.in.Sites[one.Site].Name })
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
func (p *Peer) seatsIn(d *deciding, g *groupFit) *broker.Seating {
	s := &broker.Seating{Members: make([][]broker.Seat, len(g.members))}
	at := make([]int, len(d.in.Sites))
	for i := range d.in.Sites {
		if at[i] = -1; p.capacityOf(d.in.Sites[i].Name) != nil {
			at[i] = len(s.Rooms)
			s.Rooms = append(s.Rooms, p.binOf(d, g, i))
		}
	}
	for k, id := range g.members {
		for row := g.first[k]; row < len(d.in.Jobs) && d.in.Jobs[row].ID == id; row++ {
			for i := range d.in.Sites {
				if at[i] < 0 || d.in.AWT[d.in.At(row, i)] == protocol.Never {
					continue
				}
				b := &s.Rooms[at[i]]
				s.Members[k] = append(s.Members[k], broker.Seat{Room: at[i], Row: row, Need: broker.NeedOf(d.r.specs[row].On(b.Capacity), b.Capacity)})
			}
		}
	}
	return s
}

// binOf is what a site of a round has for a group.
func (p *Peer) binOf(d *deciding, g *groupFit, site int) broker.Room {
	row := &d.in.Sites[site]
	b := broker.Room{Site: eligible.Site{Name: row.Name, Capacity: p.capacityOf(row.Name)}, MaxJobs: row.Accept, Learned: p.learnedCrowd(g.key, row.Name)}
	if site == d.in.Self && p.cfg.MaxQ == 0 {
		b.MaxJobs = -1
	}
	for _, a := range d.r.asks {
		if a.partner.Site == row.Name && a.reply != nil {
			b.MaxCPUs = a.reply.MostCPUs
		}
	}
	return b
}

// choose gives a group places that it has not tried, by an option; false: there are none.
func (p *Peer) choose(d *deciding, g *groupFit, by option, chosen map[protocol.JobID]policy.Decision) bool {
	s := p.seatsIn(d, g)
	s.Largest = by == soonest
	for k, id := range g.members {
		one, decided := chosen[id]
		for i := range s.Members[k] {
			x := &s.Members[k][i]
			site := slices.IndexFunc(d.in.Sites, func(row policy.Site) bool { return row.Name == s.Rooms[x.Room].Name })
			at := d.in.At(x.Row, site)
			end := d.in.Start(x.Row, site, d.in.AWT[at]).Plus(d.in.ERT[at]).Plus(d.in.Return(x.Row, site))
			switch {
			case by == cheapest:
				x.Weight = int64(d.in.Cost[at])
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
		at[k] = slices.IndexFunc(d.in.Sites, func(row policy.Site) bool { return row.Name == s.Rooms[x.Room].Name })
	}
	name := fmt.Sprint(place, at)
	if g.tried[name] {
		return false
	}
	g.tried[name], g.place, g.site = true, place, at
	return true
}

// noRoom says why a group has no places at one instant in a round.
func (p *Peer) noRoom(g *groupFit, s *broker.Seating) string {
	for k, id := range g.members {
		if len(s.Members[k]) == 0 {
			return fmt.Sprintf("no site takes job %v, which starts together with it, in this round", id)
		}
	}
	if s.CutOff {
		return fmt.Sprintf("no places with room for all %d components that start together were found in %d steps", len(g.members), broker.MaxSeatSteps)
	}
	return fmt.Sprintf("no sites have room for all %d components that start together at one instant: %s",
		len(g.members), broker.RoomsText(s.Rooms, p.cfg.Site))
}

// settled are the decisions with which a round goes on: groups without room stay.
func (d *deciding) settled(decisions []policy.Decision) []policy.Decision {
	if len(d.groups) == 0 {
		return decisions
	}
	of := map[protocol.JobID]*groupFit{}
	for _, g := range d.groups {
		for _, id := range g.members {
			of[id] = g
		}
	}
	var out []policy.Decision
	for _, one := range decisions {
		g := of[d.in.Jobs[one.Job].ID]
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

// roomless are the reasons of groups that stay, by job.
func (d *deciding) roomless() map[protocol.JobID]string {
	out := map[protocol.JobID]string{}
	for _, g := range d.groups {
		if g.why != "" {
			for _, id := range g.members {
				out[id] = g.why
			}
		}
	}
	return out
}

// crowd is what a site took of a group when it refused one more member.
type crowd struct {
	most  int
	until protocol.Instant
}

type crowdKey struct {
	number int // of the group
	site   protocol.SiteName
}

// learnedCrowd is how many members of a group a site takes at once, as it has shown; 0: nothing is
// known.
func (p *Peer) learnedCrowd(key broker.GroupKey, site protocol.SiteName) int {
	a := p.applications[key.Application]
	if a == nil {
		return 0
	}
	if one, ok := a.crowds[crowdKey{key.Number, site}]; ok && p.now < one.until {
		return one.most
	}
	return 0
}

// doubtSite keeps a member from a site that has no room for it, or the group from having as many
// members there.
func (p *Peer) doubtSite(j *job) {
	if !p.learnCrowd(j) {
		p.shun(j, j.Site)
	}
}

// learnCrowd notes that a site refused a member of a group. If others of the group were to be there,
// they were too many, and fewer of them are asked for there for a while.
func (p *Peer) learnCrowd(j *job) (tooMany bool) {
	there := 0
	for _, one := range p.waiting(j) {
		if one.Site == j.Site {
			there++
		}
	}
	if there < 2 {
		return false
	}
	if j.application.crowds == nil {
		j.application.crowds = map[crowdKey]crowd{}
	}
	j.application.crowds[crowdKey{j.Component.Together, j.Site}] = crowd{most: there - 1, until: p.now.Add(p.jitter(p.shunTime()))}
	return true
}
