package bluegene

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// What [BG] has not: its two ways to choose beside each other, a bound on waits, the real
// log, another machine.

// judgement are the columns that sum a schedule up.
func judgement() []measure {
	return []measure{
		{reproduce.Column{Key: "saving", Title: "saving", Unit: "%", Digits: 1}, func(r *result) float64 { return r.saving[ratio13] }},
		{reproduce.Column{Key: "saving_raw", Title: "raw", Unit: "%", Digits: 1}, func(r *result) float64 { return r.raw[ratio13] }},
		{reproduce.Column{Key: "held", Title: "utilization", Unit: "%", Digits: 1}, func(r *result) float64 { return r.held }},
		{reproduce.Column{Key: "wait", Title: "mean wait", Unit: "h", Digits: 2}, func(r *result) float64 { return r.wait / 3600 }},
		{reproduce.Column{Key: "longest", Title: "longest", Unit: "d", Digits: 1}, func(r *result) float64 { return r.longest / 86400 }},
		{reproduce.Column{Key: "slowdown", Title: "slowdown", Digits: 1}, func(r *result) float64 { return r.slowdown }},
		{reproduce.Column{Key: "inverse", Title: "inverse pairs"}, func(r *result) float64 { return r.inverse }},
	}
}

// way is a variant of the budgeted scheduling.
type way struct {
	label  string
	mode   engine.Mode
	window int
	bound  protocol.Duration
}

// compared is an exhibit of ways: the default, then each way within each budget, on the
// mean of the half year's months and in each.
func compared(ways []way, percents []int) (trials []trial, build func(*study, *reproduce.Report)) {
	months := halfYear.names()
	labels, rows := []string{"default"}, [][]trial{inMonths(trial{})}
	for _, percent := range percents {
		for _, w := range ways {
			labels = append(labels, fmt.Sprintf("PB-%d, %s", percent, w.label))
			rows = append(rows, inMonths(trial{percent: percent, mode: w.mode, window: w.window, bound: w.bound}))
		}
	}
	return slices.Concat(rows...), func(s *study, r *reproduce.Report) {
		r.Tables = append(r.Tables, s.table("Mean of the six months", rows, labels, judgement()))
		for index, name := range months {
			var ofMonth [][]trial
			for _, row := range rows {
				ofMonth = append(ofMonth, row[index:index+1])
			}
			t := s.table(name, ofMonth, labels, judgement())
			t.Detail = true
			r.Tables = append(r.Tables, t)
		}
	}
}

// inMonths is a trial in each month of the half year.
func inMonths(t trial) []trial {
	var all []trial
	for index := range halfYear.names() {
		t.source, t.index = halfYear, index
		all = append(all, t)
	}
	return all
}

// idlePower is the other reading of the baseline, with which [BG]'s order of the ranges is tried.
func idlePower() exhibit {
	bases := []struct {
		basis basis
		label string
	}{
		{jobsAlone, "jobs"},
		{idleBaseline, "jobs and idle nodes, of which jobs count"},
		{idleDrawn, "jobs and idle nodes, both count"},
	}
	percents := []int{50, 90}
	var trials []trial
	each := func(do func(percent int, label string, basis basis)) {
		for _, percent := range percents {
			for _, b := range bases {
				do(percent, b.label, b.basis)
			}
		}
	}
	rows := func(percent int, basis basis) (rows [][]trial) {
		for powers := range ranges {
			rows = append(rows, inMonths(trial{month: month{powers: powers}, percent: percent, basis: basis}))
		}
		return rows
	}
	each(func(percent int, _ string, basis basis) {
		trials = append(trials, slices.Concat(rows(percent, basis)...)...)
	})
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-idle", Title: "budgets of jobs and idle nodes, by ranges of power", Paper: "[BG 4.1] and Figure 6"}, trials: trials,
		notes: []string{
			"The text has greater savings for narrower ranges. An idle rack draws 13 kW, all of them 520 kW.",
			"Means of the six months. The system's cost is that of all jobs' energy in the month and of the nodes without a job.",
		},
		build: func(s *study, r *reproduce.Report) {
			var labels []string
			for powers := range ranges {
				labels = append(labels, rangeName(powers))
			}
			each(func(percent int, label string, basis basis) {
				t := s.table(fmt.Sprintf("PB-%d of %s", percent, label), rows(percent, basis), labels, systemMeasures())
				t.Stub = "range"
				r.Tables = append(r.Tables, t)
			})
		},
	}
}

