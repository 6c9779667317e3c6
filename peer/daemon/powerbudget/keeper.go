package powerbudget

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Keeper keeps the power budget of the batch system. It computes the budget again as time
// passes, as the feeds have news, and when the configuration is read again. Feeds are
// asked while mu is free, so that a slow one delays only those who need its answer.
type Keeper struct {
	log    *slog.Logger
	prices *pricefeed.Watch // nil: the site has none
	news   chan struct{}    // gets one when the prices may be others
	path   string           // of the file of the latest answers; empty: they are not kept

	current atomic.Pointer[engine.Budget] // the active one; set under mu

	mu     sync.Mutex
	cfg    *config.Config            // the active one
	series *pricefeed.Source         // of budgets; nil: there is none
	latest feedAnswers               // of the feeds
	faults feedFaults                // found when the feeds were asked last
	logged string                    // of that; empty: nothing is wrong
	opened protocol.Instant          // when the peer began to ask
	cpus   int                       // of the machine; 0: not known yet
	apply  func(engine.Budget) error // changes that of the batch system; nil: it has none that can change
}

// The time for which a budget is made: whole days, so that it stays the same for a day if
// nothing else changes.
const (
	past  = protocol.Day
	ahead = 15 * protocol.Day
)

// How long the feeds may take to answer for a budget: usually, and when the peer starts
// and still has their latest answers.
const (
	feedTimeout  = 30 * time.Second
	startTimeout = 2 * time.Second
)

// Config is what a keeper begins with.
type Config struct {
	Site   *config.Config   // the first active one
	Prices *pricefeed.Watch // nil: the site has none
	CPUs   int              // of the machine; 0: not known yet
	Log    *slog.Logger
}

// New makes the keeper of a site's budget. If [power.series] names a feed, it needs this by
// [Keeper.SetSeries] before [Keeper.Start].
func New(cfg Config) *Keeper {
	k := &Keeper{
		log: cfg.Log, prices: cfg.Prices, news: make(chan struct{}, 1), path: answersPath(cfg.Site), cfg: cfg.Site,
		opened: protocol.InstantOf(time.Now()), cpus: cfg.CPUs,
	}
	k.current.Store(&engine.Budget{})
	if k.prices != nil {
		k.prices.OnAhead(k.Wake)
	}
	return k
}

// Start makes the first budget: by what the feeds answer, or answered before the peer stopped.
func (k *Keeper) Start(ctx context.Context) error {
	stored, err := loadAnswers(k.path)
	if err != nil {
		k.log.Warn("power_budget_cache_discarded", "why", err)
	}
	k.latest = stored.from(k.cfg)
	k.dropImplausible()
	if err = k.latest.checkFirst(ctx, k.cfg); err != nil {
		return err
	}
	timeout := startTimeout
	if len(k.stale(k.cfg, protocol.InstantOf(time.Now()))) > 0 {
		timeout = feedTimeout
	}
	return k.renewWithin(ctx, timeout)
}

// Run computes the budget again when the feeds may know more, and once an hour at least.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(k.pause()):
		case <-k.news:
		}
		if err := k.renew(ctx); err != nil && ctx.Err() == nil {
			k.log.Error("power_budget_update_failed", "error", err)
		}
	}
}

// retryInterval is how soon feeds in trouble are asked again.
const retryInterval = time.Minute

// pause is how long the feeds are not asked when there are no news.
func (k *Keeper) pause() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	pause := min(time.Hour, k.cfg.Prices.RefreshInterval.Std())
	if k.logged != "" {
		return min(pause, retryInterval)
	}
	for _, one := range k.feeds(k.cfg) { // the end of the last hour is noticed at once
		pause = min(pause, max(0, one.answer.end().Sub(protocol.InstantOf(time.Now())).Std()))
	}
	return pause
}

// SetSeries has another feed of budgets be asked from now on.
func (k *Keeper) SetSeries(from pricefeed.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.series = &from
}

