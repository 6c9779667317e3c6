package bluegene

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// exhibit is a figure that can be made again.
type exhibit struct {
	reproduce.Exhibit

	notes   []string
	trials  []trial
	build   func(s *study, r *reproduce.Report)
	example func(r *reproduce.Report) error // in place of build, if there are no trials
}

func catalogue() *reproduce.Catalogue[exhibit] {
	return &reproduce.Catalogue[exhibit]{All: "bg", Exhibits: []exhibit{
		figureOne(), savings(), utilization(), fairness(), days(), sensitivity(), wideUtilization(),
		idlePower(), modes(), bounds(), ownLog(), otherMachine(),
	}}
}

// budgets are the percentages of [BG] Table 1; 0 is the default scheduling.
func budgets() []int { return []int{0, 50, 60, 70, 80, 90} }

// tried are the trials of a source's periods with all budgets.
func tried(from source, powers int) (trials []trial) {
	for index := range from.names() {
		for _, percent := range budgets() {
			trials = append(trials, trial{month: month{from, index, powers}, percent: percent})
		}
	}
	return trials
}

// byMonth is a table with a row for each period of a source and a column for each budget.
func (s *study) byMonth(title string, like []trial, c reproduce.Column, value func(*result) float64) reproduce.Table {
	t := reproduce.Table{Title: title, Stub: "month", Measure: cmp.Or(c.Unit, "number")}
	for _, one := range like {
		name := one.source.names()[one.index]
		if n := len(t.Rows); n == 0 || t.Rows[n-1].Label != name {
			t.Rows = append(t.Rows, reproduce.Row{Label: name})
		}
		row := &t.Rows[len(t.Rows)-1]
		row.Cells = append(row.Cells, s.each(value, one))
		if len(t.Rows) == 1 {
			column := c
			column.Key, column.Title = c.Key+"_default", "default"
			if one.percent > 0 {
				column.Key, column.Title = fmt.Sprintf("%s_%d", c.Key, one.percent), fmt.Sprintf("PB-%d", one.percent)
			}
			t.Columns = append(t.Columns, column)
		}
	}
	return t
}

// budgeted leaves the default out.
func budgeted(trials []trial) []trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t trial) bool { return t.percent == 0 })
}

// tell puts what the paper's text says of a cell beside ours.
func tell(t *reproduce.Table, row, column string, paper float64) {
	for r := range t.Rows {
		for c := range t.Columns {
			if t.Rows[r].Label == row && t.Columns[c].Title == column {
				t.Rows[r].Cells[c] = t.Rows[r].Cells[c].Beside(paper)
			}
		}
	}
}

// ranges is how many ranges of power there are, see [workload.PowerRanges].
const ranges = 3

// ratio13 is the index of 1:3, the ratio of all figures but two.
const ratio13 = 0

func savings() exhibit {
	trials := tried(halfYear, 0)
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-fig2", Title: "energy cost saving, 20 to 33 kW a rack, 1:3", Paper: "[BG] Figure 2"}, trials: trials,
		notes: []string{"The text has 23 % in August and more than 15 % elsewhere at 50 %, more than 5 % in most months at 90 %."},
		build: func(s *study, r *reproduce.Report) {
			column := reproduce.Column{Key: "saving", Unit: "%", Digits: 1}
			same := s.byMonth("The same jobs: those that end within the month in both schedules", budgeted(trials), column,
				func(r *result) float64 { return r.saving[ratio13] })
			tell(&same, "August", "PB-50", 23)
			raw := s.byMonth("All that is drawn within the month, as the paper has it: work that is left over counts as saved",
				budgeted(trials), column, func(r *result) float64 { return r.raw[ratio13] })
			whole := s.byMonth("All jobs, until the last of them ends", budgeted(trials), column, func(r *result) float64 { return r.whole[ratio13] })
			share := s.byMonth("Jobs that end within the month in both", budgeted(trials), reproduce.Column{Key: "same", Unit: "%", Digits: 1},
				func(r *result) float64 { return r.same })
			whole.Detail = true
			r.Tables = []reproduce.Table{same, raw, share, whole}
		},
	}
}

