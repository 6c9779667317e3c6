package engine

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// counted is a pool whose jobs may take more than units: resources that the capacity names, and
// units of some of its nodes only. Each is a number, so that any that are free serve any job, and
// how jobs are packed on nodes is not modelled. It belongs to one [Core], whose jobs refer to its
// table.
type counted struct {
	Machine // the pool

	whole  bool                // a unit is a node
	kinds  []protocol.Resource // sums over the site by name and type, sorted
	index  map[string]int32    // extras by what they take
	extras []extras            // by [Demand.Extras]
	spare  []int32             // numbers of extras that no job has
	sets   []nodeSet           // 0: all nodes

	sized map[string]Demand // by what of a request decides it; as many as extras are kept
	takes []take            // those of the last request
	key   []byte            // a key of a map
}

// resolved is what a request takes.
type resolved struct {
	units  int
	takes  []take
	groups []bool // of which its units are; nil: it takes units alone
}

// extras is what a job takes beside units.
type extras struct {
	takes []take
	set   int32 // of nodes that its units are of
}

// take is a number of resources of a kind.
type take struct{ kind, count int32 }

// nodeSet is the nodes that some jobs may have, as groups of the capacity.
//
// Invariant: the union of two sets is a set. Jobs then have room on their nodes, if they could be
// moved, when in each set the jobs of the sets within it take no more units than it has (Hall).
type nodeSet struct {
	groups []bool
	units  int
	within []int32 // the sets whose nodes are all in this one, and itself
	around []int32 // the sets that have all its nodes, and itself
}

// withResources counts what the capacity of a pool states beside its units, if anything.
func withResources(m Machine) Machine {
	if c := m.Capacity(); len(c.Groups) < 2 && !hasResources(&c) {
		return m // its nodes are alike
	}
	return (&counted{Machine: m}).fresh()
}

func hasResources(c *protocol.Capacity) bool {
	return len(c.Shared) > 0 || slices.ContainsFunc(c.Groups, func(g protocol.NodeGroup) bool { return len(g.Resources) > 0 })
}

// countsExtras says whether the units free are not all that matters to jobs.
func countsExtras(m Machine) bool {
	_, ok := m.(*counted)
	return ok
}

// ofCore is the machine for one core.
func ofCore(m Machine) Machine {
	if c, ok := m.(*counted); ok {
		return c.fresh()
	}
	return m
}

// fresh is the machine with a table of its own.
func (m *counted) fresh() *counted {
	_, whole := m.Machine.(wholeNode)
	c := m.Capacity()
	all := nodeSet{groups: make([]bool, len(c.Groups))}
	n := &counted{Machine: m.Machine, whole: whole, index: map[string]int32{}, sized: map[string]Demand{}, extras: []extras{{}}, sets: []nodeSet{all}}
	for _, one := range c.Shared {
		n.addKind(one, 1)
	}
	for i := range c.Groups {
		all.groups[i] = true
		for _, one := range c.Groups[i].Resources {
			n.addKind(one, c.Groups[i].Nodes)
		}
	}
	return n
}

func (m *counted) addKind(r protocol.Resource, nodes int) {
	at, found := slices.BinarySearchFunc(m.kinds, r, protocol.CompareResources)
	if !found {
		m.kinds = slices.Insert(m.kinds, at, protocol.Resource{Name: r.Name, Type: r.Type})
	}
	m.kinds[at].Count += r.Count * nodes
}

func (m *counted) NewFreeSet() FreeSet {
	free := m.Machine.NewFreeSet().Free()
	return &countedSet{pool: pool{free}, machine: m}
}

func (m *counted) Units(r protocol.Request) (units int, reason string) {
	of, reason := m.resolve(&r, nil) // not by the tables: drivers ask the machine from any goroutine
	return of.units, reason
}

// demand is what a request takes.
func (m *counted) demand(r *protocol.Request) (d Demand, reason string) {
	if len(r.Resources) == 0 && r.Features == "" {
		d.Units, reason = m.Machine.Units(*r)
		return d, reason
	}
	m.key = appendShape(m.key[:0], r)
	if known, ok := m.sized[string(m.key)]; ok {
		return known, m.tooLong(r)
	}
	shape := string(m.key)
	of, reason := m.resolve(r, m.takes[:0])
	if reason != "" {
		return Demand{}, reason
	}
	m.takes = of.takes
	d = Demand{of.units, m.number(of.groups)}
	if len(m.sized) >= maxExtras {
		clear(m.sized)
	}
	m.sized[shape] = d
	return d, ""
}

