package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
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
	Marks  [][]Mark     // values of the paper, in the same order; nil without any
}

// The size of a panel, in points: three stand side by side.
const (
	panelHeight = 170
	panelGap    = 14
	panelsWide  = 3
)

// Figure draws the bars with their 95 % intervals and the paper's values. Its table
// has a row for each group and series.
func (b Bars) Figure() (Figure, error) {
	if err := b.valid(); err != nil {
		return Figure{}, fmt.Errorf("figure %s: %w", b.Name, err)
	}
	d := &drawing{}
	top := d.legend(b.legend())
	across := min(panelsWide, len(b.Panels))
	tile := (width - 2*margin - panelGap*float64(across-1)) / float64(across)
	numbers, left := make([]axis, len(b.Panels)), 0.0
	for i := range b.Panels {
		numbers[i] = b.Panels[i].axis()
		left = max(left, numbers[i].room())
	}
	room := (tile - left) / float64(len(b.Groups))
	names, foot := b.names(room)
	for i := range b.Panels {
		x := margin + (tile+panelGap)*float64(i%across)
		y := top + (panelHeight+panelGap)*float64(i/across)
		groups := axis{low: -0.5, high: float64(len(b.Groups)) - 0.5, from: x + left, to: x + tile}
		numbers[i].from, numbers[i].to = y+panelHeight-foot, y+18
		d.say("title middle", (groups.from+groups.to)/2, y+8, cut(b.Panels[i].Title, 40))
		d.across(&groups, &numbers[i])
		b.draw(d, &b.Panels[i], &groups, &numbers[i])
		d.line("ink", point{groups.from, numbers[i].at(0)}, point{groups.to, numbers[i].at(0)})
		names(d, &groups, numbers[i].from)
	}
	rows := (len(b.Panels) + across - 1) / across
	d.Height = int(top) + rows*(panelHeight+panelGap) - panelGap + margin
	return d.figure(b.Words, b.table())
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

// axis is that of the panel's numbers: from 0, or below it, up to all that is shown.
func (p *Panel) axis() axis {
	low, high := 0.0, 0.0
	for s := range p.Values {
		for g, e := range p.Values[s] {
			if e.N > 0 {
				least, most := e.interval(p.Kind)
				low, high = min(low, least), max(high, most)
			}
			if m := p.mark(s, g); m.Bound != Unstated {
				low, high = min(low, m.Value), max(high, m.Value)
			}
		}
	}
	if high <= low {
		high = low + 1
	}
	return newAxis(low, 1.04*high, p.Kind, false)
}

// names says how the groups are labelled, slanted where a name is wider than its room, and
// how much room they need below.
func (b Bars) names(room float64) (names func(d *drawing, groups *axis, foot float64), height float64) {
	const slant = 36 // degrees
	longest := 0.0
	for _, name := range b.Groups {
		longest = max(longest, wide(short(name), 8))
	}
	slanted := longest > room
	height = 16
	if slanted {
		height += longest * math.Sin(slant*math.Pi/180)
	}
	return func(d *drawing, groups *axis, foot float64) {
		for g, name := range b.Groups {
			if at := groups.at(float64(g)); slanted {
				d.turned("end", at+3, foot+10, -slant, short(name))
			} else {
				d.say("middle", at, foot+12, short(name))
			}
		}
	}, height
}

// draw draws the bars of a panel, and over all of them their intervals and marks.
func (b Bars) draw(d *drawing, p *Panel, groups, numbers *axis) {
	const filled = 0.8 // the part of a group's room that its bars fill
	room := groups.at(1) - groups.at(0)
	bar := filled * room / float64(len(b.Series))
	middle := func(s, g int) float64 {
		return groups.at(float64(g)) + bar*(float64(s)-float64(len(b.Series)-1)/2)
	}
	for s := range p.Values {
		for g, e := range p.Values[s] {
			if x := middle(s, g); e.N > 0 && e.Mean != 0 {
				d.Shapes = append(d.Shapes, shape{series(s), box(x-bar/2, numbers.at(e.Mean), x+bar/2, numbers.at(0))})
			}
		}
	}
	for s := range p.Values {
		for g, e := range p.Values[s] {
			x := middle(s, g)
			if e.N > 0 && e.Half > 0 {
				least, most := e.interval(p.Kind)
				low, high, half := numbers.at(least), numbers.at(most), min(2.5, bar/3)
				d.Shapes = append(d.Shapes, shape{"ink", outline([]point{{x, low}, {x, high}}) +
					outline([]point{{x - half, low}, {x + half, low}}) + outline([]point{{x - half, high}, {x + half, high}})})
			}
			if m := p.mark(s, g); m.Bound != Unstated {
				m.Bound.swatch(d, point{x, numbers.at(m.Value)})
			}
		}
	}
}

// swatch marks a value by a diamond. A wedge marks a bound: its flat side is the bound, its
// tip shows where values may lie.
func (b Bound) swatch(d *drawing, at point) {
	const r = 2.8
	switch b {
	case AtMost:
		d.fill("mark", point{at.x - r, at.y}, point{at.x + r, at.y}, point{at.x, at.y + 2*r})
	case AtLeast:
		d.fill("mark", point{at.x - r, at.y}, point{at.x + r, at.y}, point{at.x, at.y - 2*r})
	case About, Unstated:
		d.fill("mark", polygon(at, r, 4, 0)...)
	}
}

func (b Bars) legend() []key {
	var keys []key
	for s, name := range b.Series {
		keys = append(keys, key{short(name), square(series(s))})
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
			keys = append(keys, key{entry.name, entry.bound.swatch})
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
