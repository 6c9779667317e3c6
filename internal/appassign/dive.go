package appassign

import (
	"cmp"
	"slices"
)

// dive is a depth-first search of a box, in the order of the components.
type dive struct {
	*search
	cut    *cut
	rows   [][]candidate // of each component
	rest   []floor       // of this component and all later ones
	late   []int64       // of rest's end
	target *value        // look for the first solution of this value alone
	left   int           // steps
}

// candidate is an active option and its reduced costs.
type candidate struct {
	option  int
	reduced int64
}

// row are the candidates of component k, in the order of the options.
func (r *relaxation) row(k int) (row []candidate) {
	for at := r.first[k]; at < r.first[k+1]; at++ {
		row = append(row, candidate{r.active[at], r.reduced[at]})
	}
	return row
}

// sortCheapest has the least reduced costs first.
func sortCheapest(row []candidate) {
	slices.SortFunc(row, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.reduced, b.reduced), cmp.Compare(a.option, b.option))
	})
}

// dive searches what is left of a box for solutions that are better than the best, for so
// many steps. It says whether it saw all.
func (s *search) dive(c *cut, steps int) (done bool) {
	d := s.newDive(c, steps)
	for _, row := range d.rows {
		sortCheapest(row)
	}
	return d.run()
}

// settle replaces the best solution by the first one of the same value. It says whether it
// could.
func (s *search) settle() (done bool) {
	p := s.in.free()
	rounds := laterRounds
	if len(s.in.p.Components) == 1 {
		rounds = 0
	}
	c, ok := s.bound(s.best.end, s.best.end, &p, rounds)
	if !ok {
		return false
	}
	d := s.newDive(&c, s.opt.Nodes/4)
	d.target = &s.best
	return d.run()
}

func (s *search) newDive(c *cut, steps int) *dive {
	n := len(s.in.p.Components)
	d := &dive{
		search: s, cut: c, left: steps,
		rows: make([][]candidate, n), rest: make([]floor, n+1), late: make([]int64, n+1),
	}
	for k := n - 1; k >= 0; k-- {
		d.rows[k] = s.relax.row(k)
		f, r := s.relax.floor(k), d.rest[k+1]
		d.rest[k] = floor{f.load + r.load, f.reduced + r.reduced, f.cost + r.cost, max(f.end, r.end)}
	}
	for k := range d.rest {
		d.late[k] = max(c.late, s.in.late(d.rest[k].end))
	}
	return d
}

func (d *dive) run() (done bool) {
	for len(d.state.frames) > 0 {
		d.state.undo()
	}
	before := d.left
	how := d.from(0, -d.cut.back)
	d.spent += before - d.left
	return how != stopped
}

// outcome says how a search of a part ended.
type outcome int

const (
	whole   outcome = iota // it has seen all that matters
	stopped                // it ran out of steps
	found                  // the solution is the one that was looked for
)

// from tries the options of component k and all later ones. Reduced is the sum of the
// reduced costs so far, less what the limits pay back.
func (d *dive) from(k int, reduced int64) outcome {
	if k == len(d.rows) {
		return d.arrive()
	}
	for _, c := range d.rows[k] {
		if d.left <= 0 {
			return stopped
		}
		d.left--
		if d.target == nil && reduced+c.reduced+d.rest[k+1].reduced+max(d.late[k+1], d.state.now.late) > d.best.z {
			return whole // the candidates after it are no cheaper
		}
		o := &d.in.options[c.option]
		if d.state.full(o.site) {
			continue
		}
		load := d.state.now.load
		d.state.place(c.option)
		next := reduced + c.reduced + d.state.now.load - load - o.load
		if d.promises(k+1, next) {
			if how := d.from(k+1, next); how != whole {
				return how
			}
		}
		d.state.undo()
	}
	return whole
}

// promises says whether what is placed can become a solution that is looked for.
func (d *dive) promises(k int, reduced int64) bool {
	now, rest := &d.state.now, &d.rest[k]
	if now.cost+rest.cost > d.in.maxCost || now.end > d.cut.hi {
		return false
	}
	least := value{
		z:    max(now.load+rest.load, reduced+rest.reduced) + max(now.late, d.late[k]),
		end:  max(d.cut.lo, now.end, rest.end),
		cost: now.cost + rest.cost,
	}
	if d.target != nil {
		return least.compare(*d.target) <= 0
	}
	return least.compare(d.best) < 0
}

// arrive takes the solution that is placed, if it is looked for.
func (d *dive) arrive() outcome {
	v := d.state.value()
	if !d.state.within() || d.target != nil && v != *d.target || d.target == nil && v.compare(d.best) >= 0 {
		return whole
	}
	d.best, d.chosen = v, make([]int, len(d.state.frames))
	for k, f := range d.state.frames {
		d.chosen[k] = f.option
	}
	if d.target != nil {
		return found
	}
	return whole
}
