package appassign

import (
	"math"
	"math/bits"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// box is a part of the problem: the solutions whose last component ends from lo to hi.
type box struct {
	lo, hi protocol.Duration
	least  value // nothing in it is better
	prices prices
}

// search is a branch and bound over boxes.
type search struct {
	in    *instance
	opt   Options
	relax *relaxation
	state *state

	best   value
	chosen []int // options of the best solution; nil: none is known
	open   []box // the one of the least bound first
	left   value // the least bound of boxes that were given up; [worst]: none was
	spent  int   // steps
	tuned  int   // of these, on improving solutions
}

func newSearch(in *instance, opt Options) *search {
	opt.Nodes = opt.nodes()
	return &search{in: in, opt: opt, relax: newRelaxation(in), state: newState(in), best: worst(), left: worst()}
}

// run searches until the best solution is proven, near enough, or the steps are used up.
func (s *search) run() {
	none := s.in.free()
	s.add(s.affordable(), s.in.latest, &none, firstRounds)
	for len(s.open) > 0 {
		next := s.open[0]
		if next.least.compare(s.best) >= 0 {
			s.open = nil
			return
		}
		bound := next.least
		if s.left.compare(bound) < 0 {
			bound = s.left
		}
		if s.spent >= s.opt.Nodes || s.nearEnough(bound) {
			return
		}
		s.open = s.open[1:]
		s.explore(&next)
	}
}

// nearEnough says whether the gap to a bound is allowed by now. Where z is the least, as on a
// plateau of what waiting costs, the same gap is allowed of the end, which settles the tie.
func (s *search) nearEnough(bound value) bool {
	if s.opt.Gap <= 0 || s.chosen == nil || s.spent < s.opt.Nodes/16 {
		return false
	}
	if s.best.z > bound.z {
		return s.allows(s.best.z-bound.z, max(s.best.z, -s.best.z))
	}
	return s.allows(int64(s.best.end-bound.end), int64(s.best.end))
}

// allows says whether so much of a whole is within the gap.
func (s *search) allows(miss, whole int64) bool {
	allowed, part := bits.Mul64(uint64(whole), uint64(s.opt.Gap)) //nolint:gosec // not negative
	high, low := bits.Mul64(uint64(max(0, miss)), protocol.PPM)
	return high < allowed || high == allowed && low <= part
}

// explore halves a box, or searches it as long as the steps last.
func (s *search) explore(b *box) {
	if mid, ok := s.middle(b); ok {
		s.add(b.lo, mid, &b.prices, laterRounds)
		s.add(mid+1, b.hi, &b.prices, laterRounds)
		return
	}
	whole, ok := s.bound(b.lo, b.hi, &b.prices, 0)
	if ok && !s.dive(&whole, max(s.opt.Nodes/4, 1)) && whole.least.compare(s.left) < 0 {
		s.left = whole.least
	}
}

// middle is where to halve a box. It is of no use where neither waiting costs more at one
// end than at the other nor it would settle a tie.
func (s *search) middle(b *box) (mid protocol.Duration, ok bool) {
	if b.lo >= b.hi || b.least.z < s.best.z && s.in.late(b.lo) == s.in.late(b.hi) {
		return 0, false
	}
	from, _ := slices.BinarySearch(s.in.ends, b.lo)
	to, _ := slices.BinarySearch(s.in.ends, b.hi)
	if from < to {
		return s.in.ends[(from+to)/2], s.in.ends[(from+to)/2] < b.hi
	}
	return b.lo + (b.hi-b.lo)/2, s.in.coupled && b.hi-b.lo > b.lo>>10
}

// rounds of the ascent, at first and in a box that inherits prices.
const (
	firstRounds = 150
	laterRounds = 25
)

// add bounds a box, with the given rounds of the ascent, and looks for solutions in it. The box
// stays open if it may have better ones.
func (s *search) add(lo, hi protocol.Duration, p *prices, rounds int) {
	if len(s.in.p.Components) == 1 {
		rounds = 0 // a single component shares no site
	}
	own := p.clone()
	b, ok := s.bound(lo, hi, &own, rounds)
	if !ok {
		return
	}
	if s.dive(&b, 1000+50*len(s.in.p.Components)) {
		return
	}
	if s.worthRepairing(&b) {
		s.repair(&b)
	}
	if b.least.compare(s.best) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(s.open, b.box, func(one, other box) int {
		if c := one.least.compare(other.least); c != 0 {
			return c
		}
		return int(min(max(one.lo-other.lo, -1), 1))
	})
	s.open = slices.Insert(s.open, at, b.box)
}

// cut is a box with its bound, while the relaxation holds its options.
type cut struct {
	box
	back int64 // what the limits pay back
	late int64 // of lo
}

// bound finds what is not below any solution of a box. Without ok it has none that are
// better than the best.
func (s *search) bound(lo, hi protocol.Duration, p *prices, rounds int) (c cut, ok bool) {
	r := s.relax
	all := make([]int, len(s.in.options))
	for i := range all {
		all[i] = i
	}
	s.spent += len(all)/8 + 1
	if lo > hi || !r.keep(all, func(i int) bool { return s.in.options[i].end <= hi }) || !r.fits() {
		return cut{}, false
	}
	r.prepare(hi)
	if rounds > 0 {
		target := 0.0
		if s.chosen != nil {
			target = float64(s.best.z - s.in.late(lo))
		}
		r.ascend(p, rounds, target, s.look)
	}
	exact := s.in.exact(p)
	c = cut{box: box{lo: lo, hi: hi, prices: *p}, back: r.prove(&exact)}
	for range 2 { // what the first round rules out may raise the bounds of the second
		if ok = s.narrow(&c); !ok {
			return cut{}, false
		}
	}
	return c, true
}

// look takes the solution that the relaxation picked, if it keeps the limits.
func (s *search) look() {
	s.spent += len(s.relax.active)/8 + 1
	options := make([]int, len(s.relax.picked))
	for k, at := range s.relax.picked {
		options[k] = s.relax.active[at]
	}
	s.offer(options)
}

// offer takes a solution that is better than the best.
func (s *search) offer(options []int) {
	if v, ok := s.state.try(options); ok && v.compare(s.best) < 0 {
		s.best, s.chosen = v, options
	}
}

// narrow works out a cut's bound from what its options cost at least, and leaves out those
// that cannot be in a better solution.
func (s *search) narrow(c *cut) bool {
	r := s.relax
	floors := make([]floor, len(r.picked))
	sum := floor{end: c.lo}
	for k := range floors {
		f := r.floor(k)
		floors[k] = f
		sum = floor{sum.load + f.load, sum.reduced + f.reduced, sum.cost + f.cost, max(sum.end, f.end)}
	}
	if sum.cost > s.in.maxCost || sum.end > c.hi {
		return false
	}
	c.lo = sum.end
	c.late = s.in.late(c.lo)
	bare := max(sum.load, sum.reduced-c.back)
	c.least = value{bare + c.late, c.lo, sum.cost}
	if c.least.compare(s.best) > 0 {
		return false
	}
	c.hi = s.worthwhile(bare, c.lo, c.hi)
	old, reduced, share := slices.Clone(r.active), r.reduced, r.exactShare
	next := 0
	ok := r.keep(old, func(at int) bool {
		o := &s.in.options[old[at]]
		f := &floors[o.component]
		load := max(sum.load-f.load+o.load, sum.reduced-f.reduced+reduced[at]-c.back)
		if o.end > c.hi || sum.cost-f.cost+o.cost > s.in.maxCost || load+max(c.late, o.late) > s.best.z {
			return false
		}
		reduced[next], share[next] = reduced[at], share[at]
		next++
		return true
	})
	return ok
}

// worthwhile is the last end from lo to hi at which the cost of waiting still allows a solution
// as good as the best.
func (s *search) worthwhile(bare int64, lo, hi protocol.Duration) protocol.Duration {
	if s.chosen == nil || bare+s.in.late(hi) <= s.best.z {
		return hi
	}
	for lo < hi {
		mid := lo + (hi-lo)/2 + 1
		if mid > hi || bare+s.in.late(mid) > s.best.z {
			hi = mid - 1
		} else {
			lo = mid
		}
	}
	return lo
}

// floor is what a component's active options count at least, each number by itself.
type floor struct {
	load, reduced, cost int64
	end                 protocol.Duration
}

func (r *relaxation) floor(k int) floor {
	f := floor{math.MaxInt64, math.MaxInt64, math.MaxInt64, protocol.Never}
	for at := r.first[k]; at < r.first[k+1]; at++ {
		o := &r.in.options[r.active[at]]
		f = floor{min(f.load, o.load), min(f.reduced, r.reduced[at]), min(f.cost, o.cost), min(f.end, o.end)}
	}
	return f
}
