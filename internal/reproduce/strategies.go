package reproduce

import (
	"cmp"
	"context"
	_ "embed"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/protocol"
)

//go:embed mcmf.toml
var strategiesText string

// strategies are the exhibits that are tables of strategies, as mcmf.toml has them.
type strategies struct {
	Columns  map[string][]strategyColumn `toml:"columns"`
	Exhibits []strategyExhibit           `toml:"exhibit"`
}

type strategyExhibit struct {
	Name    string          `toml:"name"`
	Also    []string        `toml:"also"`
	Title   string          `toml:"title"`
	Paper   string          `toml:"paper"`
	Planned bool            `toml:"planned"` // the waits of most rows
	Notes   []string        `toml:"notes"`
	Tables  []strategyTable `toml:"table"`
}

type strategyTable struct {
	Title    string     `toml:"title"`
	Stub     string     `toml:"stub"`
	Beside   string     `toml:"beside"`
	Columns  string     `toml:"columns"` // of [strategies]
	All      strategy   `toml:"all"`
	SameRows bool       `toml:"same_rows"` // as the table before
	Rows     []strategy `toml:"rows"`
}

// strategyColumn is a measure of the row's trial, or of a variant of that.
type strategyColumn struct {
	Key        string `toml:"key"`
	Title      string `toml:"title"`
	Unit       string `toml:"unit"`
	Digits     int    `toml:"digits"`
	Measure    string `toml:"measure"`     // empty: the key
	Weight     *int   `toml:"weight"`      // instead of the row's
	Peers      bool   `toml:"peers"`       // each site places the jobs of its local users
	OverPortal bool   `toml:"over_portal"` // relative to the same trial with a portal, not to the baseline
}

// strategy is who places jobs, and how; see mcmf.toml.
type strategy struct {
	Label       string             `toml:"label"`
	Scene       string             `toml:"scene"`
	Policy      string             `toml:"policy"`
	Weight      int                `toml:"weight"`
	DelayPrice  protocol.Micro     `toml:"delay_price"` // an hour of a job, in place of w
	Planned     bool               `toml:"planned"`
	MaxQ        *int               `toml:"max_q"`
	Marginal    int                `toml:"marginal"`
	Cycle       protocol.Duration  `toml:"cycle"`
	Perturb     protocol.Duration  `toml:"perturb"`
	DataGB      int64              `toml:"data_gb"`
	DrawnData   bool               `toml:"drawn_data"`
	Forecast    string             `toml:"forecast"`
	Power       []int              `toml:"power"`
	ThroughGrid int                `toml:"through_grid"`
	Paper       map[string]float64 `toml:"paper"`
}

// or is the strategy with what another has and this has not.
func (v *strategy) or(all *strategy) strategy {
	one := *v
	one.Scene, one.Policy, one.Weight = cmp.Or(v.Scene, all.Scene), cmp.Or(v.Policy, all.Policy), cmp.Or(v.Weight, all.Weight)
	one.Planned, one.MaxQ, one.Cycle = v.Planned || all.Planned, cmp.Or(v.MaxQ, all.MaxQ), cmp.Or(v.Cycle, all.Cycle)
	one.DataGB, one.DrawnData = cmp.Or(v.DataGB, all.DataGB), v.DrawnData || all.DrawnData
	if v.Power == nil {
		one.Power = all.Power
	}
	return one
}

const (
	gigabyte   = 1_000_000_000
	partPerPPM = protocol.PPM / 100 // parts per million of a percent
)

// trial is what is simulated for the strategy.
func (o *Options) trial(v *strategy) trial {
	t := o.portal(v.Policy, v.Weight*partPerPPM)
	switch v.Policy {
	case builtin.Local:
		t = o.baseline()
	case builtin.TC:
		t = o.turnaround()
	default:
		t.cycle = cmp.Or(v.Cycle, t.cycle)
		if v.MaxQ != nil {
			t.maxQ = *v.MaxQ
		}
	}
	if v.Planned {
		t = t.plan()
	}
	t.scene = cmp.Or(sceneName(v.Scene), xsede)
	t.forecast = cmp.Or(v.Forecast, t.forecast)
	if slices.Contains(o.Authors, History) {
		t = t.with(History)
	}
	t.delay = v.DelayPrice
	t.marginal, t.perturb, t.data = v.Marginal, v.Perturb, v.DataGB*gigabyte
	if v.DrawnData {
		t.data = drawnData
	}
	if v.ThroughGrid > 0 {
		t.stays = protocol.PPM - v.ThroughGrid*partPerPPM
	}
	if v.Power != nil {
		t.powerLow, t.powerTop = v.Power[0]*partPerPPM, v.Power[1]*partPerPPM
	}
	return t
}

// of is the trial that a column measures of a row's.
func (c *strategyColumn) of(t trial) trial {
	if c.Weight != nil {
		t.weight = *c.Weight * partPerPPM
	}
	t.portal = t.portal && !c.Peers
	return t
}

// baselineOf is what rows are relative to, and its row; nil where the table has none.
func (o *Options) baselineOf(rows []strategy) (trial, *strategy) {
	if i := slices.IndexFunc(rows, func(v strategy) bool { return v.Policy == builtin.Local }); i >= 0 {
		return o.trial(&rows[i]), &rows[i]
	}
	return o.baseline(), nil
}