// tooLong says why a request is refused that differs in nothing but time from one that was not.
func (m *counted) tooLong(r *protocol.Request) (reason string) {
	c := m.Capacity()
	if c.MaxWallTime > 0 && r.WallTime > c.MaxWallTime {
		return c.Fits(*r)
	}
	return ""
}

// appendShape appends all of a request but its number, its time and its power.
func appendShape(key []byte, r *protocol.Request) []byte {
	for _, n := range [...]int64{
		int64(r.CPUs), int64(r.Nodes), r.MemoryMB,
		int64(r.Layout.Tasks), int64(r.Layout.TasksPerNode), int64(r.Layout.CPUsPerTask), int64(r.Layout.MaxNodes), int64(len(r.Features)),
	} {
		key = binary.AppendVarint(key, n)
	}
	key = append(key, r.Features...)
	key = strconv.AppendBool(key, r.Exclusive)
	for i := range r.Resources {
		one := &r.Resources[i]
		key = append(append(append(append(key, one.Name...), ':'), one.Type...), ':')
		key = binary.AppendVarint(append(key, byte(one.Per)), int64(one.Count))
	}
	return key
}

// resolve finds what a request takes. A job that names no type of a resource takes the one of
// which the site has most on nodes that serve it.
func (m *counted) resolve(r *protocol.Request, takes []take) (of resolved, reason string) {
	units, reason := m.Machine.Units(*r)
	if reason != "" || len(r.Resources) == 0 && r.Features == "" {
		return resolved{units: units}, reason
	}
	c := m.Capacity()
	of = resolved{units, takes, c.Eligible(r)}
	for _, asked := range r.Resources {
		kind, least := m.choose(&c, r, asked, of.groups)
		if kind < 0 {
			return resolved{}, fmt.Sprintf("needs %d %s of one type, the site has fewer", r.InAll(asked), asked.Kind())
		}
		of.units = max(of.units, least)
		of.takes = append(of.takes, take{int32(kind), int32(r.InAll(asked))}) //nolint:gosec // neither is larger
	}
	if has := m.unitsOf(&c, of.groups); len(of.groups) > 0 && of.units > has {
		return resolved{}, fmt.Sprintf("needs %s on nodes with all that it asks for, the site has %d",
			protocol.Count(m.CPUs(of.units), "CPU"), m.CPUs(has))
	}
	return of, m.sum(r, &of)
}

// choose is the kind that serves what is asked, and the least units that have as much of it; -1 if
// none does. Groups that do not serve are left out of the set.
func (m *counted) choose(c *protocol.Capacity, r *protocol.Request, asked protocol.Resource, groups []bool) (kind, units int) {
	kind = -1
	most := r.InAll(asked) - 1
	for i, one := range m.kinds {
		if !one.Serves(asked) {
			continue
		}
		has := protocol.CountOf(c.Shared, one)
		for g, eligible := range groups {
			if each := exactly(c.Groups[g].Resources, one); eligible && each >= r.OnNode(asked) {
				has += each * c.Groups[g].Nodes
			}
		}
		if has > most {
			kind, most = i, has
		}
	}
	if kind < 0 {
		return kind, 0
	}
	one, node := m.kinds[kind], 0
	serving := append(make([]bool, 0, 16), groups...) // on the stack, but for many groups
	for g := range serving {
		each := exactly(c.Groups[g].Resources, one)
		serving[g] = serving[g] && each > 0 && each >= r.OnNode(asked)
		if serving[g] {
			node = max(node, each)
		}
	}
	if node == 0 {
		return kind, 0 // of the whole site
	}
	copy(groups, serving)
	if m.whole {
		units = int(ceil(int64(r.InAll(asked)), int64(node)))
	}
	return kind, units
}

// exactly is how many of a kind stand in a list.
func exactly(list []protocol.Resource, kind protocol.Resource) int {
	for i := range list {
		if list[i].Name == kind.Name && list[i].Type == kind.Type {
			return list[i].Count
		}
	}
	return 0
}