// seriesSource is the feed of budgets that is asked now; nil: there is none.
func (k *Keeper) seriesSource() *pricefeed.Source {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.series
}

// Wake has the budget computed again soon.
func (k *Keeper) Wake() {
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// Attach has the batch system hear of every change from now on.
func (k *Keeper) Attach(apply func(engine.Budget) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.apply = apply
}

// Current is the active budget.
func (k *Keeper) Current() engine.Budget { return *k.current.Load() }

// renew computes the budget from what the feeds answer now.
func (k *Keeper) renew(ctx context.Context) error { return k.renewWithin(ctx, feedTimeout) }

// renewWithin is renew with feeds that have so much time to answer.
func (k *Keeper) renewWithin(ctx context.Context, timeout time.Duration) error {
	now := protocol.InstantOf(time.Now())
	found := k.askFeeds(ctx, k.active(), now, timeout)
	if ctx.Err() != nil {
		return ctx.Err() // the peer stops; the feeds are not to blame
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keepAnswers(k.cfg, found, now)
	return k.activate(k.cfg)
}

// active is the active configuration.
func (k *Keeper) active() *config.Config {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cfg
}

// CheckChange says why the budget of a configuration cannot take the place of the present
// one while the peer runs.
func (k *Keeper) CheckChange(next *config.Config) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case !next.Power.Budgeted():
		return nil
	case next.Power.WattsPerCPU == 0:
		return errors.New("[power] budget_kw needs watts_per_cpu, which can change only when the peer is started again")
	case next.Power.Price != 0 && next.Prices.Area == "":
		return errors.New("[power] price needs [prices], which can change only when the peer is started again")
	case k.apply == nil:
		return errors.New("[power] budget_kw: this batch system began without a power budget; start the peer again to give it one")
	case next.Power.IdleWattsPerCPU > next.Power.WattsPerCPU:
		return fmt.Errorf("[power] idle_watts_per_cpu = %s is more than watts_per_cpu, which is %s until the peer is started again",
			next.Power.IdleWattsPerCPU.TOML(), next.Power.WattsPerCPU.TOML())
	}
	if err := next.Power.Within(power.Signal{}).Check(); err != nil {
		return fmt.Errorf("[power]: %w", err)
	}
	return nil
}

// Change applies the budget of a configuration. It waits for the feed of prices only
// if the budget did not go by prices before.
func (k *Keeper) Change(ctx context.Context, next *config.Config) error {
	now := protocol.InstantOf(time.Now())
	first := next.Power.Price != 0 && k.active().Power.Price == 0
	var found replies
	if first {
		found = k.askFeeds(ctx, next, now, feedTimeout)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if first {
		k.keepAnswers(next, found, now)
	}
	if err := k.activate(next); err != nil {
		return err
	}
	k.cfg = next
	k.Wake() // files may have been fixed
	return nil
}

// activate computes the budget of a configuration and has the batch system take it if it is
// another from now on.
func (k *Keeper) activate(cfg *config.Config) error {
	now := protocol.InstantOf(time.Now())
	made, err := k.make(cfg, now)
	if err != nil || sameFrom(now, made, k.Current()) {
		return err
	}
	if k.apply != nil {
		if err = k.apply(made); err != nil {
			return fmt.Errorf("give the batch system another power budget: %w", err)
		}
	}
	k.current.Store(&made)
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

// make is the budget of a configuration by the latest answers of the feeds; empty without one.
func (k *Keeper) make(cfg *config.Config, now protocol.Instant) (engine.Budget, error) {
	if !cfg.Power.Budgeted() {
		return engine.Budget{}, nil
	}
	rules, err := cfg.BudgetRules()
	if err != nil {
		return engine.Budget{}, err
	}
	from, until := around(now)
	return cfg.Power.Within(rules.Signal(k.latest.known(cfg, from, until), from, until)), nil
}

// around is the time for which a budget is made.
func around(now protocol.Instant) (from, until protocol.Instant) {
	today := now - now%protocol.Instant(protocol.Day)
	return today.Add(-past), today.Add(ahead)
}
