package report

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars are panels of grouped bars, one panel for each metric, as [SS] Figures 3 to 5
// have them: in each a group for each scheme, and in that a bar for each series.
type Bars struct {
	Words
	Groups []string  // the schemes
	Series []string  // the workloads
	Of     [2]string // what the groups and the series are, for the table
	Panels []Panel
}

// Panel is one metric of [Bars].
type Panel struct {
	Title  string       // the metric, with its unit
	Kind   Kind         // of its values
	Values [][]Estimate // by series, then group
	Marks  [][]Mark     // what the paper says, likewise; nil: nothing
}

const panelHeight vg.Length = 170

// Figure draws the bars with their 95 % intervals and the paper's values. Its table
// has a row for each group and series.
func (b Bars) Figure() (Figure, error) {
	if err := b.valid(); err != nil {
		return Figure{}, fmt.Errorf("figure %s: %w", b.Name, err)
	}
	tiles := draw.Tiles{Cols: min(3, len(b.Panels)), PadX: 14, PadY: 14}
	tiles.Rows = (len(b.Panels) + tiles.Cols - 1) / tiles.Cols
	plots := make([][]*plot.Plot, tiles.Rows)
	for i := range b.Panels {
		p, err := b.panel(&b.Panels[i], width/vg.Length(tiles.Cols))
		if err != nil {
			return Figure{}, fmt.Errorf("figure %s: panel %q: %w", b.Name, b.Panels[i].Title, err)
		}
		plots[i/tiles.Cols] = append(plots[i/tiles.Cols], p)
	}
	last := &plots[tiles.Rows-1]
	*last = append(*last, make([]*plot.Plot, tiles.Cols-len(*last))...)
	return render(b.Words, b.table(), b.legend(), panelHeight*vg.Length(tiles.Rows), func(c draw.Canvas) {
		for r, row := range plot.Align(plots, tiles, c) {
			for i, cell := range row {
				if plots[r][i] != nil {
					plots[r][i].Draw(cell)
				}
			}
		}
	})
}

func (b Bars) valid() error {
	if b.Of[0] == "" || b.Of[1] == "" {
		return errors.New("it is not said what the groups and the series are")
	}
	if len(b.Groups) == 0 || len(b.Series) == 0 || len(b.Panels) == 0 {
		return fmt.Errorf("bars need groups, series and panels; there are %d, %d and %d",
			len(b.Groups), len(b.Series), len(b.Panels))
	}
	for _, p := range b.Panels {
		if len(p.Values) != len(b.Series) || p.Marks != nil && len(p.Marks) != len(b.Series) {
			return fmt.Errorf("panel %q: values of %d and marks of %d series, want %d",
				p.Title, len(p.Values), len(p.Marks), len(b.Series))
		}
		for s := range p.Values {
			if err := b.validSeries(&p, s); err != nil {
				return fmt.Errorf("panel %q, series %q: %w", p.Title, b.Series[s], err)
			}
		}
	}
	return nil
}

func (b Bars) validSeries(p *Panel, s int) error {
	if len(p.Values[s]) != len(b.Groups) || p.Marks != nil && len(p.Marks[s]) != len(b.Groups) {
		return fmt.Errorf("not one value for each of the %d groups", len(b.Groups))
	}
	for g, e := range p.Values[s] {
		if err := e.valid(); err != nil {
			return fmt.Errorf("group %q: %w", b.Groups[g], err)
		}
		if err := drawable(p.mark(s, g).Value); err != nil {
			return fmt.Errorf("the paper's value for group %q: %w", b.Groups[g], err)
		}
	}
	return nil
}

func (p *Panel) mark(series, group int) Mark {
	if p.Marks == nil {
		return Mark{}
	}
	return p.Marks[series][group]
}

// marked says whether the paper has a value for any bar. A column without one would
// only push others out of sight.
func (p *Panel) marked() bool {
	return slices.ContainsFunc(p.Marks, func(marks []Mark) bool {
		return slices.ContainsFunc(marks, func(m Mark) bool { return m.Bound != Unstated })
	})
}

// panel is the plot of one metric on a tile of the width given.
func (b Bars) panel(panel *Panel, tile vg.Length) (*plot.Plot, error) {
	const axis, filled = 55, 0.8 // room for the numbers; the part of a group's room that its bars fill
	room := (tile - axis) / vg.Length(len(b.Groups))
	bar := filled * room / vg.Length(len(b.Series))
	p := dress(cut(panel.Title, 40))
	p.Add(across())
	for s := range b.Series {
		offset := bar * (vg.Length(s) - vg.Length(len(b.Series)-1)/2)
		values := make(plotter.Values, len(b.Groups))
		for g, e := range panel.Values[s] {
			if e.N > 0 {
				values[g] = e.Mean
			}
		}
		chart, err := plotter.NewBarChart(values, bar)
		if err != nil {
			return nil, err
		}
		chart.Offset = offset
		chart.Color = colourOf(s)
		chart.LineStyle.Width = 0
		p.Add(chart, overlay{panel: panel, series: s, offset: offset, bar: bar})
	}
	p.Y.Tick.Marker = panel.Kind.ticker()
	p.X.Min, p.X.Max = -0.5, float64(len(b.Groups))-0.5
	p.X.Padding = 0
	p.X.Tick.Length = 0
	p.Y.Min = min(0, p.Y.Min)
	if p.Y.Max <= p.Y.Min {
		p.Y.Max = p.Y.Min + 1
	}
	b.nameGroups(p, room)
	return p, nil
}

