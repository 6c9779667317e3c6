package reproduce

import (
	"context"
	"math"

	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
)

// contender is a row of a comparison, with the paper's figures where it has any.
type contender struct {
	label    string
	trial    trial
	response float64 // minutes, of the paper
	dollars  float64 // of the paper; 0: not told
}

// compare puts contenders beside the first, which is the baseline.
func (s *study) compare(title string, all []contender) Table {
	base := all[0]
	t := Table{Title: title, Stub: "strategy", Columns: []Column{
		{"response_min", "response", "min", 1},
		{"response_rel", "over baseline", "%", 1},
		{"cost_rel", "cost over baseline", "%", 1},
		{"cost", "cost", "", 0},
		{"cost_authors", "authors' way", "", 0},
		{"wait_min", "wait", "min", 1},
		{"slowdown", "bounded slowdown", "", 2},
		{"moved_pct", "moved", "%", 1},
	}}
	for _, one := range all {
		told := one.dollars > 0
		t.Rows = append(t.Rows, Row{one.label, []Cell{
			Ours(s.each(one.trial, meanResponse)...).besideKnown(one.response, told),
			Ours(s.against(one.trial, base.trial, relative(meanResponse))...).besideKnown(100*ratio(one.response, base.response), told),
			Ours(s.against(one.trial, base.trial, relative(cost))...).besideKnown(100*ratio(one.dollars, base.dollars), told),
			Ours(s.each(one.trial, cost)...),
			Ours(s.each(one.trial, authorsCost)...).besideKnown(one.dollars, told),
			Ours(s.each(one.trial, meanWait)...),
			Ours(s.each(one.trial, slowdown)...),
			Ours(s.each(one.trial, moved)...),
		}})
	}
	return t
}

// The measures of an outcome.
func meanResponse(o *outcome) float64 { return o.metrics.MeanResponse / 60 }
func meanWait(o *outcome) float64     { return o.metrics.MeanWait / 60 }
func cost(o *outcome) float64         { return o.bill.Cost }
func authorsCost(o *outcome) float64  { return o.bill.Authors }
func energy(o *outcome) float64       { return o.bill.MWh }
func slowdown(o *outcome) float64     { return o.metrics.BoundedSlowdown }
func moved(o *outcome) float64        { return 100 * o.metrics.Transferred }
func messages(o *outcome) float64     { return o.metrics.MessagesPerJob }

// relative is a measure in percent of that of another outcome.
func relative(measure func(*outcome) float64) func(one, base *outcome) float64 {
	return func(one, base *outcome) float64 { return 100 * ratio(measure(one), measure(base)) }
}

// weights are those of the sweep of [MC] Figures 4 and 11, in parts per million.
func weights() []int {
	return []int{0, 100_000, 200_000, 250_000, 400_000, 500_000, 750_000, 1_000_000}
}

// overall is [MC] Table IV with the sweep of w.
func (o *Options) overall() Exhibit {
	table := []contender{
		{"baseline", o.baseline(), 633.7, 230985.6},
		{"MCMF w = 25 %", o.portal(builtin.MCMF, usual), 477.5, 224021.6},
		{"TWOPRICE w = 25 %", o.portal(builtin.TwoPrice, usual), 473.3, 232557.3},
		{"MCMF w = 0", o.portal(builtin.MCMF, 0), 1095.4, 187298.9},
		{"INST w = 25 %", o.portal(builtin.Inst, usual), 3460.8, 205876.5},
		{"MCMF w = 25 %, planned waits", o.portal(builtin.MCMF, usual).plan(), 0, 0},
		{"TWOPRICE w = 25 %, planned waits", o.portal(builtin.TwoPrice, usual).plan(), 0, 0},
		{"stable matching", o.portal(builtin.Stable, 0), 0, 0},
		{"turnaround cost (tc)", o.turnaround(), 0, 0},
		{"random", o.portal(builtin.Random, 0), 0, 0},
	}
	sweeps := []struct {
		title   string
		at      func(w int) trial
		weights []int
	}{
		{"Figures 4 and 11: MCMF over w", func(w int) trial { return o.portal(builtin.MCMF, w) }, weights()},
		{"MCMF over w with planned waits", func(w int) trial { return o.portal(builtin.MCMF, w).plan() }, weights()},
		{"TWOPRICE over w", func(w int) trial { return o.portal(builtin.TwoPrice, w) }, weights()},
		{"INST over w", func(w int) trial { return o.portal(builtin.Inst, w) }, []int{0, usual, 500_000, 1_000_000}},
	}
	var trials []trial
	for _, c := range table {
		trials = append(trials, c.trial)
	}
	for _, sweep := range sweeps {
		for _, w := range sweep.weights {
			trials = append(trials, sweep.at(w))
		}
	}
	return Exhibit{
		Name: "table4", Also: []string{"fig4", "fig11"}, Title: "overall results on XSEDE, and the sweep of w",
		Paper: "[MC] Table IV, Figures 4 and 11", trials: trials, waits: o.Waits,
		build: func(_ context.Context, s *study, r *Report) error {
			r.Tables = append(r.Tables, s.compare("", table), s.dollars(table))
			for _, sweep := range sweeps {
				rows := []contender{table[0]}
				for _, w := range sweep.weights {
					rows = append(rows, contender{label: "w = " + percent(w), trial: sweep.at(w)})
				}
				r.Tables = append(r.Tables, s.compare(sweep.title, rows))
			}
			r.Tables = append(r.Tables, s.equalResponse(o))
			return nil
		},
	}
}

