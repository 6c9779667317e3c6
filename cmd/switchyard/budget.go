package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// budgetKeeper keeps the power budget of the batch system: it is made anew as time goes
// by, as the feeds have news, and when the configuration is read again.
type budgetKeeper struct {
	log    *slog.Logger
	prices *priceWatch   // nil: the site has none
	series *source       // of budgets; nil: there is none
	news   chan struct{} // gets one when the prices may be others

	made atomic.Pointer[engine.Budget] // in force; set under mu

	mu      sync.Mutex
	cfg     *config.Config            // in force
	known   budget.Known              // what the feeds told last
	trouble string                    // with the feeds, as it was told last
	take    func(engine.Budget) error // changes that of the batch system; nil: it has none that can change
}

// The time for which a budget is made: whole days, so that it stays the same for a day if
// nothing else changes.
const (
	budgetPast  = protocol.Day
	budgetAhead = 15 * protocol.Day
)

// budgetPatience bounds how long the feeds may take to answer for a budget.
const budgetPatience = 30 * time.Second

// openBudget makes the budget that the batch system begins with.
func (p *peerProcess) openBudget(ctx context.Context) error {
	k := &budgetKeeper{log: p.log, prices: p.prices, news: make(chan struct{}, 1), cfg: p.cfg}
	k.made.Store(&engine.Budget{})
	if table := p.cfg.Power.Series; table.Feed != "" {
		from, err := p.openSource("power.series", table.Feed, table.Config) //nolint:contextcheck // what it starts runs until it is closed
		if err != nil {
			return err
		}
		k.series = &from
	}
	if k.prices != nil {
		k.prices.news = k.hear
	}
	p.budget = k
	return k.renew(ctx)
}

// startBudget keeps the budget from now on.
func (p *peerProcess) startBudget(ctx context.Context) error {
	p.launch(ctx, "the power budget", p.budget.run)
	return nil
}

// run makes the budget anew when the feeds may know more, and once an hour at least.
func (k *budgetKeeper) run(ctx context.Context) error {
	every := time.NewTicker(k.pause())
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		case <-k.news:
		}
		if err := k.renew(ctx); err != nil && ctx.Err() == nil {
			k.log.Error("power_budget_not_renewed", "error", err)
		}
	}
}

// pause is how long the feeds are not asked when there are no news.
func (k *budgetKeeper) pause() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return min(time.Hour, k.cfg.Prices.Refresh.Std())
}

// hear has the budget made anew soon.
func (k *budgetKeeper) hear() {
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// begin has the batch system hear of every change from now on.
func (k *budgetKeeper) begin(take func(engine.Budget) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.take = take
}

// current is the budget in force.
func (k *budgetKeeper) current() engine.Budget { return *k.made.Load() }

// renew makes the budget anew.
func (k *budgetKeeper) renew(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.adopt(ctx, k.cfg)
}

// mayBecome says why the budget of a configuration cannot take the place of the present
// one while the peer runs.
func (k *budgetKeeper) mayBecome(next *config.Config) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case !next.Power.Budgeted():
		return nil
	case next.Power.WattsPerCPU == 0:
		return errors.New("[power] budget_kw needs watts_per_cpu, which can change only when the peer is started again")
	case next.Power.Price != 0 && next.Prices.Area == "":
		return errors.New("[power] price needs [prices], which can change only when the peer is started again")
	case k.take == nil:
		return errors.New("[power] budget_kw: this batch system began without a power budget; start the peer again to give it one")
	}
	if err := next.Power.Within(power.Signal{}).Check(); err != nil {
		return fmt.Errorf("[power]: %w", err)
	}
	return nil
}

// become puts the budget of a configuration in force.
func (k *budgetKeeper) become(ctx context.Context, next *config.Config) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.adopt(ctx, next); err != nil {
		return err
	}
	k.cfg = next
	return nil
}

