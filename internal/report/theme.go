package report

import (
	"image/color"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// width of every figure; a page scales it to its column.
const width vg.Length = 720

// The colours of everything that is not data. The style sheet finds them by value to
// turn them around in dark mode, so no series may use them.
func paper() color.Color { return color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff} }
func ink() color.Color   { return color.RGBA{R: 0x1b, G: 0x1f, B: 0x24, A: 0xff} }
func faint() color.Color { return color.RGBA{R: 0xd8, G: 0xde, B: 0xe4, A: 0xff} }
func other() color.Color { return color.RGBA{R: 0x8c, G: 0x8c, B: 0x8c, A: 0xff} }

// figureStyle is the style sheet of a figure. The fonts named have the widths with
// which the library laid the text out.
const figureStyle = `svg text{font-family:"Liberation Sans",Arimo,Arial,Helvetica,sans-serif!important}
@media screen and (prefers-color-scheme:dark){
svg [style*="fill:#FFFFFF"]{fill:#0d1117!important}
svg [style*="fill:#1B1F24"]{fill:#e6edf3!important}
svg [style*="stroke:#1B1F24"]{stroke:#e6edf3!important}
svg [style*="stroke:#D8DEE4"]{stroke:#30363d!important}
}`

// palette holds colours that people with any colour vision tell apart, on white and
// on black (Okabe and Ito without yellow and black, and two more).
func palette() []color.RGBA {
	return []color.RGBA{
		{R: 0x00, G: 0x72, B: 0xb2, A: 0xff},
		{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff},
		{R: 0x00, G: 0x9e, B: 0x73, A: 0xff},
		{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff},
		{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff},
		{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff},
		{R: 0x7a, G: 0x6f, B: 0xd0, A: 0xff},
		{R: 0x9a, G: 0x7b, B: 0x4f, A: 0xff},
	}
}

func colourOf(series int) color.RGBA {
	all := palette()
	return all[series%len(all)]
}

func lettering(size vg.Length) text.Style {
	return text.Style{
		Color:   ink(),
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

// dress gives a plot the look of all of them: a title above, light lines across at the
// ticks, no frame.
func dress(title string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text = title
	p.Title.Padding = 6
	p.Title.TextStyle = aligned(lettering(10), draw.XCenter, draw.YTop)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		label, tick := &axis.Label.TextStyle, &axis.Tick.Label
		*label = aligned(lettering(9), label.XAlign, label.YAlign)
		*tick = aligned(lettering(8), tick.XAlign, tick.YAlign)
		axis.Label.Padding = 3
		axis.Color = ink()
		axis.Tick.Color = ink()
		axis.Tick.Marker = roundTicks{}
		axis.Tick.Length = 3
	}
	p.Y.Width = 0
	p.Y.Tick.Length = 0
	p.Y.Padding = 0
	return p
}

func aligned(s text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
}

// across draws light lines at the ticks of the y axis.
func across() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color = nil
	g.Horizontal.Color = faint()
	g.Horizontal.Width = 0.5
	return g
}

// short is a name as a figure shows it; tables have it in full.
func short(name string) string { return cut(name, 24) }

func cut(name string, most int) string {
	name = clean(name)
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	return string([]rune(name)[:most-1]) + "…"
}

// clean keeps text in one line and free of what XML cannot carry.
func clean(s string) string {
	return strings.Map(printable, strings.Join(strings.Fields(s), " "))
}

// printable stands in for control characters, and for those that turn the direction of
// the text after them.
func printable(r rune) rune {
	if unicode.IsPrint(r) || unicode.IsSpace(r) {
		return r
	}
	return utf8.RuneError
}
