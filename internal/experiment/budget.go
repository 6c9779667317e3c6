package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// SitePower is a site's power budget [BG], by the keys of a live site's table [power].
type SitePower struct {
	Budget          config.Kilowatts  `toml:"budget_kw"`
	IdleWattsPerCPU config.Watts      `toml:"idle_watts_per_cpu"` // of one that a job holds and does not use
	OnPeak          string            `toml:"on_peak"`            // when the budget holds, by the site's clock
	Price           *settings.Amount  `toml:"price"`              // the budget holds while a MWh costs more; nil: at any price
	Mode            string            `toml:"mode"`
	Window          int               `toml:"window"`
	ReserveAfter    protocol.Duration `toml:"reserve_after"` // 0: none
}

// SetDefaults implements [settings.Defaulter]. They are those of live sites.
func (p *SitePower) SetDefaults() {
	live := config.Default().Power
	*p = SitePower{OnPeak: live.OnPeak, Mode: live.Mode, Window: live.Window, ReserveAfter: live.ReserveAfter}
}

// checkBudget checks a site's power budget, if it has one.
func (p *Plan) checkBudget(c *checker, key string, s *Site) {
	b := s.Power
	if b == nil {
		return
	}
	at := func(name string) string { return key + ".power." + name }
	switch {
	case s.WattsPerCPU == 0:
		c.Problem(key+".watts_per_cpu", "is missing; the power of jobs is counted by it")
	case b.IdleWattsPerCPU > s.WattsPerCPU:
		c.Problem(at("idle_watts_per_cpu"), "is more than watts_per_cpu; a CPU that is idle draws that at most")
	}
	if b.Budget == 0 {
		c.Problem(at("budget_kw"), "is missing; say how many kilowatts the jobs may draw together")
	}
	if _, err := budget.ParseHours(b.OnPeak); err != nil {
		c.Problem(at("on_peak"), "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if b.Price != nil && s.Price == nil && s.Prices == nil {
		c.Problem(at("price"), "needs prices; say what a MWh costs at this site")
	}
	if mode := engine.Mode(b.Mode); mode != engine.Window && mode != engine.Filter {
		c.Problem(at("mode"), "%q is unknown; use %s", b.Mode, oneOf(engine.Modes()))
	}
	if b.Window < 1 || b.Window > engine.MaxWindow {
		c.Problem(at("window"), "%d is not 1 to %d jobs", b.Window, engine.MaxWindow)
	}
	if p.plugin(pluginhost.SchedulerKind, s.Policy) != nil {
		c.Problem(key+".power", "has no effect with the [[plugin]] %q, which starts jobs by itself; use a built-in policy", s.Policy)
	}
}

// budgets puts the sites of a simulation within their power budgets.
func (p *Plan) budgets(ctx context.Context, sites []sim.Site, when calendar) error {
	for i := range p.Sites {
		if p.Sites[i].Power == nil {
			continue
		}
		var err error
		if sites[i].Budget, err = p.budget(ctx, i, when); err != nil {
			return fmt.Errorf("site %s: %w", p.Sites[i].Name, err)
		}
	}
	return nil
}

// budget is that of a site, on the workload's clock. It is known ahead: of a price, what
// it will be.
func (p *Plan) budget(ctx context.Context, site int, when calendar) (engine.Budget, error) {
	s := &p.Sites[site]
	b := s.Power
	rules := budget.Rules{Limit: b.Budget.Milliwatts()}
	var known budget.Known
	var err error
	if rules.Zone, err = p.zone(s); err != nil {
		return engine.Budget{}, err
	}
	if rules.Hours, err = budget.ParseHours(b.OnPeak); err != nil {
		return engine.Budget{}, err
	}
	if b.Price != nil {
		market, err := p.supplies[site].market(ctx, when, p.Electricity.Forecast)
		if err != nil {
			return engine.Budget{}, err
		}
		above := protocol.Micro(*b.Price)
		rules.Above, known.Prices = &above, market.Series()
	}
	signal := rules.Signal(known, when.begin, when.last.Add(afterwards))
	return engine.Budget{
		Signal: sim.Later(signal, -protocol.Duration(when.begin)),
		Rates:  power.Rates{Busy: int64(s.WattsPerCPU), Idle: int64(b.IdleWattsPerCPU)},
		Mode:   engine.Mode(b.Mode), Window: b.Window, Bound: b.ReserveAfter,
	}, nil
}

var errNoBudget = errors.New("no site has a table [site.power]")

// perBudget sets a key of all power budgets.
func perBudget(set func(b *SitePower, value string) error) func(*Plan, string) error {
	return func(p *Plan, value string) error {
		found := false
		for i := range p.Sites {
			if p.Sites[i].Power == nil {
				continue
			}
			changed := *p.Sites[i].Power
			if err := set(&changed, value); err != nil {
				return err
			}
			p.Sites[i].Power, found = &changed, true
		}
		if !found {
			return errNoBudget
		}
		return nil
	}
}
