package reproduce

import (
	"math"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

// Report is a table or figure of a paper made again.
type Report struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Paper  string   `json:"paper"`            // what it stands beside
	Seeds  []uint64 `json:"seeds,omitempty"`  // of the workloads; none: nothing is drawn
	Waits  string   `json:"waits,omitempty"`  // where quoted waits come from, unless a row says otherwise
	Prices string   `json:"prices,omitempty"` // what is known of them ahead
	Notes  []string `json:"notes,omitempty"`  // that a reader must know
	Tables []Table  `json:"tables"`
	Series []Series `json:"series,omitempty"`

	Figures []report.Figure `json:"-"` // drawn, beside those of the tables and series
}

// Table is rows of estimates.
type Table struct {
	Title   string   `json:"title"`
	Stub    string   `json:"stub"`             // what the rows' labels are
	Beside  string   `json:"beside,omitempty"` // whose the values beside ours are; empty: the paper's
	Measure string   `json:"-"`                // what every column tells, so that a page draws them as bars; empty: they differ
	Detail  bool     `json:"-"`                // not printed: for --json and --html
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Column says what its cells are.
type Column struct {
	Key    string `json:"key"`
	Title  string `json:"title"`
	Unit   string `json:"unit,omitempty"`
	Digits int    `json:"-"` // after the decimal point, for people
}

// Row has a cell for each column.
type Row struct {
	Label string `json:"label"`
	Cells []Cell `json:"cells"`
}

// Cell is our value and the paper's; either may be missing.
type Cell struct {
	Ours  *report.Average `json:"ours,omitempty"`
	Paper *float64        `json:"paper,omitempty"`
	Bound report.Bound    `json:"-"` // how the paper's value is meant; [report.Unstated] is the value itself
}

// Series is a value for each hour, or for each interval of the day.
type Series struct {
	Label   string    `json:"label"`
	Unit    string    `json:"unit"`
	Minutes int       `json:"minutes,omitempty"` // from one value of a day to the next; 0: they are of hours
	Values  []float64 `json:"values"`            // the first is of midnight, or of the hour of the first measured submission
}

// Ours is a cell without a value of the paper.
func Ours(values ...float64) Cell {
	average := report.AverageOf(values)
	return Cell{Ours: &average}
}

// Beside puts the paper's value beside ours.
func (c Cell) Beside(paper float64) Cell {
	c.Paper = &paper
	return c
}

// Marked puts a value or bound of the paper beside ours.
func (c Cell) Marked(m report.Mark) Cell {
	c.Bound = m.Bound
	return c.Beside(m.Value)
}

// mark is the paper's value for a figure.
func (c Cell) mark() (m report.Mark) {
	switch {
	case c.Paper == nil:
	case c.Bound == report.Unstated:
		m = report.Mark{Bound: report.About, Value: *c.Paper}
	default:
		m = report.Mark{Bound: c.Bound, Value: *c.Paper}
	}
	return m
}

// besideKnown is Beside for a value that may not be known.
func (c Cell) besideKnown(paper float64, known bool) Cell {
	if !known {
		return c
	}
	return c.Beside(paper)
}

// geometric is the estimate of ratios: their geometric mean, and the interval of the
// logarithms carried over ([MC 5.6] averages so).
func geometric(values []float64) Cell {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	c := Ours(logs...)
	c.Ours.Values = values
	c.Ours.Mean = math.Exp(c.Ours.Mean)
	if c.Ours.CI95 != nil {
		half := c.Ours.Mean * *c.Ours.CI95
		c.Ours.CI95 = &half
	}
	return c
}

// ratio is a/b, 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
