package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Claim is what a paper says, and what the printed tables of the exhibits make of it.
type Claim struct {
	Says  string // in the paper's words
	Paper string // its value as printed; empty: it has no number
	Ours  func(*Printed) []float64

	Unit   string
	Digits int
	Borne  Bounds // all of our values within: the claim is borne out
	InKind Bounds // all of them within, none beyond what changes nothing: it is borne out in kind
	Except int    // number of values that may be outside, as the paper itself says
	Why    string // what explains the difference, or bears it out
}

// Bounds are the least and the largest value. The zero value has none within.
type Bounds struct{ Low, High float64 }

// AtLeast has no upper bound.
func AtLeast(low float64) Bounds { return Bounds{low, math.Inf(1)} }

// AtMost has no lower bound.
func AtMost(high float64) Bounds { return Bounds{math.Inf(-1), high} }

// hold says whether all values but a number of them are within.
func (b Bounds) hold(values []float64, but int) bool {
	for _, v := range values {
		if v < b.Low || v > b.High {
			but--
		}
	}
	return b != Bounds{} && but >= 0
}

// Verdict says how far a claim is borne out.
type Verdict string

// The verdicts.
const (
	BorneOut    Verdict = "borne out"
	InKind      Verdict = "in kind"
	NotBorneOut Verdict = "not borne out"
	NotMade     Verdict = "not made" // one of its exhibits is not
)

// Verdicts lists the verdicts.
func Verdicts() []Verdict { return []Verdict{BorneOut, InKind, NotBorneOut, NotMade} }

// Judge computes our values of the claim and what follows from them. An error says which table, row or column
// there is not.
func (c *Claim) Judge(p *Printed) (ours string, verdict Verdict, err error) {
	p.err, p.absent = nil, false
	values := c.Ours(p)
	switch {
	case p.err != nil:
		return "", "", fmt.Errorf("%q: %w", c.Says, p.err)
	case p.absent:
		return "–", NotMade, nil
	case len(values) == 0:
		return "", "", fmt.Errorf("%q: there are no values", c.Says)
	case slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }):
		return "", "", fmt.Errorf("%q: a value is divided by a 0 of the tables", c.Says)
	}
	ours = number(slices.Min(values), c.Digits)
	if most := number(slices.Max(values), c.Digits); most != ours {
		ours += " to " + most
	}
	if c.Unit != "" {
		ours += " " + c.Unit
	}
	switch {
	case c.Borne.hold(values, c.Except):
		return ours, BorneOut, nil
	case c.InKind.hold(values, c.Except):
		return ours, InKind, nil
	}
	return ours, NotBorneOut, nil
}

// Printed is the tables of exhibits as they are printed in Markdown. Claims are computed from these, so that a
// reader can compute them too.
type Printed struct {
	exhibits map[string][]grid // nil: the exhibit is known but not made
	err      error             // of the claim that is being judged
	absent   bool
}

// grid is a table with its titles first.
type grid struct {
	title string
	lines [][]string
}

// Add reads an exhibit's text in Markdown. Without a text, claims on it are not made.
func (p *Printed) Add(name, text string) {
	if p.exhibits == nil {
		p.exhibits = map[string][]grid{}
	}
	var all []grid
	title, inside, preamble := "", false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			preamble = line != "" && preamble || strings.HasPrefix(line, "Beside ") // the setting and the notes
			if line != "" && !preamble && !strings.HasPrefix(line, "## ") {
				title = line
			}
			continue
		}
		if !inside {
			all, inside = append(all, grid{title: title}), true
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(cells[0], "---") {
			last := &all[len(all)-1]
			last.lines = append(last.lines, cells)
		}
	}
	p.exhibits[name] = all
}

// Table is a table of an exhibit: its first whose title has these words.
func (p *Printed) Table(exhibit, words string) *PrintedTable {
	t := &PrintedTable{of: p, name: fmt.Sprintf("%s, table %q", exhibit, words)}
	grids, known := p.exhibits[exhibit]
	if !known {
		p.fail("no exhibit is called %s", exhibit)
		return t
	}
	if grids == nil {
		p.absent = true
		return t
	}
	i := slices.IndexFunc(grids, func(g grid) bool { return strings.Contains(g.title, words) })
	if i < 0 {
		p.fail("%s: there is none", t.name)
		return t
	}
	t.lines = grids[i].lines
	return t
}

func (p *Printed) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// PrintedTable is one of the tables.
type PrintedTable struct {
	of    *Printed
	name  string
	lines [][]string
}

// Rows are the labels of the rows.
func (t *PrintedTable) Rows() []string {
	var labels []string
	for i := range t.lines {
		if i > 0 {
			labels = append(labels, t.lines[i][0])
		}
	}
	return labels
}

// At is the mean in a row and the first column of a title; 0, and an error of the claim, if there is none.
func (t *PrintedTable) At(row, column string) float64 {
	if t.lines == nil {
		return 0
	}
	c := slices.Index(t.lines[0], column)
	r := slices.IndexFunc(t.lines[1:], func(line []string) bool { return line[0] == row })
	if c < 0 || r < 0 {
		t.of.fail("%s: no row %q with a column %q", t.name, row, column)
		return 0
	}
	text, _, _ := strings.Cut(t.lines[1+r][c], " ")
	value, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		t.of.fail("%s: %q in row %q, column %q is no number", t.name, text, row, column)
	}
	return value
}

// Column is the means of a column, of some rows; of all without any.
func (t *PrintedTable) Column(column string, rows ...string) []float64 {
	if len(rows) == 0 {
		rows = t.Rows()
	}
	values := make([]float64, len(rows))
	for i, row := range rows {
		values[i] = t.At(row, column)
	}
	return values
}
