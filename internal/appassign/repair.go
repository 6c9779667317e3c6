package appassign

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// plan is a choice for every component that may break limits. Breaking them costs
// something on top, which a local search lowers. It looks at what changes at two or three
// sites at a time; that components start together it leaves to chance.
type plan struct {
	in       *instance
	random   *rand.Rand
	deadline protocol.Duration
	rows     [][]candidate // of each component, the cheapest with the prices first
	chosen   []int         // options
	at       [][]int       // components at each site, in order
	load     int64         // what they count in z
	spent    int64         // what they cost, against MaxCost
	hurt     []float64     // what breaking limits costs at each site
	pains    float64       // the sum of that
	late     float64       // what a millisecond after the deadline costs
	crowd    float64       // what a component too many at a site costs
	money    float64       // what a millionth above MaxCost costs
	steps    int
}

// worthRepairing reports whether a better solution of a box is worth looking for, and no better one
// is to be expected in a half of it: if waiting until the box's end costs so much that a solution
// that ends then is no better than the best, the box's deadline says little.
func (s *search) worthRepairing(b *cut) bool {
	if s.tuned > s.opt.Nodes/2 || len(s.in.p.Components) < 2 {
		return false
	}
	if s.chosen == nil {
		return true
	}
	if b.least.z == s.best.z { // what ends sooner is better
		return b.hi < s.best.end && s.best.end-b.least.end > s.best.end>>10
	}
	size, rise := max(s.best.z, -s.best.z), s.in.late(b.hi)-b.late
	gain := s.best.z - b.least.z
	return gain > size>>10 && rise <= size>>5 || gain-rise > size>>10
}

// repair looks for a solution of a box. It starts from the cheapest choices at the current prices
// and tries random moves from a fixed seed. The penalty of breaking limits rises from round to
// round.
func (s *search) repair(b *cut) {
	const tries, rounds, patience = 50, 2, 6 // tries of each component; rounds while no solution is known
	p := s.plan(b)
	for round := 0; round < rounds || s.chosen == nil && round < patience; round++ {
		for range tries * len(p.chosen) {
			p.try()
		}
		s.offer(slices.Clone(p.chosen))
		p.charge()
	}
	s.spent += p.steps
	s.tuned += p.steps
}

// plan is what is cheapest with the prices.
func (s *search) plan(b *cut) *plan {
	n := len(s.in.p.Components)
	p := &plan{
		in: s.in, random: rand.New(rand.NewPCG(0, 0)), deadline: b.hi, chosen: make([]int, n),
		at: make([][]int, len(s.in.sites)), hurt: make([]float64, len(s.in.sites)),
	}
	size := 1.0
	for k := range n {
		p.rows = append(p.rows, s.relax.row(k))
		sortCheapest(p.rows[k])
		p.chosen[k] = p.first(k)
		o := &s.in.options[p.chosen[k]]
		p.at[o.site] = append(p.at[o.site], k)
		p.spent += o.cost
		p.load += o.load
		size += math.Abs(float64(o.load))
	}
	// A hundredth of the time too late costs what a component does.
	p.late, p.crowd, p.money = 100*size/float64(n)/float64(b.hi+1), size/float64(n), 2*b.prices.money+0.5
	p.weigh()
	return p
}

// first is the cheapest option of component k at a site with places left, if there is one.
func (p *plan) first(k int) int {
	for _, c := range p.rows[k] {
		if p.room(p.in.options[c.option].site) {
			return c.option
		}
	}
	return p.rows[k][0].option
}

// room says whether a site takes one more.
func (p *plan) room(site int) bool { return len(p.at[site]) < p.in.sites[site].accept }

// weigh recomputes the penalty of all limits that are broken.
func (p *plan) weigh() {
	p.pains = 0
	for site := range p.at {
		p.hurt[site] = 0
		p.feel(site)
	}
}

// feel recomputes the penalty of the limits that are broken at a site.
func (p *plan) feel(site int) {
	row := &p.in.sites[site]
	there, sum := row.before, 0.0
	for _, k := range p.at[site] {
		o := &p.in.options[p.chosen[k]]
		end := max(row.wait(&there, o), o.ready).Plus(o.tail)
		if end > p.deadline {
			sum += float64(p.late * float64(end-p.deadline))
		}
		if p.in.p.EachLate && end > o.end {
			sum += float64(p.in.late(end) - o.own)
		}
		there.add(o)
	}
	sum += float64(p.crowd * float64(max(0, there.jobs-row.accept)))
	p.pains += sum - p.hurt[site]
	p.hurt[site] = sum
	p.steps += 1 + there.jobs
}

// excess is what it costs to be above MaxCost.
func (p *plan) excess() float64 {
	if p.spent <= p.in.maxCost {
		return 0
	}
	return float64(p.money * float64(p.spent-p.in.maxCost))
}

// total is what the plan counts in all.
func (p *plan) total() float64 { return float64(p.load) + p.pains + p.excess() }

// charge raises the penalty of breaking limits.
func (p *plan) charge() {
	p.late, p.crowd, p.money = 2*p.late, 2*p.crowd, 2*p.money
	p.weigh()
}

// try has a component drawn at random take another of its options, rather a cheap one. At
// a full site, and now and then elsewhere, one that is there gives way to it. It is undone
// if it makes the plan worse.
func (p *plan) try() {
	p.steps++
	k := p.random.IntN(len(p.chosen))
	row, own := p.rows[k], p.chosen[k]
	i := row[min(p.random.IntN(len(row)), p.random.IntN(len(row)))].option
	if i == own {
		return
	}
	was, o := &p.in.options[own], &p.in.options[i]
	before := p.total()
	there := p.at[o.site]
	if o.site != was.site && len(there) > 0 && (!p.room(o.site) || p.random.IntN(8) == 0) {
		l := there[p.random.IntN(len(there))]
		away := p.chosen[l]
		j, ok := p.elsewhere(l, was.site)
		if !ok {
			return
		}
		p.move(l, j)
		p.move(k, i)
		if p.total() > before {
			p.move(k, own)
			p.move(l, away)
		}
		return
	}
	if o.load > was.load && p.hurt[was.site] == 0 && p.excess() == 0 {
		return // there is nothing that it could heal
	}
	p.move(k, i)
	if p.total() > before {
		p.move(k, own)
	}
}

// elsewhere is the cheapest option of component k at another site that takes one more, or
// at one that another component leaves for it.
func (p *plan) elsewhere(k, left int) (option int, ok bool) {
	own := p.in.options[p.chosen[k]].site
	for _, c := range p.rows[k] {
		p.steps++
		if site := p.in.options[c.option].site; site == left || site != own && p.room(site) {
			return c.option, true
		}
	}
	return 0, false
}

// move has component k take an option.
func (p *plan) move(k, i int) {
	was, o := &p.in.options[p.chosen[k]], &p.in.options[i]
	p.spent += o.cost - was.cost
	p.load += o.load - was.load
	p.chosen[k] = i
	if was.site != o.site {
		p.at[was.site] = slices.DeleteFunc(p.at[was.site], func(other int) bool { return other == k })
		place, _ := slices.BinarySearch(p.at[o.site], k)
		p.at[o.site] = slices.Insert(p.at[o.site], place, k)
		p.feel(was.site)
	}
	p.feel(o.site)
}
