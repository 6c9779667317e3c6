package tune

import (
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

// column is a measure in tables and figures.
type column struct {
	title string
	text  func(report.Average) string
	of    func(*Means) report.Average
}

// columns are the measures, the money in the experiment's currency; those that are 0
// everywhere are left out.
func (r *Result) columns() []column {
	plain := func(e report.Average) string { return e.Text(1) }
	part := func(e report.Average) string { return e.Text(percent) }
	all := []column{
		{in("users' cost", r.Currency), plain, func(m *Means) report.Average { return m.Cost }},
		{"mean response", report.Average.Clock, func(m *Means) report.Average { return m.Response }},
		{"utilization, %", part, func(m *Means) report.Average { return m.Utilization }},
		{"energy, kWh", plain, func(m *Means) report.Average { return m.Energy }},
		{"limits broken, %", part, func(m *Means) report.Average { return m.Broken }},
		{"left undone, %", part, func(m *Means) report.Average { return m.Undone }},
	}
	return slices.DeleteFunc(all, func(c column) bool {
		return !slices.ContainsFunc(append([]Tried{r.Baseline}, r.Points...), func(t Tried) bool { return c.of(&t.Means).Mean != 0 })
	})
}

// in is the title of an amount in a unit, if there is one.
func in(title, unit string) string {
	if unit == "" {
		return title
	}
	return title + ", " + unit
}

// The names of what has no values of axes.
const (
	asItStands = "as it stands"
	theBest    = "best"
)

// Summary are the tables that say the most.
func (r *Result) Summary() []report.Table {
	tables := []report.Table{r.pointsTable()}
	if r.Best != nil {
		tables = append(tables, r.sitesTable())
	}
	if len(r.Candidates) > 0 {
		tables = append(tables, r.candidatesTable())
	}
	if len(r.Demands) > 0 {
		tables = append(tables, r.demandTable())
	}
	return tables
}

func (r *Result) pointsTable() report.Table {
	t := report.Table{Title: "The points that were tried", Columns: []string{"point"}}
	for _, axis := range r.Axes {
		t.Columns = append(t.Columns, axis.Key)
	}
	t.Columns = append(t.Columns, "goal")
	for _, c := range r.columns() {
		t.Columns = append(t.Columns, c.title)
	}
	t.Numbers = len(t.Columns) - 1
	t.Rows = append(t.Rows, r.pointRow(asItStands, &r.Baseline))
	for i := range r.Points {
		name := strconv.Itoa(i + 1)
		if r.Best != nil && i == *r.Best {
			name = theBest
		}
		t.Rows = append(t.Rows, r.pointRow(name, &r.Points[i]))
	}
	return t
}

func (r *Result) pointRow(name string, t *Tried) []string {
	row := []string{name}
	for i := range r.Axes {
		if t.At == nil {
			row = append(row, "-")
			continue
		}
		row = append(row, value(t.At[i]))
	}
	row = append(row, fine(t.Goal))
	for _, c := range r.columns() {
		row = append(row, c.text(c.of(&t.Means)))
	}
	return row
}

// value is a value of an axis, as it is written in files.
func value(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// fine prints numbers about 1, of which the third place matters.
func fine(e report.Average) string {
	text := strconv.FormatFloat(e.Mean, 'f', 3, 64)
	if e.CI95 != nil {
		text += " ± " + strconv.FormatFloat(e.Half(), 'f', 3, 64)
	}
	return text
}

func (r *Result) sitesTable() report.Table {
	t := report.Table{Numbers: 5, Title: "Each site, as it stands and with the best point", Columns: []string{
		"site", "CPUs", "utilization, %", "with the best, %", in("income", r.Currency), in("with the best", r.Currency),
	}}
	best := r.best()
	for i := range r.Baseline.Sites {
		before, after := &r.Baseline.Sites[i], &best.Sites[i]
		t.Rows = append(t.Rows, []string{
			before.Site, strconv.Itoa(before.CPUs), before.Utilization.Text(percent), after.Utilization.Text(percent),
			before.Income.Text(1), after.Income.Text(1),
		})
	}
	return t
}

const percent = 100

func (r *Result) candidatesTable() report.Table {
	t := report.Table{Title: "What to buy next: the candidates by their worth, and what they change", Columns: []string{
		"candidate", "gain, %", in("price a year", r.Currency), "gain for 1000 a year, %", in("saved a year", r.Currency),
		"users' cost, %", "response, %", "utilization, %", "energy, %",
	}}
	t.Numbers = len(t.Columns) - 1
	for i := range r.Candidates {
		c := &r.Candidates[i]
		price, worth := "-", "-"
		if c.PerYear > 0 {
			price = strconv.FormatFloat(c.PerYear, 'f', 0, 64)
		}
		if c.GainPerPrice != nil {
			worth = strconv.FormatFloat(percent**c.GainPerPrice, 'g', 3, 64)
		}
		t.Rows = append(t.Rows, []string{
			c.Name, c.Gain.Text(percent), price, worth, c.Saved.Text(1),
			c.Cost.Text(percent), c.Response.Text(percent), c.Utilization.Text(percent), c.Energy.Text(percent),
		})
	}
	return t
}

func (r *Result) demandTable() report.Table {
	t := report.Table{Numbers: 4, Title: "What is overused: demand when waiting costs nothing (β = 0)", Columns: []string{
		"site", "CPUs", "demand", "utilization with β = 0, %", "with the best, %",
	}}
	for i := range r.Demands {
		d := &r.Demands[i]
		t.Rows = append(t.Rows, []string{
			d.Site, strconv.Itoa(d.CPUs), d.Ratio.Text(1), d.Utilization.Text(percent), d.Tuned.Text(percent),
		})
	}
	return t
}
