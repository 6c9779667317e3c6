package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"strings"

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

	drawn template.HTML // the svg element
	file  []byte        // the same with its style sheet
}

// Table is a table of text. Cells that look like numbers are set to the right.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]string // each as long as Columns
	Numbers int        // how many of the last columns are numbers, for a terminal
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

// HTML is the figure as a part of a page with the style sheet [Style].
func (f Figure) HTML() template.HTML { return f.drawn }

// SVG is the figure as a file of its own. It follows the reader's light or dark mode.
func (f Figure) SVG() []byte { return f.file }

// The template of figures, and their style sheet. The first font named is that of the
// paper's figures; all have about the same widths.
var (
	//go:embed figure.svg
	figureTemplate string
	//go:embed figure.css
	figureStyle string
)

// figure is the drawing with its words, on a page and as a file.
func (d *drawing) figure(words Words, table Table) (Figure, error) {
	if err := words.valid(); err != nil {
		return Figure{}, err
	}
	t, err := template.New("").Funcs(template.FuncMap{"width": func() int { return width }}).Parse(figureTemplate)
	if err != nil {
		return Figure{}, fmt.Errorf("the template of figures: %w", err)
	}
	shown := struct {
		*drawing

		Title, Caption string
		Style          template.CSS
	}{drawing: d, Title: clean(words.Title), Caption: clean(words.Caption)}
	var inline, file bytes.Buffer
	file.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	err = t.ExecuteTemplate(&inline, "figure", shown)
	shown.Style = template.CSS(figureStyle) //nolint:gosec // our own
	if err = errors.Join(err, t.ExecuteTemplate(&file, "figure", shown)); err != nil {
		return Figure{}, fmt.Errorf("figure %s: %w", words.Name, err)
	}
	return Figure{
		Words: words, Table: table,
		drawn: template.HTML(inline.String()), //nolint:gosec // the template escapes all text in it
		file:  file.Bytes(),
	}, nil
}
