package config

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
)

func (r *checker) checkPower(p *Power) {
	r.checkRates(p)
	r.checkSeries(&p.Series)
	if _, err := budget.ParseHours(p.OnPeak); err != nil {
		r.Problem("power.on_peak", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if p.OnPeak != budget.Always && !r.simulated && !r.Set("prices.time_zone") {
		r.Warn("power.on_peak", "uses UTC because [prices] time_zone is unset; set it to the time zone of this site, or to \"UTC\"")
	}
	r.OneOf("power.mode", p.Mode, string(engine.Window), string(engine.Filter))
	if p.Window < 1 || p.Window > engine.MaxWindow {
		r.Problem("power.window", "is %d; use 1 to %d jobs", p.Window, engine.MaxWindow)
	}
	if p.Price != 0 && r.config.Prices.Area == "" {
		r.Problem("power.price", "needs prices; set area and feed in [prices]")
	}
	if p.Price == 0 && r.Set("power.price") {
		r.Problem("power.price", "is 0; use 0.01 for all hours with a positive price, or remove the key")
	}
	r.warnOfAmpleBudget(p)
	if p.LearnJobPower && r.config.LocalSched.Plugin != Process {
		r.Problem("power.learn_job_power", "is for [localsched] plugin = %q, which measures its jobs; remove it", Process)
	}
	r.warnOfNoBudget(p)
}

// warnOfAmpleBudget tells of a budget that the machine cannot reach, as one in watts would be.
func (r *checker) warnOfAmpleBudget(p *Power) {
	l := &r.config.LocalSched
	all := p.Rates().Draw(l.CPUs, l.CPUs, 0)
	if l.Plugin == Process && l.CPUs > 0 && p.Budget > 0 && p.WattsPerCPU > 0 && p.Budget.Milliwatts() > all {
		r.Warn("power.budget_kw", "is more than the power draw of all %d CPUs, %s; check that it is in kilowatts", l.CPUs, power.Text(all))
	}
}

// checkRates checks what CPUs draw.
func (r *checker) checkRates(p *Power) {
	if p.IdleWattsPerCPU > 0 && p.IdleWattsPerCPU > p.WattsPerCPU {
		r.Problem("power.idle_watts_per_cpu", "is more than watts_per_cpu; an idle CPU draws no more than a busy one")
	}
	const needs = "needs watts_per_cpu for the power draw of jobs; set it too"
	if p.WattsPerCPU == 0 && p.Budget > 0 {
		r.Problem("power.budget_kw", needs)
	}
	if p.WattsPerCPU == 0 && p.Series.Feed != "" {
		r.Problem("power.series.feed", needs)
	}
	area := r.config.Prices.Area
	switch {
	case area != "" && p.WattsPerCPU == 0:
		r.Warn("prices.area", "has no effect without [power] watts_per_cpu: quotes carry no electricity cost")
	case area == "" && p.WattsPerCPU > 0 && !p.Budgeted() && r.config.Cost.Eco == nil && !r.counted:
		r.Warn("power.watts_per_cpu", "has no effect without [prices] area or budget_kw: quotes carry no electricity cost")
	}
}

func (r *checker) checkSeries(s *PowerSeries) {
	if *s == (PowerSeries{}) {
		return
	}
	if s.Area == "" {
		r.Problem("power.series.area", "is missing; set the area of the budgets in the feed")
	} else if err := priceformat.CheckArea(s.Area); err != nil {
		r.Problem("power.series.area", "%v", err)
	}
	if s.Max > 0 && s.Fallback > s.Max {
		r.Problem("power.series.fallback_kw", "is more than max_kw; use a lower value, or raise max_kw")
	}
	r.checkFeed("power.series", s.Area, s.Feed, s.Config)
}

// warnOfNoBudget tells which keys have nothing to say.
func (r *checker) warnOfNoBudget(p *Power) {
	if p.Budget == 0 {
		for _, name := range []string{"on_peak", "price"} {
			if key := settings.Join("power", name); r.Set(key) {
				r.Warn(key, "has no effect without budget_kw; set budget_kw, or remove this key")
			}
		}
	}
	if p.Budgeted() {
		return
	}
	for _, name := range []string{"idle_watts_per_cpu", "mode", "window", "reserve_after", "learn_job_power"} {
		if key := settings.Join("power", name); r.Set(key) {
			r.Warn(key, "has no effect without a power budget; set budget_kw or [power.series]")
		}
	}
}
