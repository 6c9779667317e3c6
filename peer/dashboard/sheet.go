package dashboard

import (
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/report"
)

// sheet is a table for terminals on a page.
type sheet struct {
	Caption string
	Columns []column
	Rows    [][]cell
}

type column struct {
	Title  string
	Number bool
}

type cell struct {
	Text   string
	Number bool
	Head   bool // the cell names its row
	Chosen bool // the cell is in the row that was chosen
}

// chosen marks the row of what was chosen.
const chosen = "→"

// sheetOf is a table for terminals, whose titles are in capitals, and begin with a space where its numbers are to the right. What
// names a row is in its first column, or the second one if the first marks the row that was chosen.
func sheetOf(caption string, t *console.Table) *sheet {
	s := &sheet{Caption: caption}
	head := 0
	if len(t.Titles) > 1 && t.Titles[0] == "" {
		head = 1
	}
	for i, title := range t.Titles {
		words := titleOf(strings.TrimSpace(title))
		if i < head {
			words = "Chosen"
		}
		s.Columns = append(s.Columns, column{words, strings.HasPrefix(title, " ")})
	}
	for _, row := range t.Rows {
		cells := make([]cell, len(row))
		for i, text := range row {
			cells[i] = cell{Text: text, Number: s.Columns[i].Number, Head: i == head, Chosen: head == 1 && row[0] == chosen}
		}
		if head == 1 && cells[0].Chosen {
			cells[0].Text = "yes"
		}
		s.Rows = append(s.Rows, cells)
	}
	return s
}

// titleOf is a title that is in capitals as other words are.
func titleOf(title string) string {
	words := strings.Fields(title)
	for i, word := range words {
		switch {
		case slices.Contains([]string{"RUS", "P10", "P50", "P90", "CPU"}, word):
		case word == "CPUS":
			words[i] = "CPUs"
		case i == 0:
			words[i] = word[:1] + strings.ToLower(word[1:])
		default:
			words[i] = strings.ToLower(word)
		}
	}
	return strings.Join(words, " ")
}

// sheetOfReport is a table of a figure, of which all columns but the first are numbers.
func sheetOfReport(caption string, t report.Table) *sheet {
	s := &sheet{Caption: caption}
	for i, title := range t.Columns {
		s.Columns = append(s.Columns, column{strings.ToUpper(title[:1]) + title[1:], i > 0})
	}
	for _, row := range t.Rows {
		cells := make([]cell, len(row))
		for i, text := range row {
			cells[i] = cell{Text: text, Number: i > 0, Head: i == 0}
		}
		s.Rows = append(s.Rows, cells)
	}
	return s
}