// sum puts takes of one kind together, and says what the site has too few of.
func (m *counted) sum(r *protocol.Request, of *resolved) (reason string) {
	for i, asked := range r.Resources {
		if m.whole && asked.Per == protocol.PerNode {
			most := int64(m.kinds[of.takes[i].kind].Count)
			of.takes[i].count = int32(min(int64(asked.Count)*int64(of.units), most+1, math.MaxInt32)) //nolint:gosec // bounded
		}
	}
	slices.SortFunc(of.takes, func(a, b take) int { return cmp.Compare(a.kind, b.kind) })
	kept := of.takes[:0]
	for _, one := range of.takes {
		if n := len(kept); n > 0 && kept[n-1].kind == one.kind {
			kept[n-1].count = int32(min(int64(kept[n-1].count)+int64(one.count), math.MaxInt32)) //nolint:gosec // bounded
			one = kept[n-1]
		} else {
			kept = append(kept, one)
		}
		if has := m.kinds[one.kind]; int(one.count) > has.Count {
			return fmt.Sprintf("needs %d %s, the site has %d", one.count, has.Kind(), has.Count)
		}
	}
	of.takes = kept
	return ""
}

func (m *counted) unitsOf(c *protocol.Capacity, groups []bool) (units int) {
	for i, in := range groups {
		switch {
		case !in:
		case m.whole:
			units += c.Groups[i].Nodes
		default:
			units += c.Groups[i].Nodes * c.Groups[i].CPUs
		}
	}
	return units
}

// number is that of the takes at hand on the nodes of the groups.
func (m *counted) number(groups []bool) int32 {
	set := m.set(groups)
	if len(m.takes) == 0 && set == 0 {
		return 0
	}
	m.key = binary.AppendVarint(m.key[:0], int64(set))
	for _, one := range m.takes {
		m.key = binary.AppendVarint(binary.AppendVarint(m.key, int64(one.kind)), int64(one.count))
	}
	if number, ok := m.index[string(m.key)]; ok {
		return number
	}
	number := int32(len(m.extras)) //nolint:gosec // memory ends before
	if n := len(m.spare); n > 0 {
		number, m.spare = m.spare[n-1], m.spare[:n-1]
	} else {
		m.extras = append(m.extras, extras{})
	}
	m.extras[number] = extras{takes: slices.Clone(m.takes), set: set}
	m.index[string(m.key)] = number
	return number
}

// set is the number of a set of nodes.
func (m *counted) set(groups []bool) int32 {
	if i := slices.IndexFunc(m.sets, func(s nodeSet) bool { return slices.Equal(s.groups, groups) }); i >= 0 {
		return int32(i) //nolint:gosec // as of extras
	}
	c := m.Capacity()
	number := int32(len(m.sets)) //nolint:gosec // as of extras
	m.sets = append(m.sets, nodeSet{groups: slices.Clone(groups), units: m.unitsOf(&c, groups)})
	for i := int32(1); i <= number; i++ {
		if subset(m.sets[i].groups, groups) {
			m.relate(i, number)
		}
		if i != number && subset(groups, m.sets[i].groups) {
			m.relate(number, i)
		}
	}
	for i := range number {
		m.set(union(m.sets[i].groups, groups)) // jobs of overlapping sets could have too many nodes together
	}
	return number
}

func union(a, b []bool) []bool {
	both := slices.Clone(a)
	for i, in := range b {
		both[i] = both[i] || in
	}
	return both
}

func (m *counted) relate(inner, outer int32) {
	m.sets[outer].within = append(m.sets[outer].within, inner)
	m.sets[inner].around = append(m.sets[inner].around, outer)
}

func subset(inner, outer []bool) bool {
	for i := range inner {
		if inner[i] && !outer[i] {
			return false
		}
	}
	return true
}

// resourcesOf lists what extras take of the kinds, sorted.
func (m *counted) resourcesOf(number int32) (list []protocol.Resource) {
	for _, one := range m.extras[number].takes {
		kind := m.kinds[one.kind]
		list = append(list, protocol.Resource{Name: kind.Name, Type: kind.Type, Count: int(one.count)})
	}
	return list
}

// covers says whether a reservation has all that its job takes beside units.
func (m *counted) covers(reservation, job int32) bool {
	has, takes := &m.extras[reservation], &m.extras[job]
	for _, one := range takes.takes {
		if !slices.ContainsFunc(has.takes, func(t take) bool { return t.kind == one.kind && t.count >= one.count }) {
			return false
		}
	}
	return takes.set == 0 || slices.Contains(m.sets[has.set].around, takes.set)
}

