package console

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Table prints aligned columns: titles, then rows in the order in which they
// were added. Columns whose title begins with a space are aligned to the right.
type Table struct {
	Titles []string
	Rows   [][]string
}

// NewTable is a table without rows.
func NewTable(titles ...string) *Table { return &Table{Titles: titles} }

// Add adds a row: a cell for each title.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write prints [Table.Text].
func (t *Table) Write(w io.Writer, indent string, header bool) error {
	_, err := io.WriteString(w, t.Text(indent, header))
	return err
}

// Text is the table, each line after the indent, with or without its titles.
func (t *Table) Text(indent string, header bool) string {
	widths := t.widths(header)
	var out strings.Builder
	if header {
		t.line(&out, indent, widths, t.Titles)
	}
	for _, row := range t.Rows {
		t.line(&out, indent, widths, row)
	}
	return out.String()
}

func (t *Table) widths(header bool) []int {
	widths := make([]int, len(t.Titles))
	measure := func(cells []string) {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(strings.TrimSpace(cell)))
		}
	}
	if header {
		measure(t.Titles)
	}
	for _, row := range t.Rows {
		measure(row)
	}
	return widths
}

func (t *Table) line(out *strings.Builder, indent string, widths []int, cells []string) {
	var line strings.Builder
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if strings.HasPrefix(t.Titles[i], " ") {
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