// measure is what a column tells of an outcome.
type measure struct {
	of       func(*outcome) float64
	relative bool // in percent of that of the baseline
}

// measures are those of columns, by their keys.
func measures() map[string]measure {
	perJob := func(measure func(*outcome) float64) func(*outcome) float64 {
		return func(o *outcome) float64 { return ratio(measure(o), float64(o.metrics.Jobs)) }
	}
	return map[string]measure{
		"response_min":    {of: meanResponse},
		"response_rel":    {of: meanResponse, relative: true},
		"cost":            {of: cost},
		"cost_rel":        {of: cost, relative: true},
		"cost_authors":    {of: authorsCost},
		"cost_per_job":    {of: perJob(cost)},
		"authors_per_job": {of: perJob(authorsCost)},
		"most":            {of: (*outcome).most},
		"mwh":             {of: func(o *outcome) float64 { return o.bill.MWh }},
		"wait_min":        {of: meanWait},
		"slowdown":        {of: func(o *outcome) float64 { return o.metrics.BoundedSlowdown }},
		"moved_pct":       {of: moved},
		"messages":        {of: func(o *outcome) float64 { return o.metrics.MessagesPerJob }},
		"ppe_pct":         {of: func(o *outcome) float64 { return o.hit().percent }},
		"error_min":       {of: func(o *outcome) float64 { return o.hit().minutes }},
		"hour_pct":        {of: func(o *outcome) float64 { return o.hit().hour }},
	}
}

// stated is the paper's value of a column of a row: printed there, or computed from others.
func (v *strategy) stated(column string, base *strategy) (value float64, ok bool) {
	if value, ok = v.Paper[column]; ok {
		return value, true
	}
	var from []string
	switch column {
	case "authors_per_job":
		value, ok = v.Paper["cost_authors"]
		return value / xsedeJobs, ok
	case "response_rel":
		from = []string{"response_min"}
	case "cost_rel":
		from = []string{"cost_authors", "cost"}
	}
	for _, key := range from {
		if value, ok = v.Paper[key]; ok && base != nil {
			return 100 * ratio(value, base.Paper[key]), true
		}
	}
	return 0, false
}

// tabled are the exhibits of mcmf.toml, by their names.
func (o *Options) tabled() (map[string]exhibit, error) {
	var data strategies
	reader := settings.NewReader(&data)
	reader.Text("mcmf.toml", "", strategiesText)
	if err := reader.Err(); err != nil {
		return nil, err
	}
	made := map[string]exhibit{}
	for _, e := range data.Exhibits {
		made[e.Name] = o.exhibitOf(&e, data.Columns)
	}
	return made, nil
}

func (o *Options) exhibitOf(e *strategyExhibit, columns map[string][]strategyColumn) exhibit {
	made := exhibit{Exhibit: Exhibit{Name: e.Name, Also: e.Also, Title: e.Title, Paper: e.Paper}, waits: o.Waits}
	if e.Planned {
		made.waits = waitpredict.Plan
	}
	for i := range e.Tables {
		t := &e.Tables[i]
		if t.SameRows {
			t.Rows = e.Tables[i-1].Rows
		}
		rows := make([]strategy, len(t.Rows))
		for k := range rows {
			rows[k] = t.Rows[k].or(&t.All)
		}
		t.Rows = rows
		base, _ := o.baselineOf(rows)
		made.trials = append(made.trials, base)
		for k := range rows {
			for c := range columns[t.Columns] {
				one := columns[t.Columns][c].of(o.trial(&rows[k]))
				if !slices.Contains(made.trials, one) {
					made.trials = append(made.trials, one)
				}
			}
		}
	}
	made.build = func(_ context.Context, s *study, r *Report) error {
		r.Notes = append(r.Notes, e.Notes...)
		for i := range e.Tables {
			r.Tables = append(r.Tables, s.tableOf(&e.Tables[i], columns[e.Tables[i].Columns]))
		}
		return nil
	}
	return made
}

func (s *study) tableOf(t *strategyTable, columns []strategyColumn) Table {
	all := measures()
	base, baseRow := s.options.baselineOf(t.Rows)
	made := Table{Title: t.Title, Stub: t.Stub, Beside: t.Beside}
	for _, c := range columns {
		made.Columns = append(made.Columns, Column{c.Key, c.Title, c.Unit, c.Digits})
	}
	for i := range t.Rows {
		v := &t.Rows[i]
		row := Row{Label: v.Label}
		for k := range columns {
			c := &columns[k]
			one, over, m := c.of(s.options.trial(v)), base, all[cmp.Or(c.Measure, c.Key)]
			if c.OverPortal {
				over = s.options.trial(v)
			}
			cell := Ours(s.each(one, m.of)...)
			if m.relative {
				cell = Ours(s.against(one, over, relative(m.of))...)
			}
			value, known := v.stated(c.Key, baseRow)
			row.Cells = append(row.Cells, cell.besideKnown(value, known))
		}
		made.Rows = append(made.Rows, row)
	}
	return made
}

// then is the exhibit with more built from the same trials, and others.
func (e exhibit) then(more func(s *study, r *Report), trials ...trial) exhibit {
	first := e.build
	e.trials = append(e.trials, trials...)
	e.build = func(ctx context.Context, s *study, r *Report) error {
		err := first(ctx, s, r)
		more(s, r)
		return err
	}
	return e
}