func utilization() exhibit {
	trials := tried(halfYear, 0)
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-fig3", Title: "utilization, 20 to 33 kW a rack", Paper: "[BG] Figure 3"}, trials: trials,
		notes: []string{
			"The default's loads are those of the model: what the text says of the figure. What a budget takes of them is simulated.",
		},
		build: func(s *study, r *reproduce.Report) {
			column := reproduce.Column{Key: "held", Unit: "%", Digits: 1}
			held := s.byMonth("Nodes of the partitions that jobs held", trials, column, func(r *result) float64 { return r.held })
			tell(&held, "June", "default", 75)
			tell(&held, "June", "PB-50", 62)
			tell(&held, "July", "default", 55)
			used := s.byMonth("Nodes that they had asked for", trials, column, func(r *result) float64 { return r.used })
			wait := s.byMonth("Mean wait", trials, reproduce.Column{Key: "wait", Unit: "h", Digits: 2}, func(r *result) float64 { return r.wait / 3600 })
			longest := s.byMonth("Longest wait", trials, reproduce.Column{Key: "longest", Unit: "d", Digits: 1},
				func(r *result) float64 { return r.longest / 86400 })
			slow := s.byMonth("Mean bounded slowdown", trials, reproduce.Column{Key: "slowdown", Digits: 1}, func(r *result) float64 { return r.slowdown })
			used.Detail, slow.Detail = true, true
			r.Tables = []reproduce.Table{held, wait, longest, used, slow}
		},
	}
}

func fairness() exhibit {
	window := budgeted(tried(halfYear, 0))
	type cut struct {
		percent int
		mode    engine.Mode
	}
	cuts := []cut{{50, ""}, {60, ""}, {50, engine.Filter}, {60, engine.Filter}}
	trials := slices.Clone(window)
	for _, c := range cuts {
		trials = append(trials, inMonths(trial{percent: c.percent, mode: c.mode})...)
	}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-fig4", Title: "fairness: inverse pairs, 20 to 33 kW a rack", Paper: "[BG] Figure 4"}, trials: trials,
		notes: []string{
			"The text has nearly 7,000 in March and up to 8,000 at 50 %, and half of it at 60 %.",
			"In one pass: one pass within the budget had the choice between both jobs, started the later one of the default's order and left the earlier one.",
			"Neighbors are at most 5 places apart in the default's order. The last column counts jobs.",
		},
		build: func(s *study, r *reproduce.Report) {
			pairs := s.byMonth("Inverse pairs", window, reproduce.Column{Key: "inverse"}, func(r *result) float64 { return r.inverse })
			tell(&pairs, "March", "PB-50", 7000)
			share := s.byMonth("Of all pairs of jobs", window, reproduce.Column{Key: "inverse_pct", Unit: "%", Digits: 2},
				func(r *result) float64 { return percent(r.inverse, r.pairs) })
			r.Tables = []reproduce.Table{pairs, share}
			for _, c := range cuts {
				months := inMonths(trial{percent: c.percent, mode: c.mode})
				t := s.table(fmt.Sprintf("Local readings, PB-%d, %s", c.percent, cmp.Or(c.mode, engine.Window)), singly(months), halfYear.names(), readings())
				t.Stub = "month"
				r.Tables = append(r.Tables, t)
			}
		},
	}
}

