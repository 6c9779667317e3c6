package reproduce

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched/foresight"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// authors is the grid with the workload that the authors published, beside a prototype
// with planned waits and exact costs.
func (o *Options) authors() Exhibit {
	on := func(t trial) trial {
		t.scene = sample
		return t
	}
	base := on(o.baseline())
	rows := []contender{
		{"baseline", base, 624, 9829},
		{"MCMF w = 25 %, planned waits", on(o.portal(builtin.MCMF, usual).plan()), 353, 3854},
		{"MCMF w = 0, planned waits", on(o.portal(builtin.MCMF, 0).plan()), 485, 3592},
		{"INST w = 25 %", on(o.portal(builtin.Inst, usual).plan()), 796, 3675},
		{"TWOPRICE w = 25 %, planned waits", on(o.portal(builtin.TwoPrice, usual).plan()), 0, 0},
		{"MCMF w = 25 %, adaptive waits", on(o.portal(builtin.MCMF, usual)), 0, 0},
	}
	e := Exhibit{
		Name: "sample", Title: "the authors' sample of 4,100 jobs, all of them through the grid",
		Paper: "a prototype's figures (issue 5)", waits: foresight.Plan,
	}
	for _, row := range rows {
		e.trials = append(e.trials, row.trial)
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		t := Table{Stub: "strategy", Beside: "prototype", Columns: []Column{
			{"response_min", "response", "min", 1},
			{"cost", "cost", "$", 0},
			{"cost_rel", "cost over baseline", "%", 1},
			{"cost_authors", "authors' way", "$", 0},
			{"wait_min", "wait", "min", 1},
		}}
		for _, row := range rows {
			told := row.dollars > 0
			t.Rows = append(t.Rows, Row{row.label, []Cell{
				Ours(s.each(row.trial, meanResponse)...).besideKnown(row.response, told),
				Ours(s.each(row.trial, cost)...).besideKnown(row.dollars, told),
				Ours(s.against(row.trial, base, relative(cost))...).besideKnown(100*ratio(row.dollars, rows[0].dollars), told),
				Ours(s.each(row.trial, authorsCost)...), Ours(s.each(row.trial, meanWait)...),
			}})
		}
		r.Tables = append(r.Tables, t)
		return nil
	}
	return e
}

// nordugrid is the stand-in for [MC]'s second grid.
func (o *Options) nordugrid() Exhibit {
	on := func(t trial, name sceneName) trial {
		t.scene, t.maxQ = name, 0
		return t
	}
	strategies := []named{
		{"baseline", o.baseline()},
		{"MCMF w = 0", o.portal(builtin.MCMF, 0)},
		{"MCMF w = 25 %", o.portal(builtin.MCMF, usual)},
		{"MCMF w = 50 %", o.portal(builtin.MCMF, 500_000)},
		{"MCMF w = 75 %", o.portal(builtin.MCMF, 750_000)},
		{"MCMF w = 100 %", o.portal(builtin.MCMF, protocol.PPM)},
		{"TWOPRICE w = 50 %", o.portal(builtin.TwoPrice, 500_000)},
		{"INST w = 50 %", o.portal(builtin.Inst, 500_000)},
	}
	scenes := []struct {
		name  sceneName
		title string
	}{{nordugrid, "Run times and gaps scaled to the paper's means"}, {nordugridUnscaled, "As they are in the log of LCG"}}
	e := Exhibit{
		Name: string(nordugrid), Title: "fifty systems in the price areas of 2014: trends only, no figure is a reproduction",
		Paper: "[MC] Table IV and Figure 11, NorduGrid", waits: o.Waits,
	}
	for _, scene := range scenes {
		for _, one := range strategies {
			e.trials = append(e.trials, on(one.trial, scene.name))
		}
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		r.Notes = append(r.Notes, "The table of systems is invented and the log is another grid's; MaxQ is unbounded, as in [MC 5.7.3].")
		for _, scene := range scenes {
			rows := make([]contender, len(strategies))
			for i, one := range strategies {
				rows[i] = contender{label: one.label, trial: on(one.trial, scene.name)}
			}
			r.Tables = append(r.Tables, s.compare(scene.title, rows))
		}
		return nil
	}
	return e
}
