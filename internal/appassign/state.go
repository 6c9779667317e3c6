package appassign

import (
	"cmp"
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// value is what solutions are compared by.
type value struct {
	z    int64
	end  protocol.Duration
	cost int64
}

// worst is the value of no solution.
func worst() value { return value{math.MaxInt64, protocol.Never, math.MaxInt64} }

func (v value) compare(w value) int {
	return cmp.Or(cmp.Compare(v.z, w.z), cmp.Compare(v.end, w.end), cmp.Compare(v.cost, w.cost))
}

// tally is what is placed at one site so far.
type tally struct {
	jobs       int // of the application
	cpus, work int64
}

func (t *tally) add(o *option) {
	t.jobs++
	t.cpus, t.work = min(t.cpus+o.cpus, most), min(t.work+o.work, most)
}

// gathering is what is known so far of components that start together.
type gathering struct{ start, tail protocol.Duration }

// state are the choices of the first components. Waits and values are exact but for what
// later components add: those of a group move its earlier ones.
type state struct {
	in      *instance
	tallies []tally
	groups  []gathering
	frames  []frame // one for each component placed
	now     sums
}

// sums are over the components placed.
type sums struct {
	load, cost int64
	late       int64 // of the end
	end        protocol.Duration
}

// frame is one component placed, and how to take it back.
type frame struct {
	option      int
	wait, start protocol.Duration
	tally       tally
	group       gathering
	before      sums
}

func newState(in *instance) *state {
	s := &state{
		in: in, tallies: make([]tally, len(in.sites)), groups: make([]gathering, in.groups),
		frames: make([]frame, 0, len(in.p.Components)),
		now:    sums{end: in.p.Floor, late: in.late(in.p.Floor)},
	}
	for at := range s.tallies {
		s.tallies[at] = in.sites[at].before
	}
	return s
}

// full says whether a site takes no more.
func (s *state) full(at int) bool { return s.tallies[at].jobs >= s.in.sites[at].accept }

// place takes an option for the next component.
func (s *state) place(i int) {
	o, k := &s.in.options[i], len(s.frames)
	wait := s.in.sites[o.site].wait(&s.tallies[o.site], o)
	f := frame{option: i, wait: wait, start: max(wait, o.ready), tally: s.tallies[o.site], before: s.now}
	s.tallies[o.site].add(o)

	start, tail := f.start, o.tail
	g := s.in.group[k]
	if g != ungrouped {
		f.group = s.groups[g]
		start, tail = max(start, f.group.start), max(tail, f.group.tail)
		s.groups[g] = gathering{start, tail}
	}
	s.frames = append(s.frames, f)
	s.now.cost += o.cost
	s.now.load += o.load
	if own := start.Plus(o.tail); s.in.p.EachLate && own > o.end {
		s.now.load += s.in.late(own) - o.own
	}
	s.extend(max(start.Plus(tail), o.end), o)
}

// extend has the last end not before this one.
func (s *state) extend(end protocol.Duration, o *option) {
	switch {
	case end <= s.now.end:
		return
	case end == o.end:
		s.now.late = max(s.now.late, o.late)
	default:
		s.now.late = s.in.late(end)
	}
	s.now.end = end
}

// undo takes the last component back.
func (s *state) undo() {
	k := len(s.frames) - 1
	f := &s.frames[k]
	s.tallies[s.in.options[f.option].site] = f.tally
	if g := s.in.group[k]; g != ungrouped {
		s.groups[g] = f.group
	}
	s.now = f.before
	s.frames = s.frames[:k]
}

// start is when component k starts, once all are placed.
func (s *state) start(k int) protocol.Duration {
	if g := s.in.group[k]; g != ungrouped {
		return s.groups[g].start
	}
	return s.frames[k].start
}

// value is that of the solution, once all are placed.
func (s *state) value() value {
	load := s.now.load
	if s.in.p.EachLate && s.in.groups > 0 {
		load = 0
		for k, f := range s.frames {
			o := &s.in.options[f.option]
			load += o.load - o.own + s.in.late(s.start(k).Plus(o.tail))
		}
	}
	return value{load + s.now.late, s.now.end, s.now.cost}
}

// within says whether what is placed keeps the limits.
func (s *state) within() bool { return s.now.cost <= s.in.maxCost && s.now.end <= s.in.latest }

// try places all components from scratch. It returns ok = false if the options break a limit.
func (s *state) try(options []int) (v value, ok bool) {
	for len(s.frames) > 0 {
		s.undo()
	}
	for _, i := range options {
		if s.full(s.in.options[i].site) {
			return value{}, false
		}
		s.place(i)
	}
	return s.value(), s.within()
}
