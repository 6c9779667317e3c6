package broker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Necessary conditions for a group at one instant: its members need at most as many jobs, CPUs,
// nodes and as much memory of each site as that has when nothing else runs there. Sites
// that give whole nodes count nodes. How the members are packed on nodes is left to the batch
// systems.

// Room is what a site has for the members of a group at one instant.
type Room struct {
	eligible.Site // whose machine is known

	MaxJobs *int // that it takes. If it is nil, any number
	MaxCPUs int  // CPUs that its limits leave to these jobs; 0: any number
	Learned int  // members that it took at most when it refused one more; 0: none was refused
	Used    Need // by members that have a seat
}

// Need is what members of a group take of a site.
type Need struct {
	Jobs, CPUs, Nodes int
	Memory            int64 // MB of all their nodes together
	Large             int   // nodes of those of which a node holds only one, for its memory
}

// Plus adds what another member takes.
func (n Need) Plus(m Need) Need {
	return Need{
		Jobs: n.Jobs + m.Jobs, CPUs: n.CPUs + m.CPUs, Nodes: n.Nodes + m.Nodes,
		Memory: n.Memory + m.Memory, Large: n.Large + m.Large,
	}
}

// NeedOf is what a job takes of a machine, at least.
func NeedOf(r protocol.Request, c *protocol.Capacity) Need {
	n := Need{Jobs: 1, CPUs: r.CPUs}
	each := max(1, c.NodeCPUs)
	if c.NodeCPUs == 0 && c.Nodes > 0 {
		each = max(1, (c.CPUs-1)/c.Nodes+1)
	}
	nodes := max(1, r.LeastNodes(), (r.CPUs-1)/each+1)
	if c.WholeNode {
		n.Nodes = nodes
	}
	if c.MemoryMB > 0 && r.MemoryMB > 0 {
		n.Memory = r.MemoryMB * int64(nodes)
		if r.MemoryMB > c.MemoryMB/2 {
			n.Large = nodes
		}
	}
	return n
}

// Holds says whether the site has room for the member beside those that it was given.
func (b *Room) Holds(n Need) bool {
	all, c := b.Used.Plus(n), b.Capacity
	switch {
	case b.MaxJobs != nil && all.Jobs > *b.MaxJobs, b.Learned > 0 && all.Jobs > b.Learned:
		return false
	case all.CPUs > c.CPUs, b.MaxCPUs > 0 && all.CPUs > b.MaxCPUs:
		return false
	case c.WholeNode:
		return all.Nodes <= c.Nodes
	case c.MemoryMB > 0 && c.Nodes > 0:
		return all.Large <= c.Nodes && all.Memory/int64(c.Nodes) <= c.MemoryMB
	}
	return true
}

// Text is what the site has, for people.
func (b *Room) Text(own protocol.SiteName) string {
	out := "has " + protocol.Count(b.Capacity.CPUs, "CPU")
	switch c := b.Capacity; {
	case c.WholeNode:
		out += " on " + protocol.Count(c.Nodes, "node") + " that run one job at a time"
	case c.MemoryMB > 0 && c.Nodes > 0:
		out += fmt.Sprintf(" on %s of %d MB", protocol.Count(c.Nodes, "node"), c.MemoryMB)
	}
	of := ""
	if b.Name != own {
		of = " of this site"
	}
	if b.MaxJobs != nil && *b.MaxJobs < math.MaxInt32 {
		out += " and takes " + protocol.Count(*b.MaxJobs, "job") + of + " at once"
	}
	if b.MaxCPUs > 0 {
		out += " and gives jobs" + of + " " + protocol.Count(b.MaxCPUs, "CPU") + " together"
	}
	if b.Learned > 0 {
		out += fmt.Sprintf(" and has refused to take more than %d of the group at once", b.Learned)
	}
	return out
}

// Seat is a place that a member of a group may have.
type Seat struct {
	Room   int // index
	Row    int // of its shape, as the caller counts them
	Need   Need
	Weight int64 // the less, the better
}

// Seating looks for seats for all members of a group, so that the sum of their weights, or the
// largest of them, is least.
type Seating struct {
	Rooms   []Room
	Members [][]Seat // of each member those that it may have
	Largest bool

	order  []int // of the members: those with the fewest seats first
	rest   []int64
	now    []int
	best   []int // index of each member's seat; nil: none is found
	least  int64
	steps  int
	CutOff bool // the search was not ended
}

// MaxSeatSteps bounds the search for room for a group.
const MaxSeatSteps = 20_000

// Find looks for seats: the index of each member's. With none found and CutOff there may be some all the same.
func (s *Seating) Find() []int {
	n := len(s.Members)
	s.order, s.now, s.rest = make([]int, n), make([]int, n), make([]int64, n+1)
	for k := range s.order {
		s.order[k] = k
		slices.SortStableFunc(s.Members[k], func(a, b Seat) int { return cmp.Compare(a.Weight, b.Weight) })
	}
	slices.SortStableFunc(s.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(s.Members[a]), len(s.Members[b])), cmp.Compare(s.size(b), s.size(a)))
	})
	for at, k := range slices.Backward(s.order) {
		if len(s.Members[k]) == 0 {
			return nil
		}
		s.rest[at] = s.join(s.rest[at+1], s.Members[k][0].Weight)
	}
	s.steps, s.least = MaxSeatSteps, math.MaxInt64
	s.search(0, 0)
	return s.best
}

// size is the most CPUs that a member may need.
func (s *Seating) size(k int) (most int) {
	for i := range s.Members[k] {
		most = max(most, s.Members[k][i].Need.CPUs)
	}
	return most
}

func (s *Seating) join(a, b int64) int64 {
	if s.Largest {
		return max(a, b)
	}
	return int64(protocol.Micro(a).Plus(protocol.Micro(b)))
}

// search gives the members from the one at a position on a seat.
func (s *Seating) search(at int, weight int64) {
	if s.best != nil && s.join(weight, s.rest[at]) >= s.least {
		return
	}
	if at == len(s.order) {
		s.best, s.least = slices.Clone(s.now), weight
		return
	}
	k := s.order[at]
	for i := range s.Members[k] {
		if s.steps--; s.steps < 0 {
			s.CutOff = true
			return
		}
		one := &s.Members[k][i]
		b := &s.Rooms[one.Room]
		if !b.Holds(one.Need) {
			continue
		}
		before := b.Used
		b.Used, s.now[k] = before.Plus(one.Need), i
		s.search(at+1, s.join(weight, one.Weight))
		b.Used = before
	}
}

// RoomsText is what sites have for a group, for people.
func RoomsText(bins []Room, own protocol.SiteName) string {
	all := make([]string, len(bins))
	for i := range bins {
		all[i] = string(bins[i].Name) + " " + bins[i].Text(own)
	}
	return strings.Join(all, "; ")
}
