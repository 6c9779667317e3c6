package report

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// What bounds a Gantt chart's file: some 65 bytes for each rectangle.
const (
	drawnAlone  = 4000 // blocks drawn for themselves
	drawnMerged = 6000 // cells
	cellHeight  = 7    // points
)

// picture is what of a schedule is drawn: rectangles by colour.
type picture struct {
	bands   []band
	colours []int // by origin: index into the palette, −1 for grey
	from    protocol.Instant
	unit    protocol.Duration
	until   float64 // the end, in units after from

	layers  [][]rectangle // by colour; the last is grey
	planned [][]rectangle // the same of what is planned
	alone   int           // blocks drawn for themselves
	merged  int           // blocks that are not
}

// rectangle is in units of time and points of height.
type rectangle struct{ left, right, low, high float64 }

// paint chooses what is drawn: all blocks, or the largest ones over cells that stand
// for the rest.
func (p *picture) paint(sites []GanttSite, blocks []block) {
	p.layers, p.planned = make([][]rectangle, palette+1), make([][]rectangle, palette+1)
	at := make([]*band, len(sites))
	for i := range p.bands {
		at[p.bands[i].site] = &p.bands[i]
	}
	shown := slices.DeleteFunc(blocks, func(b block) bool { return at[b.site] == nil })
	if len(shown) > drawnAlone {
		slices.SortStableFunc(shown, func(a, b block) int { return cmp.Compare(b.area(), a.area()) })
		p.merge(sites, at, shown)
	}
	p.alone = min(drawnAlone, len(shown))
	p.merged = len(shown) - p.alone
	for i := range shown[:p.alone] {
		b := &shown[i]
		p.addBlock(b, p.place(b, sites, at).inset(p.until))
	}
}

// addBlock adds a block, in two parts if the end of it is only planned.
func (p *picture) addBlock(b *block, r rectangle) {
	layer := p.colours[b.origin]
	if layer < 0 {
		layer = len(p.layers) - 1
	}
	sure, planned := r, r
	sure.right = min(r.right, float64(b.sure.Sub(p.from))/float64(p.unit))
	planned.left = max(r.left, sure.right)
	if sure.left < sure.right {
		p.layers[layer] = append(p.layers[layer], sure)
	}
	if planned.left < planned.right {
		p.planned[layer] = append(p.planned[layer], planned)
	}
}

func (p *picture) add(origin int, r rectangle) {
	layer := p.colours[origin]
	if layer < 0 {
		layer = len(p.layers) - 1
	}
	p.layers[layer] = append(p.layers[layer], r)
}

func (p *picture) place(b *block, sites []GanttSite, at []*band) rectangle {
	strip := at[b.site]
	perCPU := (strip.high - strip.low) / float64(sites[b.site].CPUs)
	return rectangle{
		left:  float64(b.start.Sub(p.from)) / float64(p.unit),
		right: float64(b.end.Sub(p.from)) / float64(p.unit),
		low:   strip.low + perCPU*float64(b.low),
		high:  strip.low + perCPU*float64(b.high),
	}
}

// inset leaves a seam between rectangles that are large enough to show one.
func (r rectangle) inset(until float64) rectangle {
	const seam = 0.2 // points
	if step := until / float64(width); r.right-r.left > 6*seam*step {
		r.left, r.right = r.left+seam*step, r.right-seam*step
	}
	if r.high-r.low > 6*seam {
		r.low, r.high = r.low+seam, r.high-seam
	}
	return r
}

// cells are a band cut into rows and columns. The value of each cell stands at
// row × columns + column.
type cells struct {
	band          *band
	rows, columns int
	step          float64 // width of a cell, in units of time
	large         []float64
	small         [][]float64 // by origin; nil: none
}

// merge stands in for the blocks after the first [drawnAlone] with coloured cells.
func (p *picture) merge(sites []GanttSite, at []*band, blocks []block) {
	rows := 0
	for _, b := range p.bands {
		rows += b.rows()
	}
	columns := max(1, drawnMerged/rows)
	grids := make([]cells, len(sites))
	for i := range p.bands {
		b := &p.bands[i]
		grids[b.site] = cells{
			band: b, rows: b.rows(), columns: columns, step: p.until / float64(columns),
			large: make([]float64, b.rows()*columns), small: make([][]float64, len(sites)),
		}
	}
	for i := range blocks {
		b := &blocks[i]
		grid := &grids[b.site]
		if i < drawnAlone {
			grid.cover(grid.large, p.place(b, sites, at))
			continue
		}
		if grid.small[b.origin] == nil {
			grid.small[b.origin] = make([]float64, len(grid.large))
		}
		grid.cover(grid.small[b.origin], p.place(b, sites, at))
	}
	for _, b := range p.bands {
		grids[b.site].colour(p)
	}
}

func (b band) rows() int { return max(1, int((b.high-b.low)/cellHeight)) }

// cover adds the part of each cell that a rectangle covers.
func (c *cells) cover(to []float64, r rectangle) {
	tall := (c.band.high - c.band.low) / float64(c.rows)
	left, right := r.left/c.step, r.right/c.step
	low, high := (r.low-c.band.low)/tall, (r.high-c.band.low)/tall
	for row := int(low); row < c.rows && float64(row) < high; row++ {
		part := min(high, float64(row+1)) - max(low, float64(row))
		for col := int(left); col < c.columns && float64(col) < right; col++ {
			to[row*c.columns+col] += part * (min(right, float64(col+1)) - max(left, float64(col)))
		}
	}
}

// colour gives each row's cells to origins and to idleness by their shares: a cell goes
// to whom most is due, and what it gets too much or too little is carried on to the
// next. So an origin with few jobs is seen in every region by as much as it has there,
// where the majority of each cell would hide it.
func (c *cells) colour(p *picture) {
	idle := len(c.small)
	tall := (c.band.high - c.band.low) / float64(c.rows)
	for row := range c.rows {
		due := make([]float64, idle+1)
		low := c.band.low + float64(row)*tall
		for col := range c.columns {
			cell := row*c.columns + col
			seen := 1 - c.large[cell]
			if seen < 0.01 {
				continue // behind the blocks drawn for themselves
			}
			rest := seen
			for origin, part := range c.small {
				if part != nil {
					due[origin] += part[cell]
					rest -= part[cell]
				}
			}
			due[idle] += rest
			best := argmax(due)
			due[best] -= seen
			if best < idle {
				left := float64(col) * c.step
				p.add(best, rectangle{left: left, right: left + c.step, low: low, high: low + tall})
			}
		}
	}
}

// argmax is the first index of the largest value.
func argmax(values []float64) int {
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return best
}
