package experiment

import (
	"cmp"
	"fmt"
	"math"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Applications is what became of the applications of an outcome. All money is in the
// currency of the experiment.
type Applications struct {
	Currency     string  `json:"currency,omitempty"`
	Applications int     `json:"applications"`
	Completed    int     `json:"completed"` // with all their components
	Components   int     `json:"components"`
	MeanResponse float64 `json:"mean_response_s"` // of those that were completed, until the last data are back
	Cost         float64 `json:"cost"`            // K_e + K_l + K_eco + K_d of the real runs
	Waiting      float64 `json:"waiting_cost"`    // K_w
	LimitsMet    float64 `json:"limits_met"`      // part of the applications that were completed within their limits
	RunError     float64 `json:"run_time_error"`  // mean of |predicted/actual - 1|, of the predicted run times
	CostError    float64 `json:"cost_error"`      // the same, of the costs
	KWh          float64 `json:"energy_kwh"`      // that was measured
	Utilization  float64 `json:"utilization"`     // of all CPUs, by all jobs

	Sites []SiteApplications `json:"sites"`
	Each  []OneApplication   `json:"each"` // in the order of their submission
}

// SiteApplications is a site's part.
type SiteApplications struct {
	Site        string  `json:"site"`
	Components  int     `json:"components"`
	Utilization float64 `json:"utilization"` // by all jobs, over the time of all sites
	Income      float64 `json:"income"`      // for all jobs
}

// OneApplication is what became of one.
type OneApplication struct {
	Name       string         `json:"name"`
	Origin     string         `json:"origin"`
	Submitted  float64        `json:"submitted_s"` // since the beginning
	Response   *float64       `json:"response_s"`  // nil: not all components have run to their ends
	Cost       float64        `json:"cost"`
	Waiting    float64        `json:"waiting_cost"`
	CostMet    bool           `json:"max_cost_met"`
	TimeMet    bool           `json:"max_time_met"`
	Refused    string         `json:"refused,omitempty"`
	Components []OneComponent `json:"components"`
}

// OneComponent is what became of a component.
type OneComponent struct {
	Name          string  `json:"name"`
	Site          string  `json:"site,omitempty"` // empty: it did not start
	State         string  `json:"state"`
	Reason        string  `json:"reason,omitempty"`
	CPUs          int     `json:"cpus"`
	Wait          float64 `json:"wait_s"`
	Run           float64 `json:"run_s"`
	PredictedRun  float64 `json:"predicted_run_s"` // 0: no prediction
	Cost          float64 `json:"cost"`
	PredictedCost float64 `json:"predicted_cost"`
}

// achieved sums up what became of the applications of a simulation.
func (p *Plan) achieved(cfg *sim.Config, jobs []workload.Job, r *sim.Result) *Applications {
	all := &Applications{Currency: p.Currency, Applications: len(r.Applications)}
	var sites []float64
	all.Utilization, sites = cfg.Utilization(jobs, r)
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		all.Sites = append(all.Sites, SiteApplications{
			Site: string(s.Name), Components: r.Ledgers[i].Components, Utilization: sites[i],
			Income: p.units(cfg, r.Ledgers[i].Income, s.Currency),
		})
	}
	var run, cost mean
	for i := range r.Applications {
		a, done := &cfg.Applications[i], &r.Applications[i]
		one := p.oneApplication(cfg, a, done)
		all.Components += len(one.Components)
		all.Cost, all.Waiting = all.Cost+one.Cost, all.Waiting+one.Waiting
		if one.Response != nil {
			all.Completed++
			all.MeanResponse += *one.Response
			if one.CostMet && one.TimeMet {
				all.LimitsMet++
			}
		}
		for k := range done.Components {
			c := &done.Components[k]
			all.KWh += float64(c.Usage.Energy) / millijoulesOfKWh
			run.add(float64(c.PredictedRunTime), float64(c.Ran))
			cost.add(float64(c.PredictedCost), float64(c.Cost))
		}
		all.Each = append(all.Each, one)
	}
	all.RunError, all.CostError = run.value(), cost.value()
	all.MeanResponse /= float64(max(1, all.Completed))
	all.LimitsMet /= float64(max(1, all.Applications))
	return all
}

// validate checks what was read from JSON.
func (a *Applications) validate(sites int) error {
	if a != nil && len(a.Sites) != sites {
		return fmt.Errorf("applications has %d sites, and sites has %d", len(a.Sites), sites)
	}
	return nil
}

