package reproduce

import (
	"context"
	"fmt"
	"strconv"

	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// shares is [MC] Figure 12.
func (o *Options) shares() Exhibit {
	percents := []int{10, 25, 50, 75, 100}
	sweep := []int{0, 500_000, protocol.PPM}
	at := func(w, grid int) trial {
		t := o.portal(builtin.MCMF, w)
		t.stays = protocol.PPM / 100 * (100 - grid)
		return t
	}
	e := Exhibit{
		Name: "fig12", Title: "some of the jobs through the grid, the others at their origin", Paper: "[MC] Figure 12",
		waits: o.Waits, trials: []trial{o.baseline()},
	}
	for _, w := range sweep {
		for _, grid := range percents {
			e.trials = append(e.trials, at(w, grid))
		}
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		for _, measure := range []struct {
			key, title string
			of         func(*outcome) float64
		}{{"response_rel", "Response over baseline, %", meanResponse}, {"cost_rel", "Cost over baseline, %", cost}} {
			t := Table{Title: measure.title, Stub: "grid jobs"}
			for _, w := range sweep {
				t.Columns = append(t.Columns, Column{fmt.Sprintf("%s_w%d", measure.key, w/10_000), "w = " + percent(w), "", 1})
			}
			for _, grid := range percents {
				row := Row{Label: fmt.Sprintf("%d %%", grid)}
				for _, w := range sweep {
					cell := Ours(s.against(at(w, grid), o.baseline(), relative(measure.of))...)
					if w == 500_000 && grid == 100 { // the text: −40.8 % at almost the same cost
						cell = cell.Beside(map[string]float64{"response_rel": 59.2, "cost_rel": 100}[measure.key])
					}
					row.Cells = append(row.Cells, cell)
				}
				t.Rows = append(t.Rows, row)
			}
			r.Tables = append(r.Tables, t)
		}
		return nil
	}
	return e
}

// maxQ is [MC] Figure 13, and what growing waits make of it.
func (o *Options) maxQ() Exhibit {
	at := func(x intake, plan bool) trial {
		t := o.portal(builtin.MCMF, usual)
		if plan {
			t = t.plan()
		}
		t.maxQ, t.marginal, t.cycle = x.maxQ, x.marginal, x.every
		return t
	}
	tables := []struct {
		title    string
		plan     bool
		settings []intake
	}{
		{"Cycles of a minute", false, bounds(cycle)},
		{"Cycles of a minute, planned waits", true, bounds(cycle)},
		{"Cycles of half an hour, planned waits: many jobs in each", true, bounds(30 * protocol.Minute)[1:]}, // MaxQ 1 takes less than comes
	}
	for i, t := range tables {
		if !t.plan {
			continue
		}
		for _, k := range []int{2, 4, 8} {
			tables[i].settings = append(tables[i].settings, intake{
				fmt.Sprintf("unbounded, marginal = %d", k), 0, k, t.settings[0].every,
			})
		}
	}
	e := Exhibit{
		Name: "fig13", Title: "MaxQ, the jobs that a site takes in a cycle; MCMF w = 25 %", Paper: "[MC] Figure 13",
		waits: o.Waits, trials: []trial{o.baseline()},
	}
	for _, t := range tables {
		for _, x := range t.settings {
			e.trials = append(e.trials, at(x, t.plan))
		}
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		r.Notes = append(r.Notes, "With marginal = k sites quote how much longer the 2nd to k-th job of a cycle would wait.")
		for _, x := range tables {
			t := Table{Title: x.title, Stub: "MaxQ", Columns: []Column{
				{"response_min", "response", "min", 1},
				{"wait_min", "wait", "min", 1},
				{"slowdown", "bounded slowdown", "", 2},
				{"cost_rel", "cost over baseline", "%", 2},
			}}
			for _, setting := range x.settings {
				one := at(setting, x.plan)
				t.Rows = append(t.Rows, Row{setting.label, []Cell{
					Ours(s.each(one, meanResponse)...), Ours(s.each(one, meanWait)...), Ours(s.each(one, slowdown)...),
					Ours(s.against(one, o.baseline(), relative(cost))...),
				}})
			}
			r.Tables = append(r.Tables, t)
		}
		return nil
	}
	return e
}

// intake is how many jobs sites take in a cycle.
type intake struct {
	label          string
	maxQ, marginal int
	every          protocol.Duration
}

// bounds are the values of [MC] Figure 13.
func bounds(every protocol.Duration) []intake {
	var all []intake
	for _, q := range []int{1, 2, 3, 5, 10} {
		all = append(all, intake{strconv.Itoa(q), q, 0, every})
	}
	return append(all, intake{"unbounded", 0, 0, every})
}

// transfer is [MC] Table VII, each size by itself.
func (o *Options) transfer() Exhibit {
	sizes := []struct {
		label string
		bytes int64
	}{
		{"0", 0}, {"100 GB", 100_000_000_000}, {"1 TB", 1_000_000_000_000}, {"10 TB", 10_000_000_000_000},
	}
	strategies := []named{
		{"MCMF w = 25 %", o.portal(builtin.MCMF, usual)},
		{"MCMF w = 20 %", o.portal(builtin.MCMF, 200_000)},
		{"TWOPRICE w = 25 %", o.portal(builtin.TwoPrice, usual)},
		{"INST w = 25 %", o.portal(builtin.Inst, usual)},
	}
	at := func(t trial, bytes int64) trial {
		t.data = bytes
		return averagePower(t)
	}
	base := averagePower(o.baseline())
	e := Exhibit{
		Name: "table7", Title: "data that travel with the jobs (equation 10)", Paper: "[MC] Table VII",
		waits: o.Waits, trials: []trial{base},
	}
	for _, size := range sizes {
		for _, c := range strategies {
			e.trials = append(e.trials, at(c.trial, size.bytes))
		}
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		r.Notes = append(r.Notes,
			"All jobs have data of one size; the paper draws each job's, so that its Table VII is not compared. Links are stand-ins.",
			"Nodes stand held from a job's start until its data are there, and draw what the job draws.")
		all := []contender{{label: "baseline", trial: base}}
		for _, size := range sizes {
			for _, one := range strategies {
				all = append(all, contender{label: size.label + ", " + one.label, trial: at(one.trial, size.bytes)})
			}
		}
		r.Tables = append(r.Tables, s.compare("", all))
		return nil
	}
	return e
}

// averagePower draws each job's power from −40 to +40 % of HPL's [MC 5.8].
func averagePower(t trial) trial {
	t.powerLow, t.powerTop = 600_000, 1_400_000
	return t
}

// power is [MC] Table VIII.
func (o *Options) power() Exhibit {
	const terabyte = 1_000_000_000_000
	models := []struct {
		label     string
		low, high int
		paper     [8]float64 // response and dollars of baseline, INST, TWOPRICE, MCMF
	}{
		{"lower than HPL", 600_000, protocol.PPM, [8]float64{638.99, 220766.14, 1171.25, 197803.79, 462.65, 230634.33, 467.82, 225568.33}},
		{"average", 600_000, 1_400_000, [8]float64{638.99, 225085.79, 1110.72, 199142.72, 458.82, 233869.51, 465.51, 228040.67}},
		{"higher than HPL", protocol.PPM, 1_400_000, [8]float64{638.99, 229355.91, 1153.75, 201035.58, 456.47, 236758.28, 466.05, 231575.37}},
	}
	strategies := []named{
		{"baseline", o.baseline()},
		{"INST", o.portal(builtin.Inst, usual)},
		{"TWOPRICE", o.portal(builtin.TwoPrice, usual)},
		{"MCMF", o.portal(builtin.MCMF, usual)},
	}
	at := func(t trial, low, high int) trial {
		t.data, t.powerLow, t.powerTop = terabyte, low, high
		return t
	}
	e := Exhibit{
		Name: "table8", Title: "models of the jobs' power, 1 TB of data for each job, w = 25 %", Paper: "[MC] Table VIII", waits: o.Waits,
	}
	for _, m := range models {
		for _, one := range strategies {
			e.trials = append(e.trials, at(one.trial, m.low, m.high))
		}
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		r.Notes = append(r.Notes, "Links are stand-ins. The paper's dollars stand beside the authors' way of counting.")
		for _, m := range models {
			rows := make([]contender, len(strategies))
			for i, one := range strategies {
				rows[i] = contender{one.label, at(one.trial, m.low, m.high), m.paper[2*i], m.paper[2*i+1]}
			}
			r.Tables = append(r.Tables, s.compare(m.label, rows))
		}
		return nil
	}
	return e
}
