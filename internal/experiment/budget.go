package experiment

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// budgeted says whether the site has a power budget [BG].
func (s *Site) budgeted() bool { return s.Power.Budget > 0 }

// budgets puts the sites of a simulation within their power budgets.
func (p *Plan) budgets(ctx context.Context, sites []sim.Site, when calendar) error {
	for i := range p.Sites {
		if !p.Sites[i].budgeted() {
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
	b := &s.Power
	rules := budget.Rules{Limit: b.Budget.Milliwatts()}
	var known budget.Known
	var err error
	if rules.Zone, err = p.zone(s); err != nil {
		return engine.Budget{}, err
	}
	if rules.Hours, err = budget.ParseHours(b.OnPeak); err != nil {
		return engine.Budget{}, err
	}
	if b.Price != 0 {
		market, err := p.supplies[site].market(ctx, when, p.Electricity.Forecast)
		if err != nil {
			return engine.Budget{}, err
		}
		above := protocol.Micro(b.Price)
		rules.Above, known.Prices = &above, market.Series()
	}
	signal := rules.Signal(known, when.begin, when.last.Add(afterwards))
	return engine.Budget{
		Signal: sim.Later(signal, -protocol.Duration(when.begin)),
		Rates:  power.Rates{Busy: int64(b.WattsPerCPU), Idle: int64(b.IdleWattsPerCPU)},
		Mode:   engine.Mode(b.Mode), Window: b.Window, Bound: b.ReserveAfter,
	}, nil
}

var errNoBudget = errors.New("no site has budget_kw in a table [site.power]")

// perBudget sets a key of all power budgets.
func perBudget(set func(b *config.Power, value string) error) func(*Plan, string) error {
	return func(p *Plan, value string) error {
		found := false
		for i := range p.Sites {
			if !p.Sites[i].budgeted() {
				continue
			}
			if err := set(&p.Sites[i].Power, value); err != nil {
				return err
			}
			found = true
		}
		if !found {
			return errNoBudget
		}
		return nil
	}
}
