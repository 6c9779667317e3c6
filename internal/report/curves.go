package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Curves are lines over a parameter, each in its band of 95 % confidence: the sweeps
// over load, δ, σ, φ and ε.
type Curves struct {
	Words
	X, Y       string // what the axes show, with the unit
	KindX      Kind
	KindY      Kind
	LogX, LogY bool   // logarithmic axes, for values above 0
	AtLeast    *Frame // what the axes show besides all points; nil: nothing
	// MaxStep is how far apart in X points are that a line joins; 0: however far.
	MaxStep float64
	Curves  []Curve
}

// Frame is a part of the plane.
type Frame struct{ FromX, ToX, FromY, ToY float64 }

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

const curvesHeight = 300 // points, without the legend

// mostDots is how many points of a curve are marked at most: with more, marks would cover each other and the line.
const mostDots = 60

// Figure draws the curves. Its table has a row for each value of the parameter and a
// column for each curve.
func (cs Curves) Figure() (Figure, error) {
	sorted, err := cs.sorted()
	if err != nil {
		return Figure{}, fmt.Errorf("figure %s: %w", cs.Name, err)
	}
	d := &drawing{}
	var keys []key
	for i, curve := range sorted {
		keys = append(keys, key{short(curve.Name), func(d *drawing, at point) {
			d.line(lineOf(i), point{at.x - 5, at.y}, point{at.x + 5, at.y})
			if len(curve.Points) <= mostDots {
				dot(d, i, at)
			}
		}})
	}
	top := d.legend(keys)
	x, y := cs.axes(sorted)
	x.from, x.to = margin+14+y.room(), x.end()
	y.from, y.to = top+curvesHeight-32, top+4
	frame := axis{from: x.from, to: x.to}
	x.from += 8
	d.across(&frame, &y)
	d.below(&x, &y)
	d.say("name middle", (x.from+x.to)/2, y.from+26, clean(cs.X))
	d.turned("name middle", margin+8, (y.from+y.to)/2, -90, clean(cs.Y))
	for i, curve := range sorted {
		for _, run := range cs.runs(curve.Points) {
			cs.draw(d, i, run, len(curve.Points) <= mostDots || len(run) == 1, &x, &y)
		}
	}
	d.Height = int(top) + curvesHeight + margin
	return d.figure(cs.Words, cs.table(sorted))
}

// axes show all points and bands, and 0 where the y axis is not logarithmic.
func (cs Curves) axes(sorted []Curve) (x, y axis) {
	at := parameters(sorted)
	low, high := math.Inf(1), math.Inf(-1)
	if f := cs.AtLeast; f != nil {
		low, high = f.FromY, f.ToY
		x = newAxis(min(f.FromX, at[0]), max(f.ToX, at[len(at)-1]), cs.KindX, cs.LogX)
	} else {
		x = newAxis(at[0], at[len(at)-1], cs.KindX, cs.LogX)
		if len(at) <= 12 {
			x.ticks = ticksAt(at, cs.KindX)
		}
	}
	for _, curve := range sorted {
		for _, pt := range curve.Points {
			least, most := cs.band(pt)
			low, high = min(low, least), max(high, most)
		}
	}
	if !cs.LogY {
		low, high = min(0, low), max(0, high)
	}
	return x, newAxis(low, high, cs.KindY, cs.LogY)
}

// band is the interval of a point, as far as the axis has a place for it: a logarithmic one
// ends at a tenth of the mean.
func (cs Curves) band(pt Point) (low, high float64) {
	low, high = pt.Y.interval(cs.KindY)
	if cs.LogY {
		low = max(low, pt.Y.Mean/10)
	}
	return low, high
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

// runs are the parts of a curve, each a line, between which it is not known.
func (cs Curves) runs(points []Point) [][]Point {
	if cs.MaxStep == 0 {
		return [][]Point{points}
	}
	var runs [][]Point
	for start := 0; start < len(points); {
		end := start + 1
		for end < len(points) && points[end].X-points[end-1].X <= cs.MaxStep {
			end++
		}
		runs = append(runs, points[start:end])
		start = end
	}
	return runs
}

// draw draws a run of a curve over its band. A run of one point needs its dot to be seen.
func (cs Curves) draw(d *drawing, i int, points []Point, dots bool, x, y *axis) {
	means := make([]point, len(points))
	band := make([]point, 2*len(points)) // there along the upper edge, back along the lower
	certain := true
	for k, pt := range points {
		low, high := cs.band(pt)
		means[k] = point{x.at(pt.X), y.at(pt.Y.Mean)}
		band[k] = point{means[k].x, y.at(high)}
		band[len(band)-1-k] = point{means[k].x, y.at(low)}
		certain = certain && pt.Y.Half == 0
	}
	if !certain {
		d.fill("band "+series(i), band...)
	}
	d.line(lineOf(i), means...)
	if !dots {
		return
	}
	for _, at := range means {
		dot(d, i, at)
	}
}

// lineOf and dot tell curves apart without colours, too.
func lineOf(i int) string { return fmt.Sprintf("curve dash%d %s", i%4, series(i)) }

func dot(d *drawing, i int, at point) {
	shapes := [][2]float64{{12, 0}, {4, 0.5}, {3, 0}, {4, 0}} // corners and turn: a disc, a square, a triangle, a diamond
	one := shapes[i%len(shapes)]
	d.fill(series(i), polygon(at, 3, int(one[0]), one[1])...)
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