// readings are the columns of the ways to count inverse pairs.
func readings() []measure {
	return []measure{
		{reproduce.Column{Key: "inverse", Title: "all pairs"}, func(r *result) float64 { return r.inverse }},
		{reproduce.Column{Key: "one_pass", Title: "in one pass"}, func(r *result) float64 { return float64(r.local.OnePass) }},
		{reproduce.Column{Key: "neighbors", Title: "neighbors"}, func(r *result) float64 { return float64(r.local.Neighbors) }},
		{reproduce.Column{Key: "near", Title: "starts 5 min apart"}, func(r *result) float64 { return float64(r.local.Near) }},
		{reproduce.Column{Key: "adjacent", Title: "adjacent"}, func(r *result) float64 { return float64(r.local.Adjacent) }},
		{reproduce.Column{Key: "moved", Title: "jobs moved"}, func(r *result) float64 { return float64(r.local.Moved) }},
	}
}

func days() exhibit {
	march := month{halfYear, 0, 0}
	trials := []trial{{month: march}, {month: march, percent: 50}}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-fig5", Title: "power and utilization by the time of the day, March, budget of 50 %", Paper: "[BG] Figure 5"}, trials: trials,
		notes: []string{
			"The text has the default at 80 to 70 % by day, the budget's at 40 to 50 %, and more than the default by night.",
			"The curves are in JSON; --html and --out draw them.",
		},
		build: func(s *study, r *reproduce.Report) {
			draw := func(r *result, b sim.Bin) float64 { return kilowatts(b.Draw) }
			busy := func(r *result, b sim.Bin) float64 { return percent(b.CPUs, r.cpus) }
			r.Tables = []reproduce.Table{s.table("", singly(trials), labels(trials), []measure{
				{reproduce.Column{Key: "power_on", Title: "power on-peak", Unit: "kW"}, func(r *result) float64 { return r.peak(true, draw) }},
				{reproduce.Column{Key: "power_off", Title: "off-peak", Unit: "kW"}, func(r *result) float64 { return r.peak(false, draw) }},
				{reproduce.Column{Key: "held_on", Title: "utilization on-peak", Unit: "%", Digits: 1}, func(r *result) float64 { return r.peak(true, busy) }},
				{reproduce.Column{Key: "held_off", Title: "off-peak", Unit: "%", Digits: 1}, func(r *result) float64 { return r.peak(false, busy) }},
			})}
			r.Series = slices.Concat(s.curves(trials, "power", "kW", draw), s.curves(trials, "utilization", "%", busy))
		},
	}
}

// curves are the means over seeds of what trials do by the time of the day.
func (s *study) curves(trials []trial, what, unit string, value func(*result, sim.Bin) float64) []reproduce.Series {
	var all []reproduce.Series
	for i, label := range labels(trials) {
		results := s.results[trials[i]]
		values := make([]float64, len(results[0].day))
		for _, r := range results {
			for k, bin := range r.day {
				values[k] += value(r, bin) / float64(len(results))
			}
		}
		all = append(all, reproduce.Series{Label: what + ", " + label, Unit: unit, Minutes: int(dayBin / protocol.Minute), Values: values})
	}
	return all
}

// measure is what a column tells of a schedule.
type measure struct {
	reproduce.Column

	of func(*result) float64
}

