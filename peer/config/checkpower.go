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
	if p.OnPeak != budget.Always && !r.Set("prices.time_zone") {
		r.Warn("power.on_peak", "goes by the clock of UTC, as [prices] time_zone is not set; set it to this site's, or to \"UTC\"")
	}
	r.OneOf("power.mode", p.Mode, string(engine.Window), string(engine.Filter))
	if p.Window < 1 || p.Window > engine.MaxWindow {
		r.Problem("power.window", "is %d; use 1 to %d jobs", p.Window, engine.MaxWindow)
	}
	if p.Price != 0 && r.config.Prices.Area == "" {
		r.Problem("power.price", "needs prices; say in [prices] where this site buys its electricity")
	}
	if p.Price == 0 && r.Set("power.price") {
		r.Problem("power.price", "is 0, which is no limit; write 0.01 for all hours that cost anything, or leave it out")
	}
	r.warnOfAmpleBudget(p)
	if p.LearnJobPower && r.config.LocalSched.Plugin != Process {
		r.Problem("power.learn_job_power", "is for [localsched] plugin = %q, which measures its jobs; leave it out", Process)
	}
	r.warnOfNoBudget(p)
}

// warnOfAmpleBudget tells of a budget that the machine cannot reach, as one in watts would be.
func (r *checker) warnOfAmpleBudget(p *Power) {
	l := &r.config.LocalSched
	all := p.Rates().Draw(l.CPUs, l.CPUs, 0)
	if l.Plugin == Process && l.CPUs > 0 && p.Budget > 0 && p.WattsPerCPU > 0 && p.Budget.Milliwatts() > all {
		r.Warn("power.budget_kw", "is more than all %d CPUs draw together, %s; is it in kilowatts?", l.CPUs, power.Text(all))
	}
}

// checkRates checks what CPUs draw.
func (r *checker) checkRates(p *Power) {
	if p.IdleWattsPerCPU > 0 && p.IdleWattsPerCPU > p.WattsPerCPU {
		r.Problem("power.idle_watts_per_cpu", "is more than watts_per_cpu; a CPU that is idle draws that at most")
	}
	const needs = "needs watts_per_cpu, by which the power of jobs is counted; set that too"
	if p.WattsPerCPU == 0 && p.Budget > 0 {
		r.Problem("power.budget_kw", needs)
	}
	if p.WattsPerCPU == 0 && p.Series.Feed != "" {
		r.Problem("power.series.feed", needs)
	}
	area := r.config.Prices.Area
	switch {
	case area != "" && p.WattsPerCPU == 0:
		r.Warn("prices.area", "has no effect while [power] watts_per_cpu is not set: quotes name no cost of electricity")
	case area == "" && p.WattsPerCPU > 0 && !p.Budgeted() && r.config.Cost.Eco == nil:
		r.Warn("power.watts_per_cpu", "has no effect while neither [prices] area nor budget_kw is set: quotes name no cost of electricity")
	}
}

func (r *checker) checkSeries(s *PowerSeries) {
	if *s == (PowerSeries{}) {
		return
	}
	if s.Area == "" {
		r.Problem("power.series.area", "is missing; name the area by which the feed has the budgets")
	} else if err := priceformat.CheckArea(s.Area); err != nil {
		r.Problem("power.series.area", "%v", err)
	}
	if s.Max > 0 && s.Fallback > s.Max {
		r.Problem("power.series.fallback_kw", "is more than max_kw, the most that the feed is believed")
	}
	r.checkFeed("power.series", s.Area, s.Feed, s.Config)
}

// warnOfNoBudget tells which keys have nothing to say.
func (r *checker) warnOfNoBudget(p *Power) {
	if p.Budget == 0 {
		for _, name := range []string{"on_peak", "price"} {
			if key := settings.Join("power", name); r.Set(key) {
				r.Warn(key, "has no effect while budget_kw is not set: it says when that holds")
			}
		}
	}
	if p.Budgeted() {
		return
	}
	for _, name := range []string{"idle_watts_per_cpu", "mode", "window", "reserve_after", "learn_job_power"} {
		if key := settings.Join("power", name); r.Set(key) {
			r.Warn(key, "has no effect while there is no power budget; set budget_kw or [power.series]")
		}
	}
}