// adopt makes the budget of a configuration and has the batch system take it if it is
// another from now on.
func (k *budgetKeeper) adopt(ctx context.Context, cfg *config.Config) error {
	now := protocol.InstantOf(time.Now())
	made, err := k.make(ctx, cfg, now)
	if err != nil || sameFrom(now, made, k.current()) {
		return err
	}
	if k.take != nil {
		if err = k.take(made); err != nil {
			return fmt.Errorf("give the batch system another power budget: %w", err)
		}
	}
	k.made.Store(&made)
	limit, until := made.Signal.At(now)
	k.log.Info("power_budget", "limit", power.Text(limit), "until", untilText(until))
	return nil
}

func untilText(until protocol.Instant) string {
	if until == power.End {
		return "further notice"
	}
	return until.Time().Format(time.RFC3339)
}

// sameFrom says whether two budgets are the same from an instant on.
func sameFrom(now protocol.Instant, a, b engine.Budget) bool {
	return a.Rates == b.Rates && a.Mode == b.Mode && a.Window == b.Window && a.Bound == b.Bound && a.Signal.Equal(b.Signal, now)
}

// make is the budget of a configuration by what the feeds know; empty without one.
func (k *budgetKeeper) make(ctx context.Context, cfg *config.Config, now protocol.Instant) (engine.Budget, error) {
	if !cfg.Power.Budgeted() {
		return engine.Budget{}, nil
	}
	rules, err := cfg.BudgetRules()
	if err != nil {
		return engine.Budget{}, err
	}
	today := now - now%protocol.Instant(protocol.Day)
	from, until := today.Add(-budgetPast), today.Add(budgetAhead)
	k.look(ctx, cfg, from, until)
	return cfg.Power.Within(rules.Signal(k.known, from, until)), nil
}

// look asks the feeds. What one of them does not tell now stays as it was told last.
func (k *budgetKeeper) look(ctx context.Context, cfg *config.Config, from, until protocol.Instant) {
	ctx, cancel := context.WithTimeout(ctx, budgetPatience)
	defer cancel()
	var errs []error
	if k.prices != nil && cfg.Power.Price != 0 {
		told, err := k.prices.ask(ctx, peer.PriceOp{Area: cfg.Prices.Area, From: from, Until: until})
		if err == nil {
			k.known.Prices = told.Prices
		}
		errs = append(errs, err)
	}
	if k.series != nil {
		errs = append(errs, k.lookAtSeries(ctx, price.Query{Area: cfg.Power.Series.Area, From: from, Until: until}))
	}
	k.tell(errors.Join(errs...))
}

func (k *budgetKeeper) lookAtSeries(ctx context.Context, query price.Query) error {
	trouble := k.series.refresh(ctx)
	told, err := k.series.feed.Prices(ctx, query)
	if err == nil {
		err = told.Check(query)
	}
	if err != nil {
		return errors.Join(trouble, fmt.Errorf("[power.series]: %w", err))
	}
	k.known.Series = told
	return trouble
}

// tell logs what is wrong with the feeds when it is another thing than before.
func (k *budgetKeeper) tell(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != k.trouble && text != "" {
		k.log.Warn("power_budget_as_last_known", "why", text)
	}
	k.trouble = text
}

// loadPatience bounds how long the batch system may take to say what its jobs draw.
const loadPatience = 2 * time.Second

// power is what the jobs of this site draw and may draw; nil without a budget.
func (p *peerProcess) power(ctx context.Context) *api.Power {
	if !p.inForce.Load().Power.Budgeted() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	load, err := p.scheduler.Load(limited)
	if err != nil {
		p.log.Debug("power_not_known", "error", err)
		return nil
	}
	return powerOf(p.budget.current().Signal, load.Draw, protocol.InstantOf(time.Now()))
}

// powerOf tells the budget of an instant, and the one after it.
func powerOf(signal power.Signal, draw int64, now protocol.Instant) *api.Power {
	limit, until := signal.At(now)
	told := &api.Power{Draw: draw, Budget: budgetTold(limit)}
	if until != power.End {
		next, _ := signal.At(until)
		told.Until, told.Next = until, budgetTold(next)
	}
	return told
}

// budgetTold is a budget as the API tells it: 0 is none, so that nothing is 1 mW.
func budgetTold(limit int64) int64 {
	if limit == power.Unlimited {
		return 0
	}
	return max(1, limit)
}
