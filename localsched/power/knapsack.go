package power

import "slices"

// Item is a job of the window, as the knapsack of [BG 3.3] sees it.
type Item struct {
	Units int   // of the machine that it is given, its gain v
	Draw  int64 // milliwatts, its weight w
}

// Chooser solves the 0-1 knapsack of [BG 3.3]. It keeps its memory between calls. The zero
// Chooser is ready.
type Chooser struct {
	chosen []bool
	able   []able
	rows   [][]int64

	wanted int   // steps that the items which are not decided yet fill
	spent  int64 // by the items that are chosen
}

// able is an item that fits when it is alone.
type able struct {
	place int // among all items
	steps int // its units over the greatest common divisor of those of all that fit
	draw  int64
}

// maxCells bounds the table: 100 jobs on a machine of 163,840 units have this many when the
// jobs share no divisor. Rows then take 11 MB, and never more than 150 MB.
const maxCells = 16 << 20

// Choose is the set of items with most units, at most units of them, that draws at most draw
// milliwatts: for each item whether it is in. Items stand in the order of the queue, and of
// equally large sets the first by that order is chosen: the first item is in if it is in any
// of them, then the second, and so on. Items without units and those of a negative draw are
// never chosen. The answer is good until the next call.
//
// Equation 4 has a table with a row for each job, a column for each step of power, and the
// most gain in its cells, so it must round power. Here that table is turned by 90 degrees: a
// column stands for units, and its cell is the most power that is left. So milliwatts decide
// exactly, whatever the budget, and the other constraint, free units, is only where rows
// end. A job that draws just what is left may start: equation 4's cases overlap at w_i = w,
// and only w_i > w skips it.
//
// Columns are as far apart as the greatest common divisor of the units of all n items that
// fit. Of their n rows ⌈log₂ n⌉+1 are kept, and each is made at most ⌈log₂ n⌉ + 1 times. Of
// a table with more than 16 Mi cells the last items of the queue are left out, and are taken
// in order where they fit beside the best of the others.
func (c *Chooser) Choose(items []Item, units int, draw int64) []bool {
	c.chosen = slices.Grow(c.chosen[:0], len(items))[:len(items)]
	clear(c.chosen)
	room, most := c.list(items, units, draw)
	n := min(len(c.able), maxCells/(most+1))
	if c.fill(c.able, room, draw) == most || n < 2 {
		return c.chosen // first of all in the queue's order, and no set is larger, or none is sought
	}
	clear(c.chosen)
	filled, spent := c.solve(c.able[:n], most, draw)
	c.fill(c.able[n:], room-filled, draw-spent)
	return c.chosen
}

// list gathers the items that fit when they are alone. It tells how many steps of units there
// are, and how many of them a set could fill if power were free.
func (c *Chooser) list(items []Item, units int, draw int64) (room, most int) {
	c.able = c.able[:0]
	step := 0
	for i, item := range items {
		if item.Units < 1 || item.Units > units || item.Draw < 0 || item.Draw > draw {
			continue
		}
		c.able = append(c.able, able{place: i, steps: item.Units, draw: item.Draw})
		step = divisor(step, item.Units)
	}
	if step == 0 {
		return 0, 0
	}
	room = units / step
	for i := range c.able {
		c.able[i].steps /= step
		most += min(c.able[i].steps, room-most)
	}
	return room, most
}

// divisor is the greatest common one.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// fill chooses items in order while they fit.
func (c *Chooser) fill(from []able, room int, draw int64) (filled int) {
	for _, one := range from {
		if one.steps <= room-filled && one.draw <= draw {
			c.chosen[one.place] = true
			filled += one.steps
			draw -= one.draw
		}
	}
	return filled
}

// solve chooses the best set of items for this number of steps.
func (c *Chooser) solve(from []able, steps int, draw int64) (filled int, spent int64) {
	none := c.row(0, steps+1)
	for i := range none {
		none[i] = -1
	}
	none[0] = draw
	all := c.row(1, steps+1)
	copy(all, none)
	extend(all, from)
	for filled = steps; all[filled] < 0; filled-- {
	}
	c.wanted, c.spent = filled, 0
	c.decide(from, none, 1)
	return filled, c.spent
}

// decide chooses among items in their order, by halves. The row after is that of the items
// behind them. A row of some items has a cell for each number of steps: the most power that
// is left when a set of them fills exactly that number, or -1 if none does.
func (c *Chooser) decide(from []able, after []int64, depth int) {
	for len(from) > 1 {
		half := len(from) / 2
		middle := c.row(depth, c.wanted+1)
		copy(middle, after)
		extend(middle, from[half:])
		c.decide(from[:half], middle, depth+1)
		from = from[half:]
	}
	for _, one := range from {
		if one.steps <= c.wanted && after[c.wanted-one.steps]-one.draw >= c.spent {
			c.chosen[one.place] = true
			c.wanted -= one.steps
			c.spent += one.draw
		}
	}
}

// extend makes a row that of more items. No difference overflows, for no cell is below -1.
func extend(row []int64, by []able) {
	for _, one := range by {
		with := row[min(one.steps, len(row)):]
		without := row[:len(with)] // a length that the compiler sees
		for i := len(with) - 1; i >= 0; i-- {
			with[i] = max(with[i], without[i]-one.draw)
		}
	}
}

// row is memory of this number of cells.
func (c *Chooser) row(depth, cells int) []int64 {
	for len(c.rows) <= depth {
		c.rows = append(c.rows, nil)
	}
	if cap(c.rows[depth]) < cells {
		c.rows[depth] = make([]int64, cells)
	}
	return c.rows[depth][:cells]
}
