package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Page shows how near the papers' values are, and the reports with a section for each: tables of one measure as bars, curves over
// the day, and the other tables as they are.
func Page(title string, reports []Report, source report.Source) (*report.Page, error) {
	page := &report.Page{Title: title, Lead: answer(reports), Source: source}
	for i := range reports {
		section, err := reports[i].section()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", reports[i].Name, err)
		}
		page.Sections = append(page.Sections, section)
	}
	return page, nil
}

// near is how far the paper's value may be from ours, as a part of ours, to agree.
const near = 0.1

// answer counts the papers' values that agree with ours, each once, however many tables
// have it. What is equal by construction, as the baseline over itself, does not count.
// Empty: no value stands beside ours.
func answer(reports []Report) string {
	type stated struct{ report, row, column string }
	agrees := map[stated]bool{}
	agreed := 0
	for _, r := range reports {
		for _, t := range r.Tables {
			for _, row := range t.Rows {
				for c, cell := range row.Cells {
					at := stated{r.Name, row.Label, t.Columns[c].Key}
					if _, known := agrees[at]; known || cell.Ours == nil || cell.Paper == nil || cell.Ours.Mean == *cell.Paper {
						continue
					}
					off := cell.mark().Off(cell.Ours.Mean)
					if agrees[at] = off <= max(near*math.Abs(cell.Ours.Mean), cell.Ours.Half()); agrees[at] {
						agreed++
					}
				}
			}
		}
	}
	if len(agrees) == 0 {
		return ""
	}
	return fmt.Sprintf("%s of the papers beside ours; within a tenth of ours, or within the 95 %% interval of our mean: %d.",
		protocol.Count(len(agrees), "value"), agreed)
}

// Drawn are the figures of the report.
func (r *Report) Drawn() ([]report.Figure, error) {
	s, err := r.section()
	return s.Figures, err
}

func (r *Report) section() (report.Section, error) {
	s := report.Section{Title: r.Name + ": " + r.Title, Text: strings.Join(append([]string{"Beside " + r.Paper + "." + r.setting()}, r.Notes...), "\n\n")}
	s.Figures = append(s.Figures, r.Figures...)
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.Measure == "" {
			grid := t.Grid()
			s.Tables = append(s.Tables, report.Table{Title: t.Title, Columns: grid[0], Rows: grid[1:]})
			continue
		}
		figure, err := t.bars(fmt.Sprintf("%s-%d", r.Name, i+1)).Figure()
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, figure)
	}
	for i, curves := range r.days() {
		curves.Name = fmt.Sprintf("%s-day-%d", r.Name, i+1)
		figure, err := curves.Figure()
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, figure)
	}
	return s, nil
}

// bars are a table's columns as series, its rows as groups.
func (t *Table) bars(name string) report.Bars {
	b := report.Bars{Words: report.Words{Name: name, Title: t.Title}, Of: [2]string{t.Stub, "series"}}
	panel := report.Panel{Title: t.Measure}
	hasPaper := false
	for c, column := range t.Columns {
		b.Series = append(b.Series, column.Title)
		values, marks := make([]report.Estimate, len(t.Rows)), make([]report.Mark, len(t.Rows))
		for i, row := range t.Rows {
			values[i], marks[i] = row.Cells[c].drawn()
			hasPaper = hasPaper || row.Cells[c].Paper != nil
		}
		panel.Values, panel.Marks = append(panel.Values, values), append(panel.Marks, marks)
	}
	if !hasPaper {
		panel.Marks = nil
	}
	for _, row := range t.Rows {
		b.Groups = append(b.Groups, row.Label)
	}
	b.Panels = []report.Panel{panel}
	return b
}

// drawn is the cell for a figure.
func (c Cell) drawn() (value report.Estimate, mark report.Mark) {
	if c.Ours != nil {
		value = report.Estimate{Mean: c.Ours.Mean, Half: c.Ours.Half(), N: len(c.Ours.Values)}
	}
	return value, c.mark()
}

// days are the series over the day, those of one unit together.
func (r *Report) days() []report.Curves {
	var all []report.Curves
	for _, s := range r.Series {
		if s.Minutes == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(c report.Curves) bool { return c.Y == s.Unit })
		if i < 0 {
			i = len(all)
			what, _, _ := strings.Cut(s.Label, ",")
			all = append(all, report.Curves{Words: report.Words{Title: r.Title + ": " + what}, X: "hour of the day", Y: s.Unit})
		}
		all[i].Curves = append(all[i].Curves, s.curve())
	}
	return all
}

func (s *Series) curve() report.Curve {
	curve := report.Curve{Name: s.Label}
	for i, value := range s.Values {
		curve.Points = append(curve.Points, report.Point{
			X: float64(i*s.Minutes) / 60, Y: report.Estimate{Mean: value, N: 1},
		})
	}
	return curve
}
