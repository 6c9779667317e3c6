package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/switchyard-hpc/switchyard/internal/console"
)

// Words say what a figure is; they are shown with it and read to who cannot see it.
type Words struct {
	Name    string // letters, digits, '-' and '_': the stem of its file and its anchor on a page
	Title   string
	Caption string // what is seen, and what is left out
}

func (w Words) valid() error {
	if w.Name == "" {
		return errors.New("a figure has no name")
	}
	for _, r := range w.Name {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return fmt.Errorf("figure name %q: %q is neither a letter, a digit, '-' nor '_'", w.Name, r)
		}
	}
	return nil
}

// Figure is drawn, with the numbers that it shows.
type Figure struct {
	Words
	Table Table

	attributes string // of the svg element
	body       string // its content, without title, description and style
}

// Table is a table of text. Cells that look like numbers are set to the right.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]string // each as long as Columns
	Numbers int        // so many of the last columns are numbers, for a terminal
}

// Console is the table for a terminal, without its title.
func (t Table) Console() *console.Table {
	shown := &console.Table{Rows: t.Rows}
	for i, title := range t.Columns {
		title = strings.ToUpper(title)
		if i >= len(t.Columns)-t.Numbers {
			title = " " + title
		}
		shown.Titles = append(shown.Titles, title)
	}
	return shown
}

// SVG is the figure as a file of its own. It follows the reader's light or dark mode.
func (f Figure) SVG() []byte {
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + f.element("<style>"+escape(figureStyle)+"</style>\n"))
}

// element is the svg element for a page that has [figureStyle].
func (f Figure) element(style string) string {
	title := escape(clean(f.Title))
	return `<svg role="img" aria-label="` + title + `" ` + f.attributes + ">\n" +
		"<title>" + title + "</title>\n<desc>" + escape(clean(f.Caption)) + "</desc>\n" + style + f.body
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
	return b.String()
}

// render draws on a canvas of the height given below the legend. The library panics
// where it meets what it cannot draw; that ends as an error.
func render(words Words, table Table, keys legend, height vg.Length, paint func(draw.Canvas)) (f Figure, err error) {
	if err = words.valid(); err != nil {
		return Figure{}, err
	}
	defer func() {
		if r := recover(); r != nil {
			f, err = Figure{}, fmt.Errorf("figure %s: gonum/plot cannot draw it: %v", words.Name, r)
		}
	}()
	const margin = 6
	_, strip := keys.place()
	canvas := vgsvg.New(width+2*margin, height+strip+2*margin)
	c := draw.New(canvas)
	c.SetColor(paper())
	c.Fill(c.Path())
	paint(keys.draw(draw.Crop(c, margin, -margin, margin, -margin)))
	var out bytes.Buffer
	if _, err = canvas.WriteTo(&out); err != nil {
		return Figure{}, fmt.Errorf("figure %s: %w", words.Name, err)
	}
	_, after, begun := strings.Cut(out.String(), "<svg ")
	attributes, body, opened := strings.Cut(after, ">\n")
	if !begun || !opened {
		return Figure{}, fmt.Errorf("figure %s: gonum/plot wrote no svg element", words.Name)
	}
	attributes = strings.Join(strings.Fields(attributes), " ")
	return Figure{Words: words, Table: table, attributes: attributes, body: body}, nil
}