// dollars shows where the paper's come from: what the same runs cost by exact overlap,
// as the authors count, and at the very most.
func (s *study) dollars(all []contender) Table {
	t := Table{Title: "Where the dollars come from", Stub: "strategy", Columns: []Column{
		{"cost", "exact overlap", "$", 0},
		{"cost_authors", "authors' way", "$", 0},
		{"most", "all CPUs at full power all the time", "$", 0},
		{"cost_per_job", "exact, a job", "$", 2},
		{"authors_per_job", "authors' way, a job", "$", 2},
		{"mwh", "energy", "MWh", 1},
	}}
	perJob := func(measure func(*outcome) float64) func(*outcome) float64 {
		return func(o *outcome) float64 { return ratio(measure(o), float64(o.metrics.Jobs)) }
	}
	for _, one := range all {
		told := one.dollars > 0
		t.Rows = append(t.Rows, Row{one.label, []Cell{
			Ours(s.each(one.trial, cost)...),
			Ours(s.each(one.trial, authorsCost)...).besideKnown(one.dollars, told),
			Ours(s.each(one.trial, (*outcome).most)...),
			Ours(s.each(one.trial, perJob(cost))...),
			Ours(s.each(one.trial, perJob(authorsCost))...).besideKnown(one.dollars/xsedeJobs, told),
			Ours(s.each(one.trial, energy)...),
		}})
	}
	return t
}

// equalResponse says what TWOPRICE costs over MCMF where MCMF, with another w, has the
// same mean response.
func (s *study) equalResponse(o *Options) Table {
	t := Table{Title: "TWOPRICE's cost over MCMF's at equal response", Stub: "TWOPRICE with", Columns: []Column{
		{"cost_rel", "cost over MCMF's", "%", 2},
	}}
	for _, w := range weights() {
		var values []float64
		for seed, two := range s.outcomes[o.portal(builtin.TwoPrice, w)] {
			var curve []point
			for _, v := range weights() {
				one := s.outcomes[o.portal(builtin.MCMF, v)][seed]
				curve = append(curve, point{meanResponse(one), cost(one)})
			}
			if at, ok := costAt(curve, meanResponse(two)); ok {
				values = append(values, 100*ratio(cost(two), at))
			}
		}
		if len(values) > 0 {
			t.Rows = append(t.Rows, Row{"w = " + percent(w), []Cell{Ours(values...)}})
		}
	}
	return t
}

// point is a mean response and a cost.
type point struct{ response, cost float64 }

// costAt is the least cost that a line through the points has at a response; ok is false
// if it does not reach it.
func costAt(line []point, response float64) (cost float64, ok bool) {
	cost = math.Inf(1)
	for i := range len(line) - 1 {
		a, b := line[i], line[i+1]
		if response < min(a.response, b.response) || response > max(a.response, b.response) {
			continue
		}
		part := ratio(response-a.response, b.response-a.response)
		cost, ok = min(cost, a.cost+part*(b.cost-a.cost)), true
	}
	return cost, ok
}