// systemMeasures are the columns that ranges of power are compared by.
func systemMeasures() []measure {
	var all []measure
	for i, ratio := range ratios() {
		all = append(all, measure{
			reproduce.Column{Key: fmt.Sprintf("saving_%d", ratio), Title: fmt.Sprintf("saving, 1:%d", ratio), Unit: "%", Digits: 1},
			func(r *result) float64 { return r.saving[i] },
		})
	}
	return append(all,
		measure{reproduce.Column{Key: "saving_raw", Title: "raw, 1:3", Unit: "%", Digits: 1}, func(r *result) float64 { return r.raw[ratio13] }},
		measure{reproduce.Column{Key: "saving_system", Title: "system's cost, 1:3", Unit: "%", Digits: 1}, func(r *result) float64 { return r.system[ratio13] }},
		measure{reproduce.Column{Key: "held", Title: "utilization", Unit: "%", Digits: 1}, func(r *result) float64 { return r.held }},
		measure{reproduce.Column{Key: "wait", Title: "mean wait", Unit: "h", Digits: 1}, func(r *result) float64 { return r.wait / 3600 }},
	)
}

func modes() exhibit {
	trials, build := compared([]way{
		{"filter", engine.Filter, 0, 0}, {"window of 20", "", 20, 0}, {"window of 50", "", 50, 0}, {"window of 100", "", 0, 0}, {"window of 200", "", 200, 0},
	}, []int{50, 60, 70, 80, 90})
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-modes", Title: "steps 1 to 5 as printed (filter) and Figure 1 (window), 20 to 33 kW a rack, 1:3", Paper: "[BG 3.2] and [BG 3.4]"},
		trials:  trials, build: build,
	}
}

func bounds() exhibit {
	trials, build := compared([]way{
		{"window", "", 0, 0},
		{"window, a day", "", 0, protocol.Day},
		{"filter", engine.Filter, 0, 0},
		{"filter, a day", engine.Filter, 0, protocol.Day},
	}, []int{50, 90})
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-bound", Title: "a bound of 24 h on waits, 20 to 33 kW a rack, 1:3", Paper: "[BG 4.4], whose delays are \"limited to a day\""},
		trials:  trials, build: build,
	}
}

func ownLog() exhibit {
	e := another(realLog, "bg-real", "the real log of Intrepid, 10,000 jobs of January and February 2009", nil)
	whole := budgeted(e.trials[:len(budgets())]) // within budgets from January to February
	filtered := slices.Clone(whole)
	for i := range filtered {
		filtered[i].mode = engine.Filter
	}
	e.trials = append(e.trials, filtered...)
	before := e.build
	e.build = func(s *study, r *reproduce.Report) {
		before(s, r)
		for _, one := range []struct {
			mode   engine.Mode
			trials []trial
		}{{engine.Window, whole}, {engine.Filter, filtered}} {
			title := fmt.Sprintf("Local readings of inverse pairs, %s, %s", realLog.names()[0], one.mode)
			r.Tables = append(r.Tables, s.table(title, singly(one.trials), labels(one.trials), readings()))
		}
	}
	return e
}

func otherMachine() exhibit {
	return another(blueLog, "bg-blue", "SDSC-BLUE, March to August 2002, 144 nodes of 8 CPUs", []string{
		"Powers are assumed: a node draws 1 kW at the top of the range and 0.39 kW idle, as a rack of Blue Gene/P 33 and 13.",
	})
}

// another is an exhibit of other periods.
func another(from source, name, title string, notes []string) exhibit {
	trials := tried(from, 0)
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: name, Title: title + ", 20 to 33 kW a rack, 1:3", Paper: "[BG] Figures 2 to 4"}, notes: notes, trials: trials,
		build: func(s *study, r *reproduce.Report) {
			n := len(budgets())
			for index, name := range from.names() {
				ofPeriod := trials[n*index : n*(index+1)]
				r.Tables = append(r.Tables, s.table(name, singly(ofPeriod), labels(ofPeriod), judgement()))
			}
			for i, ratio := range ratios() {
				r.Tables = append(r.Tables, s.byMonth(fmt.Sprintf("Saving at 1:%d", ratio), budgeted(trials),
					reproduce.Column{Key: fmt.Sprintf("saving_%d", ratio), Unit: "%", Digits: 1}, func(r *result) float64 { return r.saving[i] }))
			}
		},
	}
}
