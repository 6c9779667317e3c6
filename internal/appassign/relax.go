package appassign

import (
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// relaxation is a box without what ties the components to each other: each takes the
// option that is cheapest with the prices. Its slices are made once and used for all boxes.
type relaxation struct {
	in     *instance
	active []int // options that end within the box, by component
	first  []int // of each component in active, and the end

	load, cost, share []float64 // of each active option
	exactShare        []int64   // of the room of its site, in 2⁻³⁰, rounded down
	reduced           []int64   // load and what the prices ask, of each active option
	picked            []int     // of each component, in active
	held              []int     // places taken at each site
	used              []float64 // room taken at each site
	room              []int64   // CPU·ms of each site until the box's end; [most]: no limit
	places            matching
}

func newRelaxation(in *instance) *relaxation {
	return &relaxation{
		in: in, picked: make([]int, len(in.p.Components)),
		held: make([]int, len(in.sites)), used: make([]float64, len(in.sites)), room: make([]int64, len(in.sites)),
	}
}

// keep makes the options active that stay. Without ok a component has none.
func (r *relaxation) keep(from []int, stays func(i int) bool) (ok bool) {
	kept, first, at := r.active[:0], make([]int, 0, len(r.in.first)), 0
	for k := range r.in.p.Components {
		first = append(first, len(kept))
		for ; at < len(from) && from[at] < r.in.first[k+1]; at++ {
			if stays(at) {
				kept = append(kept, from[at])
			}
		}
		if len(kept) == first[k] {
			return false
		}
	}
	r.active, r.first = kept, append(first, len(kept))
	return true
}

// prepare works out what the active options need of the room until the box's end, and
// what the ascent looks at.
func (r *relaxation) prepare(hi protocol.Duration) {
	n := len(r.active)
	r.load, r.cost, r.share = resized(r.load, n), resized(r.cost, n), resized(r.share, n)
	r.exactShare, r.reduced = resized(r.exactShare, n), resized(r.reduced, n)
	r.measure(hi)
	for at, i := range r.active {
		o := &r.in.options[i]
		r.load[at], r.cost[at] = float64(o.load), float64(o.cost)
		r.exactShare[at] = r.shareOf(o)
		r.share[at] = float64(r.exactShare[at]) / (1 << roomShift)
	}
}

func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// measure finds the CPU time that what is chosen at each site can have until the box's
// end, if it needs more CPUs than are free: the last one there waits for the work of the
// others, and adds its own.
func (r *relaxation) measure(hi protocol.Duration) {
	clear(r.room)
	for _, i := range r.active {
		o := &r.in.options[i]
		row := &r.in.sites[o.site]
		if !row.shared || row.cpus <= 0 {
			r.room[o.site] = most
			continue
		}
		left := max(0, hi-o.wait.Plus(o.tail))
		r.room[o.site] = max(r.room[o.site], min(product(row.cpus, int64(left))+o.work, most)-row.before.work)
	}
}

// shareOf is the part of a site that an option needs at least: of its free CPUs or of its
// CPU time. Those of all chosen there sum up to 1 at most, since they either fit side by
// side or have to share the time.
func (r *relaxation) shareOf(o *option) int64 {
	const whole = 1 << roomShift
	row, room := &r.in.sites[o.site], r.room[o.site]
	if room == most || room <= 0 {
		return 0
	}
	share := int64(whole)
	if free := row.free - row.before.cpus; o.cpus < free {
		share = o.cpus << roomShift / free
	}
	high, low := bits.Mul64(uint64(min(o.work, room)), whole) //nolint:gosec // not negative
	part, _ := bits.Div64(high, low, uint64(room))
	return min(share, int64(part)) //nolint:gosec // at most whole
}

// pick lets each component take what is cheapest, and is the bound that the prices give,
// but for waiting.
func (r *relaxation) pick(p *prices) float64 {
	clear(r.held)
	clear(r.used)
	sum := 0.0
	for k := range r.picked {
		best, least := -1, 0.0
		for at := r.first[k]; at < r.first[k+1]; at++ {
			s := r.in.options[r.active[at]].site
			asks := r.load[at] + float64(p.money*r.cost[at]) + p.place[s] + float64(p.room[s]*r.share[at])
			if best < 0 || asks < least {
				best, least = at, asks
			}
		}
		r.picked[k] = best
		s := r.in.options[r.active[best]].site
		r.held[s]++
		r.used[s] += r.share[best]
		sum += least
	}
	if p.money > 0 {
		sum -= float64(p.money * float64(r.in.maxCost))
	}
	for s := range r.in.sites {
		sum -= float64(p.place[s]*float64(r.in.sites[s].accept)) + p.room[s]
	}
	return sum
}

// spent is what the options picked cost together.
func (r *relaxation) spent() float64 {
	sum := 0.0
	for _, at := range r.picked {
		sum += r.cost[at]
	}
	return sum
}

// prove reduces the active options by whole-number prices, and returns what the limits pay
// back.
func (r *relaxation) prove(p *exactPrices) int64 {
	for at, i := range r.active {
		o := &r.in.options[i]
		r.reduced[at] = o.load + asked(p.money, o.cost) + p.place[o.site] + shared(p.room[o.site], r.exactShare[at])
	}
	return r.in.given(p)
}

// ascend looks for prices with a high bound, by a subgradient method of the given number of
// rounds, and has each solution on the way looked at. The steps aim at a bound of target.
func (r *relaxation) ascend(p *prices, rounds int, target float64, look func()) {
	const patience = 6 // rounds without a better bound until steps are halved
	best, top, pace, stale := p.clone(), 0.0, 1.0, 0
	unit := r.unit()
	for round := range rounds {
		bound := r.pick(p)
		look()
		if round == 0 || bound > top {
			best, top, stale = p.clone(), bound, 0
		} else if stale++; stale == patience {
			pace, stale = pace/2, 0
			*p = best.clone()
			bound = r.pick(p)
		}
		norm := r.norm(p, unit)
		if norm == 0 {
			break // nothing is over its limit that has no price, nor under with one
		}
		aim := target
		if aim <= bound {
			aim = bound + max(1, bound/20, -bound/20)
		}
		r.step(p, unit, pace*(aim-bound)/norm)
	}
	*p = best
}

// unit is the amount of money that counts as much as one place at a site: a fraction of
// what an option costs, since that of money is one price for all components and has the
// longest way to go.
func (r *relaxation) unit() float64 {
	const fraction = 5
	sum := 0.0
	for at := range r.active {
		sum += max(r.cost[at], -r.cost[at])
	}
	return max(1, sum/float64(fraction*max(1, len(r.active))))
}

// norm is the square of the subgradient, where prices can follow it.
func (r *relaxation) norm(p *prices, unit float64) float64 {
	sum := 0.0
	add := func(price, over float64) {
		if over > 0 || price > 0 {
			sum += float64(over * over)
		}
	}
	add(p.money, r.overspent()/unit)
	for s := range r.in.sites {
		add(p.place[s], float64(r.held[s]-r.in.sites[s].accept))
		add(p.room[s], r.used[s]-1)
	}
	return sum
}

// overspent is how far what is picked is above MaxCost.
func (r *relaxation) overspent() float64 {
	if r.in.maxCost == Unlimited {
		return 0
	}
	return r.spent() - float64(r.in.maxCost)
}

// step moves the prices along the subgradient.
func (r *relaxation) step(p *prices, unit, by float64) {
	p.money = max(0, p.money+float64(by*r.overspent())/float64(unit*unit))
	for s := range r.in.sites {
		p.place[s] = max(0, p.place[s]+float64(by*float64(r.held[s]-r.in.sites[s].accept)))
		p.room[s] = max(0, p.room[s]+float64(by*(r.used[s]-1)))
	}
}