const millijoulesOfKWh = 3.6e9

// mean is that of relative errors.
type mean struct {
	sum float64
	n   int
}

// add adds the relative error of a prediction, unless the predicted or the actual value is missing.
func (m *mean) add(predicted, actual float64) {
	if predicted > 0 && actual > 0 {
		m.sum += math.Abs(predicted/actual - 1)
		m.n++
	}
}

func (m *mean) value() float64 { return m.sum / float64(max(1, m.n)) }

// units is an amount in the currency of the experiment.
func (p *Plan) units(cfg *sim.Config, amount protocol.Micro, from string) float64 {
	if converted, err := cfg.Exchange.Convert(amount, from, cmp.Or(p.Currency, from)); err == nil {
		amount = converted
	}
	return float64(amount) / float64(protocol.Unit)
}

func (p *Plan) oneApplication(cfg *sim.Config, a *sim.Application, done *sim.Achieved) OneApplication {
	home := &cfg.Sites[a.Origin]
	one := OneApplication{
		Name: a.Objectives.Name, Origin: string(home.Name), Submitted: inSeconds(protocol.Duration(a.At)),
		Cost: p.units(cfg, done.Cost, home.Currency), Waiting: p.units(cfg, done.Waiting, home.Currency),
		CostMet: done.CostMet, TimeMet: done.TimeMet, Refused: done.Refused,
	}
	if done.Completion < protocol.Never {
		took := inSeconds(done.Completion)
		one.Response = &took
	}
	for k := range done.Components {
		c := &done.Components[k]
		part := OneComponent{
			Name: a.Components[k].Stated.Name, State: fmt.Sprint(protocol.Pending), Reason: c.Reason, CPUs: c.CPUs,
			Run: inSeconds(c.Ran), PredictedRun: inSeconds(c.PredictedRunTime),
			Cost: p.units(cfg, c.Cost, home.Currency), PredictedCost: p.units(cfg, c.PredictedCost, home.Currency),
		}
		if c.State != 0 {
			part.State = c.State.String()
		}
		if c.Site >= 0 {
			part.Site, part.Wait = string(cfg.Sites[c.Site].Name), inSeconds(c.Start.Sub(a.At))
		}
		one.Components = append(one.Components, part)
	}
	return one
}

// applicationMeasures are those of all applications together, as sweeps name them.
func applicationMeasures() []measure[Applications] {
	return []measure[Applications]{
		{"application_response_s", func(a *Applications) float64 { return a.MeanResponse }},
		{"application_cost", func(a *Applications) float64 { return a.Cost }},
		{"application_waiting_cost", func(a *Applications) float64 { return a.Waiting }},
		{"application_limits_met", func(a *Applications) float64 { return a.LimitsMet }},
		{"application_run_time_error", func(a *Applications) float64 { return a.RunError }},
		{"application_energy_kwh", func(a *Applications) float64 { return a.KWh }},
		{"application_utilization", func(a *Applications) float64 { return a.Utilization }},
	}
}

// addApplications puts what became of a cell's applications into their point; without any
// it stays as it is.
func (p *Point) addApplications(outcomes []*Applications) {
	if len(outcomes) == 0 || outcomes[0] == nil {
		return
	}
	all := make([]Applications, len(outcomes))
	for i, one := range outcomes {
		all[i] = *one
	}
	for _, m := range applicationMeasures() {
		p.Metrics[m.key] = report.AverageOf(each(all, m.of))
	}
	for i := range p.Sites {
		for _, m := range []measure[Applications]{
			{"application_components", func(a *Applications) float64 { return float64(a.Sites[i].Components) }},
			{"application_income", func(a *Applications) float64 { return a.Sites[i].Income }},
		} {
			p.Sites[i].Metrics[m.key] = report.AverageOf(each(all, m.of))
		}
	}
}

// ofApplications are the metrics of applications that some point has.
func (s *Swept) ofApplications() []column {
	return s.those([]column{
		{key: "application_response_s", title: "applications' response", scale: 1, kind: report.Time, partial: true},
		{key: "application_cost", title: "applications' cost, " + s.Currency, scale: 1, partial: true},
		{key: "application_limits_met", title: "limits met, %", scale: 100, kind: report.Percent, partial: true},
		{key: "application_utilization", title: "utilization with applications, %", scale: 100, kind: report.Percent, partial: true},
	})
}

func inSeconds(d protocol.Duration) float64 { return float64(d) / float64(protocol.Second) }
