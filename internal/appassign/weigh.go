package appassign

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Alternative is what changing the choice of one component alone would make of a solution.
type Alternative struct {
	Choice int // index in Component.Choices; -1: no other one is within the limits
	Z      int64
	End    protocol.Duration
	Cost   int64
}

// Alternatives are the best other choices of each component while the others of a solution
// stay as they are. The most promising are placed first, and those that cannot be better are not
// placed: to place all components for each choice takes minutes when there are thousands.
func Alternatives(p *Problem, chosen []int) []Alternative {
	out, _ := alternatives(p, chosen)
	return out
}

// alternatives also returns how often all components were placed.
func alternatives(p *Problem, chosen []int) (out []Alternative, tries int) {
	whole := newBare(p)
	o := others{state: newState(whole), earlier: newState(whole), options: make([]int, len(chosen))}
	for k, i := range chosen {
		o.options[k] = whole.find(k, i)
	}
	o.measure()
	out = make([]Alternative, len(chosen))
	for k, own := range o.options {
		out[k] = o.alternative(k)
		o.earlier.place(own)
	}
	return out, o.tries
}

// others is what a solution leaves to a component that changes its choice.
type others struct {
	*state
	earlier *state // of the components before it
	options []int
	ends    []protocol.Duration // at each site the last one that other sites do not change
	each    []int64             // at each site what EachLate has those count who wait there
	jobs    []int               // at each site
	sum     value               // what the options count, and their last end if each were alone
	tries   int                 // how often all components were placed
	before  protocol.Duration   // the last end without that one
}

// measure places the solution.
func (o *others) measure() {
	in := o.in
	o.ends, o.each, o.jobs = make([]protocol.Duration, len(in.sites)), make([]int64, len(in.sites)), make([]int, len(in.sites))
	o.sum.end, o.before = in.p.Floor, in.p.Floor
	o.try(o.options)
	for k, i := range o.options {
		one := &in.options[i]
		o.jobs[one.site]++
		o.sum.z, o.sum.cost = o.sum.z+one.load, o.sum.cost+one.cost
		o.before = max(o.before, min(o.sum.end, one.end))
		o.sum.end = max(o.sum.end, one.end)
		if in.group[k] == ungrouped {
			end := o.start(k).Plus(one.tail)
			o.ends[one.site] = max(o.ends[one.site], end)
			o.each[one.site] += in.later(one, end)
		}
	}
}

// without is what the others than component k come to at least. Those at its site may end
// earlier without it.
func (o *others) without(k int) value {
	own := &o.in.options[o.options[k]]
	least := value{o.sum.z - own.load, o.sum.end, o.sum.cost - own.cost}
	if own.end == least.end {
		least.end = o.before
	}
	for s, end := range o.ends {
		if s != own.site {
			least.end, least.z = max(least.end, end), least.z+o.each[s]
		}
	}
	return least
}

// later is what an option counts on top when it ends no sooner than then.
func (in *instance) later(o *option, end protocol.Duration) int64 {
	if !in.p.EachLate || end <= o.end {
		return 0
	}
	return in.late(end) - o.own
}

// promised is an option, and what a solution with it comes to at least.
type promised struct {
	least  value
	option int
}

// promising are the options of component k but its own that may be within the limits, the
// best first.
func (o *others) promising(k int) []promised {
	in, rest, own := o.in, o.without(k), o.options[k]
	late, row := in.late(rest.end), make([]promised, 0, in.first[k+1]-in.first[k])
	for i := in.first[k]; i < in.first[k+1]; i++ {
		one := &in.options[i]
		site := &in.sites[one.site]
		if i == own || one.site != in.options[own].site && o.jobs[one.site] >= site.accept {
			continue
		}
		end := max(one.end, max(site.wait(&o.earlier.tallies[one.site], one), one.ready).Plus(one.tail))
		least := value{rest.z + one.load + in.later(one, end) + late, max(rest.end, end), rest.cost + one.cost}
		if end > rest.end {
			least.z += in.late(end) - late
		}
		if least.end <= in.latest && least.cost <= in.maxCost {
			row = append(row, promised{least, i})
		}
	}
	slices.SortFunc(row, func(a, b promised) int {
		return cmp.Or(a.least.compare(b.least), cmp.Compare(a.option, b.option))
	})
	return row
}

// alternative is the best other option of component k.
func (o *others) alternative(k int) Alternative {
	own, best, at, out := o.options[k], worst(), -1, Alternative{Choice: -1}
	for _, one := range o.promising(k) {
		if order := one.least.compare(best); order > 0 || order == 0 && one.option > at {
			break // nor is any after it better
		}
		o.options[k] = one.option
		o.tries++
		v, ok := o.try(o.options)
		if !ok || v.compare(best) > 0 || v == best && one.option > at {
			continue
		}
		best, at = v, one.option
		out = Alternative{o.in.options[at].index, v.z, v.end, v.cost}
	}
	o.options[k] = own
	return out
}

// find is the option of a choice.
func (in *instance) find(k, index int) int {
	for i := in.first[k]; i < in.first[k+1]; i++ {
		if in.options[i].index == index {
			return i
		}
	}
	return -1
}

// Take has a site know of a choice that was placed there.
func Take(s *Site, c *Choice) {
	s.MaxJobs--
	s.Taken = min(s.Taken+c.CPUs, math.MaxInt32)
	s.Work = min(s.Work+product(int64(c.CPUs), int64(c.Run)), most)
}