// table has a row for each label: of a trial, or of the means of several.
func (s *study) table(title string, rows [][]trial, labels []string, measures []measure) reproduce.Table {
	t := reproduce.Table{Title: title, Stub: "scheduling"}
	for _, m := range measures {
		t.Columns = append(t.Columns, m.Column)
	}
	for i, trials := range rows {
		row := reproduce.Row{Label: labels[i]}
		for _, m := range measures {
			row.Cells = append(row.Cells, s.each(m.of, trials...))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// singly are rows of one trial each.
func singly(trials []trial) [][]trial {
	rows := make([][]trial, len(trials))
	for i := range trials {
		rows[i] = trials[i : i+1]
	}
	return rows
}

// labels say how trials differ in their budgets.
func labels(trials []trial) []string {
	names := make([]string, len(trials))
	for i, t := range trials {
		names[i] = "default"
		if t.percent > 0 {
			names[i] = fmt.Sprintf("PB-%d", t.percent)
		}
	}
	return names
}

func sensitivity() exhibit {
	var trials []trial
	for powers := range ranges {
		trials = append(trials, budgeted(tried(halfYear, powers))...)
	}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-fig6", Title: "energy cost saving by ranges of power and price ratios", Paper: "[BG] Figure 6"}, trials: trials,
		notes: []string{
			"The text has more than 10 % at 50 % everywhere, up to more than 25 %, more for higher ratios and, mostly, narrower ranges.",
		},
		build: func(s *study, r *reproduce.Report) {
			half := reproduce.Table{Title: halfPower + ": saving", Stub: "month", Measure: "saving, %"}
			var columns []trial
			var values []func(*result) float64
			for powers := range ranges {
				for i, ratio := range ratios() {
					value := func(r *result) float64 { return r.saving[i] }
					column := reproduce.Column{Key: fmt.Sprintf("saving_%d_%d", powers, ratio), Unit: "%", Digits: 1}
					t := s.byMonth(rangeColumn(powers, ratio), budgeted(tried(halfYear, powers)), column, value)
					t.Detail = true
					r.Tables = append(r.Tables, t)
					column.Title = rangeColumn(powers, ratio)
					half.Columns = append(half.Columns, column)
					columns, values = append(columns, trial{month: month{powers: powers}, percent: 50}), append(values, value)
				}
			}
			half.Rows = s.monthly(columns, values)
			r.Tables = slices.Insert(r.Tables, 0, half)
		},
	}
}

func wideUtilization() exhibit {
	var trials []trial
	for powers := range ranges {
		trials = append(trials, tried(halfYear, powers)...)
	}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-fig7", Title: "utilization by ranges of power", Paper: "[BG] Figure 7"}, trials: trials,
		notes: []string{"The text has a drop of about 15 points in June as the largest, and less of it in some months with wider ranges."},
		build: func(s *study, r *reproduce.Report) {
			held := func(r *result) float64 { return r.held }
			half := reproduce.Table{Title: halfPower + ": utilization", Stub: "month", Measure: "utilization, %"}
			half.Columns = append(half.Columns, reproduce.Column{Key: "held_default", Title: "default", Unit: "%", Digits: 1})
			columns, values := []trial{{}}, []func(*result) float64{held}
			for powers := range ranges {
				column := reproduce.Column{Key: fmt.Sprintf("held_%d", powers), Unit: "%", Digits: 1}
				t := s.byMonth(rangeName(powers)+" a rack", tried(halfYear, powers), column, held)
				t.Detail = true
				r.Tables = append(r.Tables, t)
				column.Title = rangeName(powers)
				half.Columns = append(half.Columns, column)
				columns, values = append(columns, trial{month: month{powers: powers}, percent: 50}), append(values, held)
			}
			half.Rows = s.monthly(columns, values)
			r.Tables = slices.Insert(r.Tables, 0, half)
		},
	}
}

// halfPower begins the titles of tables at half the power.
const halfPower = "Half the power"

// monthly has a row for each month of the half year, of columns with a trial and a value of it.
func (s *study) monthly(columns []trial, values []func(*result) float64) []reproduce.Row {
	var rows []reproduce.Row
	for index, name := range halfYear.names() {
		row := reproduce.Row{Label: name}
		for c, t := range columns {
			t.source, t.index = halfYear, index
			row.Cells = append(row.Cells, s.each(values[c], t))
		}
		rows = append(rows, row)
	}
	return rows
}

// rangeColumn is how savings with a range of powers and a ratio of prices are called.
func rangeColumn(powers, ratio int) string {
	return fmt.Sprintf("%s, 1:%d", rangeName(powers), ratio)
}

// rangeName is how a range of powers is called.
func rangeName(index int) string {
	p := workload.PowerRanges()[index]
	return fmt.Sprintf("%d to %d kW", p.Low/1000, p.High/1000)
}
