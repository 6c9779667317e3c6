package report

import (
	"cmp"
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

// Curves are lines over a parameter, each in its band of 95 % confidence: the sweeps
// over load, δ, σ, φ and ε.
type Curves struct {
	Words
	X, Y       string // what the axes show, with the unit
	KindX      Kind
	KindY      Kind
	LogX, LogY bool // logarithmic axes, for values above 0
	Curves     []Curve
}

// Curve is one line. Points need no order; those with N 0 are left out.
type Curve struct {
	Name   string
	Points []Point
}

// Point is an estimate at a value of the parameter.
type Point struct {
	X float64
	Y Estimate
}

const curvesHeight vg.Length = 300

// Figure draws the curves. Its table has a row for each value of the parameter and a
// column for each curve.
func (cs Curves) Figure() (Figure, error) {
	sorted, err := cs.sorted()
	if err != nil {
		return Figure{}, fmt.Errorf("figure %s: %w", cs.Name, err)
	}
	p := dress("")
	p.X.Label.Text, p.Y.Label.Text = clean(cs.X), clean(cs.Y)
	p.Add(across())
	var keys legend
	floor := lowest(sorted) / 2
	p.X.Tick.Marker, p.Y.Tick.Marker = cs.KindX.ticker(), cs.KindY.ticker()
	for i, curve := range sorted {
		line, glyph := lineOf(i)
		keys = append(keys, key{name: short(curve.Name), fill: colourOf(i), line: &line, glyph: glyph})
		if err := cs.add(p, i, curve.Points, floor); err != nil {
			return Figure{}, fmt.Errorf("figure %s: curve %q: %w", cs.Name, curve.Name, err)
		}
	}
	if cs.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{cs.KindX}
	}
	if cs.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{cs.KindY}
	} else {
		p.Y.Min = min(0, p.Y.Min)
	}
	if at := parameters(sorted); len(at) <= 12 {
		p.X.Tick.Marker = ticksAt(at, cs.KindX)
	}
	return render(cs.Words, cs.table(sorted), keys, curvesHeight, p.Draw)
}

// sorted returns the curves checked, their points in the order of X.
func (cs Curves) sorted() ([]Curve, error) {
	out := make([]Curve, len(cs.Curves))
	points := 0
	for i, curve := range cs.Curves {
		out[i].Name = curve.Name
		for _, pt := range curve.Points {
			if pt.Y.N == 0 {
				continue
			}
			if err := cs.valid(pt); err != nil {
				return nil, fmt.Errorf("curve %q at %g: %w", curve.Name, pt.X, err)
			}
			out[i].Points = append(out[i].Points, pt)
		}
		slices.SortStableFunc(out[i].Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		points += len(out[i].Points)
	}
	if points == 0 {
		return nil, errors.New("the curves have no points")
	}
	return out, nil
}

func (cs Curves) valid(pt Point) error {
	if err := cmp.Or(drawable(pt.X), pt.Y.valid()); err != nil {
		return err
	}
	if cs.LogX && pt.X <= 0 || cs.LogY && pt.Y.Mean <= 0 {
		return fmt.Errorf("(%g, %g) has no place on a logarithmic axis", pt.X, pt.Y.Mean)
	}
	return nil
}

func (cs Curves) add(p *plot.Plot, i int, points []Point, floor float64) error {
	if len(points) == 0 {
		return nil
	}
	means := make(plotter.XYs, len(points))
	band := make(plotter.XYs, 2*len(points)) // there along the upper edge, back along the lower
	wide := false
	for k, pt := range points {
		low, high := pt.Y.interval(cs.KindY)
		if cs.LogY {
			low = max(low, floor)
		}
		means[k] = plotter.XY{X: pt.X, Y: pt.Y.Mean}
		band[k] = plotter.XY{X: pt.X, Y: high}
		band[len(band)-1-k] = plotter.XY{X: pt.X, Y: low}
		wide = wide || pt.Y.Half > 0
	}
	if wide {
		area, err := plotter.NewPolygon(band)
		if err != nil {
			return err
		}
		c := colourOf(i)
		area.Color = color.NRGBA{R: c.R, G: c.G, B: c.B, A: 0x38}
		area.Width = 0
		p.Add(area)
	}
	line, dots, err := plotter.NewLinePoints(means)
	if err != nil {
		return err
	}
	line.LineStyle, dots.Shape = lineOf(i)
	dots.Color, dots.Radius = colourOf(i), 2.5
	p.Add(line, dots)
	return nil
}

// lineOf tells curves apart without colours, too.
func lineOf(i int) (draw.LineStyle, draw.GlyphDrawer) {
	glyphs := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}}
	dashes := [][]vg.Length{nil, {6, 2}, {2, 2}, {6, 2, 2, 2}}
	return draw.LineStyle{Color: colourOf(i), Width: 1.5, Dashes: dashes[i%len(dashes)]}, glyphs[i%len(glyphs)]
}

func lowest(curves []Curve) float64 {
	least := math.Inf(1)
	for _, c := range curves {
		for _, pt := range c.Points {
			least = min(least, pt.Y.Mean)
		}
	}
	return least
}

// parameters are the values of X that occur, rising.
func parameters(curves []Curve) []float64 {
	var at []float64
	for _, c := range curves {
		for _, pt := range c.Points {
			at = append(at, pt.X)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

func (cs Curves) table(sorted []Curve) Table {
	t := Table{Columns: []string{cs.X}}
	for _, c := range sorted {
		t.Columns = append(t.Columns, c.Name)
	}
	for _, x := range parameters(sorted) {
		row := []string{cs.KindX.Text(x)}
		for _, c := range sorted {
			cell := Estimate{}
			if i := slices.IndexFunc(c.Points, func(pt Point) bool { return pt.X == x }); i >= 0 {
				cell = c.Points[i].Y
			}
			row = append(row, cell.text(cs.KindY))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
