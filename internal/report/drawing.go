package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// drawing is a figure under way: shapes, and labels over them. Places are in points from
// the top left; how a class looks is in figure.css.
type drawing struct {
	Height int
	Shapes []shape
	Labels []label
}

type shape struct{ Class, Path string }

type label struct {
	Class string
	X, Y  string
	Turn  int // degrees clockwise
	Text  string
}

type point struct{ x, y float64 }

const (
	width  = 732 // points, of every figure; a page scales it to its column
	margin = 6
)

// series is the class of the colours of a series. People with any colour vision tell the
// colours apart, on white and on black (Okabe and Ito without yellow and black, and two
// more).
func series(i int) string { return "s" + strconv.Itoa(i%palette) }

// palette is how many colours there are.
const palette = 8

// line draws a line through points; curves and polygons differ by their class.
func (d *drawing) line(class string, points ...point) {
	d.Shapes = append(d.Shapes, shape{class, outline(points)})
}

// fill draws a polygon.
func (d *drawing) fill(class string, points ...point) {
	d.Shapes = append(d.Shapes, shape{class, outline(points) + "Z"})
}

// say puts words at a place.
func (d *drawing) say(class string, x, y float64, words string) {
	d.Labels = append(d.Labels, label{Class: class, X: places(x), Y: places(y), Text: words})
}

// turned puts words at a place, turned by an angle in degrees.
func (d *drawing) turned(class string, x, y float64, degrees int, words string) {
	d.say(class, x, y, words)
	d.Labels[len(d.Labels)-1].Turn = degrees
}

func outline(points []point) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(places(p.x) + " " + places(p.y))
	}
	return b.String()
}

// box is its path between two corners.
func box(left, top, right, bottom float64) string {
	return fmt.Sprintf("M%s %sH%sV%sH%sZ", places(left), places(top), places(right), places(bottom), places(left))
}

// places writes a hundredth of a point at most.
func places(x float64) string { return strconv.FormatFloat(math.Round(100*x)/100, 'f', -1, 64) }

// polygon has corners all around a place, the first of them turned from the top.
func polygon(at point, radius float64, corners int, turn float64) []point {
	all := make([]point, corners)
	for i := range all {
		sin, cos := math.Sincos(2 * math.Pi * (float64(i) + turn) / float64(corners))
		all[i] = point{at.x + radius*sin, at.y - radius*cos}
	}
	return all
}

// key is one entry of a legend.
type key struct {
	name   string
	swatch func(d *drawing, at point)
}

// square is the swatch of a colour.
func square(class string) func(*drawing, point) {
	return func(d *drawing, at point) {
		d.Shapes = append(d.Shapes, shape{class, box(at.x-5, at.y-5, at.x+5, at.y+5)})
	}
}

// legend draws keys in lines at the top and returns where the rest begins.
func (d *drawing) legend(keys []key) (top float64) {
	const line, swatch, gap = 14, 10, 16
	x, y := float64(margin), float64(margin)
	for _, k := range keys {
		need := swatch + 4 + wide(k.name, 9)
		if x > margin && x+need > width-margin {
			x, y = margin, y+line
		}
		k.swatch(d, point{x + swatch/2, y + line/2})
		d.say("name", x+swatch+4, y+line/2+3, k.name)
		x += need + gap
	}
	if len(keys) == 0 {
		return y
	}
	return y + line + 8
}

// wide is about how wide words are in letters of a size, rather more than less: the fonts
// that a reader has are not known.
func wide(words string, size float64) float64 {
	return 0.56 * size * float64(utf8.RuneCountInString(words))
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
