package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

// table prints aligned columns: titles, then rows in the order in which they
// were added. Columns whose title begins with a space are aligned to the right.
type table struct {
	titles []string
	rows   [][]string
}

func newTable(titles ...string) *table { return &table{titles: titles} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the table, each line after the indent.
func (t *table) write(w io.Writer, indent string, header bool) error {
	widths := t.widths(header)
	var out strings.Builder
	if header {
		t.line(&out, indent, widths, t.titles)
	}
	for _, row := range t.rows {
		t.line(&out, indent, widths, row)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (t *table) widths(header bool) []int {
	widths := make([]int, len(t.titles))
	measure := func(cells []string) {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(strings.TrimSpace(cell)))
		}
	}
	if header {
		measure(t.titles)
	}
	for _, row := range t.rows {
		measure(row)
	}
	return widths
}

func (t *table) line(out *strings.Builder, indent string, widths []int, cells []string) {
	var line strings.Builder
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if strings.HasPrefix(t.titles[i], " ") {
			cell = gap + cell
		} else {
			cell += gap
		}
		if i > 0 {
			line.WriteString("  ")
		}
		line.WriteString(cell)
	}
	out.WriteString(strings.TrimRight(indent+line.String(), " "))
	out.WriteByte('\n')
}
