package peer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// What is certain about the room for a group at one instant: its members need at most so many
// jobs, CPUs, nodes and memory of each site as that has when nothing else runs there. Sites
// that give whole nodes count nodes. How the members are packed on nodes is left to the batch
// systems.

// bin is what a site has for the members of a group at one instant.
type bin struct {
	site     protocol.SiteName
	capacity *protocol.Capacity
	jobs     int // that it takes; below 0: any number
	most     int // CPUs that its limits leave to these jobs; 0: any number
	learned  int // members that it took at most when it refused one more; 0: none was refused
	used     need
}

// need is what members of a group take of a site.
type need struct {
	jobs, cpus, nodes int
	memory            int64 // MB of all their nodes together
	large             int   // nodes of those of which a node holds only one, for its memory
}

func (n need) plus(m need) need {
	return need{
		jobs: n.jobs + m.jobs, cpus: n.cpus + m.cpus, nodes: n.nodes + m.nodes,
		memory: n.memory + m.memory, large: n.large + m.large,
	}
}

// needOf is what a job takes of a machine, at least.
func needOf(r protocol.Request, c *protocol.Capacity) need {
	n := need{jobs: 1, cpus: r.CPUs}
	each := max(1, c.NodeCPUs)
	if c.NodeCPUs == 0 && c.Nodes > 0 {
		each = max(1, (c.CPUs-1)/c.Nodes+1)
	}
	nodes := max(1, r.LeastNodes(), (r.CPUs-1)/each+1)
	if c.WholeNode {
		n.nodes = nodes
	}
	if c.MemoryMB > 0 && r.MemoryMB > 0 {
		n.memory = r.MemoryMB * int64(nodes)
		if r.MemoryMB > c.MemoryMB/2 {
			n.large = nodes
		}
	}
	return n
}

// holds says whether the site has room for the member beside those that it was given.
func (b *bin) holds(n need) bool {
	all, c := b.used.plus(n), b.capacity
	switch {
	case b.jobs >= 0 && all.jobs > b.jobs, b.learned > 0 && all.jobs > b.learned:
		return false
	case all.cpus > c.CPUs, b.most > 0 && all.cpus > b.most:
		return false
	case c.WholeNode:
		return all.nodes <= c.Nodes
	case c.MemoryMB > 0 && c.Nodes > 0:
		return all.large <= c.Nodes && all.memory/int64(c.Nodes) <= c.MemoryMB
	}
	return true
}

// text is what the site has, for people.
func (b *bin) text(own protocol.SiteName) string {
	out := "has " + protocol.Count(b.capacity.CPUs, "CPU")
	switch c := b.capacity; {
	case c.WholeNode:
		out += " on " + protocol.Count(c.Nodes, "node") + " that run one job at a time"
	case c.MemoryMB > 0 && c.Nodes > 0:
		out += fmt.Sprintf(" on %s of %d MB", protocol.Count(c.Nodes, "node"), c.MemoryMB)
	}
	of := ""
	if b.site != own {
		of = " of this site"
	}
	if b.jobs >= 0 && b.jobs < math.MaxInt32 {
		out += " and takes " + protocol.Count(b.jobs, "job") + of + " at once"
	}
	if b.most > 0 {
		out += " and gives jobs" + of + " " + protocol.Count(b.most, "CPU") + " together"
	}
	if b.learned > 0 {
		out += fmt.Sprintf(" and has refused to take more than %d of the group at once", b.learned)
	}
	return out
}

// seat is a place that a member of a group may have.
type seat struct {
	bin    int // index
	row    int // of its shape, as the caller counts them
	need   need
	weight int64 // the less, the better
}

// seating looks for seats for all members of a group, so that the sum of their weights, or the
// largest of them, is least.
type seating struct {
	bins    []bin
	members [][]seat // of each member those that it may have
	largest bool

	order  []int // of the members: those with the fewest seats first
	rest   []int64
	now    []int
	best   []int // index of each member's seat; nil: none is found
	least  int64
	steps  int
	cutOff bool // the search was not ended
}

// mostSeatSteps bounds the search for room for a group.
const mostSeatSteps = 20_000

// find looks for seats. With none found and cutOff there may be some all the same.
func (s *seating) find() []int {
	n := len(s.members)
	s.order, s.now, s.rest = make([]int, n), make([]int, n), make([]int64, n+1)
	for k := range s.order {
		s.order[k] = k
		slices.SortStableFunc(s.members[k], func(a, b seat) int { return cmp.Compare(a.weight, b.weight) })
	}
	slices.SortStableFunc(s.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(s.members[a]), len(s.members[b])), cmp.Compare(s.size(b), s.size(a)))
	})
	for at, k := range slices.Backward(s.order) {
		if len(s.members[k]) == 0 {
			return nil
		}
		s.rest[at] = s.join(s.rest[at+1], s.members[k][0].weight)
	}
	s.steps, s.least = mostSeatSteps, math.MaxInt64
	s.search(0, 0)
	return s.best
}

// size is the most CPUs that a member may need.
func (s *seating) size(k int) (most int) {
	for i := range s.members[k] {
		most = max(most, s.members[k][i].need.cpus)
	}
	return most
}

func (s *seating) join(a, b int64) int64 {
	if s.largest {
		return max(a, b)
	}
	return int64(protocol.Micro(a).Plus(protocol.Micro(b)))
}

// search gives the members from the one at a position on a seat.
func (s *seating) search(at int, weight int64) {
	if s.best != nil && s.join(weight, s.rest[at]) >= s.least {
		return
	}
	if at == len(s.order) {
		s.best, s.least = slices.Clone(s.now), weight
		return
	}
	k := s.order[at]
	for i := range s.members[k] {
		if s.steps--; s.steps < 0 {
			s.cutOff = true
			return
		}
		one := &s.members[k][i]
		b := &s.bins[one.bin]
		if !b.holds(one.need) {
			continue
		}
		before := b.used
		b.used, s.now[k] = before.plus(one.need), i
		s.search(at+1, s.join(weight, one.weight))
		b.used = before
	}
}

// binsText is what sites have for a group, for people.
func binsText(bins []bin, own protocol.SiteName) string {
	all := make([]string, len(bins))
	for i := range bins {
		all[i] = string(bins[i].site) + " " + bins[i].text(own)
	}
	return strings.Join(all, "; ")
}
