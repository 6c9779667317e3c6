package config

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Budgeted says whether a power budget may ever hold.
func (p *Power) Budgeted() bool { return p.Budget > 0 || p.Series.Feed != "" }

// Rates are what CPUs draw.
func (p *Power) Rates() power.Rates {
	return power.Rates{Busy: int64(p.WattsPerCPU), Idle: int64(p.IdleWattsPerCPU)}
}

// Within returns the budget of a signal, by the rules of the table.
func (p *Power) Within(signal power.Signal) engine.Budget {
	return engine.Budget{
		Signal: signal, Rates: p.Rates(), Mode: engine.Mode(p.Mode), Window: p.Window, Bound: p.ReserveAfter,
	}
}

// BudgetRules returns when which budget holds. The error names the key that a
// configuration which [Load] has checked cannot have wrong.
func (c *Config) BudgetRules() (rules budget.Rules, err error) {
	rules.Limit = power.Unlimited
	if c.Power.Budget > 0 {
		rules.Limit = c.Power.Budget.Milliwatts()
	}
	if c.Power.Price != 0 {
		above := protocol.Micro(c.Power.Price)
		rules.Above = &above
	}
	if rules.Hours, err = budget.ParseHours(c.Power.OnPeak); err != nil {
		return rules, fmt.Errorf("[power] on_peak: %w", err)
	}
	zone, err := feeds.ParseZone(c.Prices.TimeZone)
	if err != nil {
		return rules, fmt.Errorf("[prices] time_zone: %w", err)
	}
	rules.Zone = zone.Location
	return rules, nil
}
