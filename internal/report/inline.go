package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// The sizes of what is drawn in a line of text or a cell, in points.
const (
	sparkWidth  = 120
	sparkHeight = 22
	levelWidth  = 72
	levelHeight = 8
)

// Sparkline draws values from 0 to most, equally far apart, in a cell of a table. Where there is none (NaN), the line is
// interrupted. The label is for who cannot see it.
func Sparkline(values []float64, most float64, label string) template.HTML {
	var path strings.Builder
	pen := "M"
	for i, value := range values {
		if math.IsNaN(value) {
			pen = "M"
			continue
		}
		x := 1 + (sparkWidth-2)*float64(i)/float64(max(1, len(values)-1))
		y := sparkHeight - 1.5 - (sparkHeight-3)*min(1, max(0, value/most))
		path.WriteString(pen + places(x) + " " + places(y))
		if pen == "M" {
			path.WriteString("h.01") // a lone point is a dot
		}
		pen = "L"
	}
	return inline("spark", sparkWidth, sparkHeight, label, fmt.Sprintf(
		`<path class="grid" d="M0 %[2]d.5H%[1]d"/><path class="curve s0" d="%[3]s"/>`, sparkWidth, sparkHeight-1, path.String()))
}

// Level draws a part from 0 to 1 as a bar. The text beside it says the same.
func Level(part float64) template.HTML {
	filled := places(levelWidth * min(1, max(0, part)))
	return inline("level", levelWidth, levelHeight, "", fmt.Sprintf(
		`<path class="track" d="%s"/><path class="s0" d="M0 0H%sV%dH0Z"/>`, box(0, 0, levelWidth, levelHeight), filled, levelHeight))
}

// inline is a small drawing; without a label it only adorns.
func inline(class string, wide, high int, label, shapes string) template.HTML {
	says := `aria-hidden="true"`
	if label != "" {
		says = `role="img" aria-label="` + template.HTMLEscapeString(clean(label)) + `"`
	}
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers, and a label that is escaped
		`<svg class="%s" width="%d" height="%d" viewBox="0 0 %[2]d %[3]d" %[4]s>%[5]s</svg>`, class, wide, high, says, shapes))
}
