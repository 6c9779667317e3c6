package report

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// key is one entry of a legend: a swatch of colour, or a glyph.
type key struct {
	name  string
	fill  color.Color
	line  *draw.LineStyle
	glyph draw.GlyphDrawer
}

const (
	keyHeight vg.Length = 14
	keySwatch vg.Length = 10
	keyGap    vg.Length = 16
)

// legend is a strip of keys above a figure, wrapped at its width.
type legend []key

// place returns where each key starts, and the strip's height.
func (l legend) place() ([]vg.Point, vg.Length) {
	style := lettering(9)
	at := make([]vg.Point, len(l))
	x, y := vg.Length(0), vg.Length(0)
	for i, k := range l {
		need := keySwatch + 4 + style.Width(k.name)
		if x > 0 && x+need > width {
			x, y = 0, y+keyHeight
		}
		at[i] = vg.Point{X: x, Y: y}
		x += need + keyGap
	}
	if len(l) == 0 {
		return at, 0
	}
	return at, y + keyHeight + 8
}

// draw fills the top of the canvas and returns what is left below.
func (l legend) draw(c draw.Canvas) draw.Canvas {
	places, height := l.place()
	style := lettering(9)
	style.YAlign = draw.YCenter
	for i, k := range l {
		middle := vg.Point{X: c.Min.X + places[i].X + keySwatch/2, Y: c.Max.Y - places[i].Y - keyHeight/2}
		k.swatch(&c, middle)
		c.FillText(style, vg.Point{X: middle.X + keySwatch/2 + 4, Y: middle.Y}, k.name)
	}
	return draw.Crop(c, 0, 0, 0, -height)
}

func (k key) swatch(c *draw.Canvas, middle vg.Point) {
	const half = keySwatch / 2
	if k.line != nil {
		c.StrokeLine2(*k.line, middle.X-half, middle.Y, middle.X+half, middle.Y)
	}
	if k.glyph != nil {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: k.fill, Radius: 3, Shape: k.glyph}, middle)
		return
	}
	if k.line != nil {
		return
	}
	c.FillPolygon(k.fill, []vg.Point{
		{X: middle.X - half, Y: middle.Y - half},
		{X: middle.X + half, Y: middle.Y - half},
		{X: middle.X + half, Y: middle.Y + half},
		{X: middle.X - half, Y: middle.Y + half},
	})
}