// nameGroups labels the groups, slanted where the names are wider than their room.
func (b Bars) nameGroups(p *plot.Plot, room vg.Length) {
	ticks := make(plot.ConstantTicks, len(b.Groups))
	style := &p.X.Tick.Label
	wide := false
	for g, name := range b.Groups {
		ticks[g] = plot.Tick{Value: float64(g), Label: short(name)}
		wide = wide || style.Width(ticks[g].Label) > room
	}
	p.X.Tick.Marker = ticks
	if wide {
		style.Rotation = math.Pi / 5
		style.XAlign, style.YAlign = draw.XRight, draw.YTop
	}
}

// overlay draws a series' intervals and marks over its bars.
type overlay struct {
	panel       *Panel
	series      int
	offset, bar vg.Length
}

// Plot implements [plot.Plotter].
func (o overlay) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	whisker := draw.LineStyle{Color: ink(), Width: 0.8}
	for g, e := range o.panel.Values[o.series] {
		x := toX(float64(g)) + o.offset
		if e.N > 0 && e.Half > 0 {
			least, most := e.interval(o.panel.Kind)
			low, high, half := toY(least), toY(most), min(2.5, o.bar/3)
			c.StrokeLine2(whisker, x, low, x, high)
			c.StrokeLine2(whisker, x-half, low, x+half, low)
			c.StrokeLine2(whisker, x-half, high, x+half, high)
		}
		if m := o.panel.mark(o.series, g); m.Bound != Unstated {
			at := vg.Point{X: x, Y: toY(m.Value)}
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: paper(), Radius: 4.2, Shape: m.Bound.glyph()}, at)
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink(), Radius: 2.8, Shape: m.Bound.glyph()}, at)
		}
	}
}

// DataRange implements [plot.DataRanger].
func (o overlay) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmax = float64(len(o.panel.Values[o.series]) - 1)
	for g, e := range o.panel.Values[o.series] {
		if e.N > 0 {
			low, high := e.interval(o.panel.Kind)
			ymin, ymax = min(ymin, low), max(ymax, high)
		}
		if m := o.panel.mark(o.series, g); m.Bound != Unstated {
			ymin, ymax = min(ymin, m.Value), max(ymax, m.Value)
		}
	}
	return xmin, xmax, ymin, ymax * 1.04
}

func (b Bound) glyph() draw.GlyphDrawer {
	switch b {
	case AtMost:
		return wedge(-1)
	case AtLeast:
		return wedge(+1)
	case About, Unstated:
	}
	return diamond{}
}

// diamond marks a value.
type diamond struct{}

// DrawGlyph implements [draw.GlyphDrawer].
func (diamond) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r := style.Radius
	fillGlyph(c, style.Color, at, vg.Point{X: -r}, vg.Point{Y: r}, vg.Point{X: r}, vg.Point{Y: -r})
}

// wedge marks a bound: its flat side is the bound, its tip shows where values may lie,
// +1 above and −1 below.
type wedge int

// DrawGlyph implements [draw.GlyphDrawer].
func (w wedge) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r, tip := style.Radius, 2*style.Radius*vg.Length(w)
	fillGlyph(c, style.Color, at, vg.Point{X: -r}, vg.Point{X: r}, vg.Point{Y: tip})
}

func fillGlyph(c *draw.Canvas, colour color.Color, at vg.Point, corners ...vg.Point) {
	for i := range corners {
		corners[i] = corners[i].Add(at)
	}
	c.FillPolygon(colour, corners)
}

func (b Bars) legend() legend {
	var keys legend
	for s, name := range b.Series {
		keys = append(keys, key{name: short(name), fill: colourOf(s)})
	}
	said := map[Bound]bool{}
	for i := range b.Panels {
		for _, marks := range b.Panels[i].Marks {
			for _, m := range marks {
				said[m.Bound] = true
			}
		}
	}
	for _, entry := range []struct {
		bound Bound
		name  string
	}{{About, "the paper"}, {AtMost, "the paper: less than"}, {AtLeast, "the paper: more than"}} {
		if said[entry.bound] {
			keys = append(keys, key{name: entry.name, fill: ink(), glyph: entry.bound.glyph()})
		}
	}
	return keys
}

func (b Bars) table() Table {
	t := Table{Columns: []string{b.Of[0], b.Of[1]}}
	for i := range b.Panels {
		t.Columns = append(t.Columns, b.Panels[i].Title)
		if b.Panels[i].marked() {
			t.Columns = append(t.Columns, "the paper")
		}
	}
	for g, group := range b.Groups {
		for s, series := range b.Series {
			row := []string{group, series}
			for i := range b.Panels {
				p := &b.Panels[i]
				row = append(row, p.Values[s][g].text(p.Kind))
				if p.marked() {
					row = append(row, p.mark(s, g).text(p.Kind))
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