// maxExtras is how many extras are kept though no job has them.
const maxExtras = 1 << 12

// sweepExtras forgets, once there are many, the extras that no job of the core has: of jobs that
// have ended, and of requests for which quotes were made. It must not run while a driver keeps
// jobs that [Core.Size] made and that are not submitted.
func (c *Core) sweepExtras() {
	m, ok := c.machine.(*counted)
	if !ok || len(m.index) < maxExtras+2*c.state.withExtras {
		return
	}
	keep := make([]bool, len(m.extras))
	for w := range c.state.pending.all() {
		keep[w.extras] = true
	}
	for _, r := range c.state.running.list() {
		keep[r.extras] = true
	}
	for i := range c.state.reservations.list {
		keep[c.state.reservations.list[i].extras] = true
	}
	c.version++ // plans may have others
	m.sweep(keep)
}

func (m *counted) sweep(keep []bool) {
	clear(m.sized)
	for key, number := range m.index {
		if !keep[number] {
			delete(m.index, key)
			m.extras[number] = extras{}
			m.spare = append(m.spare, number)
		}
	}
}

// countedSet is what is free of a counted machine.
type countedSet struct {
	pool

	machine *counted
	used    []int // of each kind, then units of each set by its own jobs; what lies behind its end is 0
}

func (s *countedSet) Find(d Demand, beside FreeSet) (Place, bool) {
	return 0, s.Has(d, 0) && (beside == nil || beside.Has(d, 0))
}

func (s *countedSet) Has(d Demand, _ Place) bool {
	return d.Units <= s.free && (d.Extras == 0 || s.hasExtras(d))
}

func (s *countedSet) hasExtras(d Demand) bool {
	e := &s.machine.extras[d.Extras]
	for _, one := range e.takes {
		if s.of(int(one.kind))+int(one.count) > s.machine.kinds[one.kind].Count {
			return false
		}
	}
	for _, outer := range s.machine.sets[e.set].around {
		if s.inSet(outer)+d.Units > s.machine.sets[outer].units {
			return false
		}
	}
	return true
}

// of is how much of a kind is used.
func (s *countedSet) of(kind int) int {
	if kind < len(s.used) {
		return s.used[kind]
	}
	return 0
}

// inSet is how many units of the nodes of a set are used at least.
func (s *countedSet) inSet(set int32) (units int) {
	for _, inner := range s.machine.sets[set].within {
		units += s.of(len(s.machine.kinds) + int(inner))
	}
	return units
}

func (s *countedSet) Allocate(d Demand, _ Place) { s.change(d, 1) }

func (s *countedSet) Release(d Demand, _ Place) { s.change(d, -1) }

func (s *countedSet) change(d Demand, sign int) {
	s.free -= sign * d.Units
	if d.Extras == 0 {
		return
	}
	e := &s.machine.extras[d.Extras]
	for _, one := range e.takes {
		*s.at(int(one.kind)) += sign * int(one.count)
	}
	if e.set > 0 {
		*s.at(len(s.machine.kinds) + int(e.set)) += sign * d.Units
	}
}

func (s *countedSet) at(i int) *int {
	if i >= len(s.used) {
		s.used = append(s.used, make([]int, i+1-len(s.used))...)
	}
	return &s.used[i]
}

func (s *countedSet) Intersect(other FreeSet) {
	s.pool.Intersect(other)
	if o, ok := other.(*countedSet); ok {
		for i, used := range o.used {
			*s.at(i) = max(s.of(i), used)
		}
	}
}

func (s *countedSet) CopyFrom(other FreeSet) {
	s.free = other.Free()
	if o, ok := other.(*countedSet); ok {
		s.used = append(s.used[:0], o.used...)
	}
}

func (s *countedSet) same(other *countedSet) bool {
	for i := range max(len(s.used), len(other.used)) {
		if s.of(i) != other.of(i) {
			return false
		}
	}
	return s.free == other.free
}

// overdrawn says whether more is allocated than there is.
func (s *countedSet) overdrawn() bool {
	if s.free < 0 {
		return true
	}
	for i := range s.machine.kinds {
		if s.of(i) > s.machine.kinds[i].Count {
			return true
		}
	}
	for i := range s.machine.sets[1:] {
		if s.inSet(int32(i+1)) > s.machine.sets[i+1].units {
			return true
		}
	}
	return false
}
