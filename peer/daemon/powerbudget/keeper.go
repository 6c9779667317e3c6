package powerbudget

import (
	"cmp"
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
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Keeper keeps the power budget of the batch system: it is made anew as time goes
// by, as the feeds have news, and when the configuration is read again. The feeds are
// asked while mu is free, so nobody waits for a slow one who does not need its answer.
type Keeper struct {
	log    *slog.Logger
	prices *pricefeed.Watch // nil: the site has none
	news   chan struct{}    // gets one when the prices may be others
	path   string           // where told is kept; empty: nowhere

	made atomic.Pointer[engine.Budget] // in force; set under mu

	mu     sync.Mutex
	cfg    *config.Config            // in force
	series *pricefeed.Source         // of budgets; nil: there is none
	told   tellings                  // what the feeds told last
	wrong  troubles                  // with the feeds, when they were asked last
	logged string                    // of that; empty: nothing is wrong
	opened protocol.Instant          // when the peer began to ask
	cpus   int                       // of the machine; 0: not known yet
	take   func(engine.Budget) error // changes that of the batch system; nil: it has none that can change
}

// The time for which a budget is made: whole days, so that it stays the same for a day if
// nothing else changes.
const (
	budgetPast  = protocol.Day
	budgetAhead = 15 * protocol.Day
)

// How long the feeds may take to answer for a budget: usually, and when the peer starts
// and still knows what they told before.
const (
	budgetPatience = 30 * time.Second
	startPatience  = 2 * time.Second
)

// Config is what a keeper begins with.
type Config struct {
	Site   *config.Config   // in force first
	Prices *pricefeed.Watch // nil: the site has none
	CPUs   int              // of the machine; 0: not known yet
	Log    *slog.Logger
}

// New makes the keeper of a site's budget. If [power.series] names a feed, it needs this by
// [Keeper.SetSeries] before [Keeper.Start].
func New(cfg Config) *Keeper {
	k := &Keeper{
		log: cfg.Log, prices: cfg.Prices, news: make(chan struct{}, 1), path: toldPath(cfg.Site), cfg: cfg.Site,
		opened: protocol.InstantOf(time.Now()), cpus: cfg.CPUs,
	}
	k.made.Store(&engine.Budget{})
	if k.prices != nil {
		k.prices.OnAhead(k.Wake)
	}
	return k
}

// Start makes the first budget: by what the feeds tell, or told before the peer stopped.
func (k *Keeper) Start(ctx context.Context) error {
	kept, err := keptTellings(k.path)
	if err != nil {
		k.log.Warn("power_budget_forgotten", "why", err)
	}
	k.told = kept.of(k.cfg)
	k.forgetDoubtful()
	if err = k.told.checkFirst(ctx, k.cfg); err != nil {
		return err
	}
	patience := startPatience
	if len(k.stale(k.cfg, protocol.InstantOf(time.Now()))) > 0 {
		patience = budgetPatience
	}
	return k.ask(ctx, patience)
}

// Run makes the budget anew when the feeds may know more, and once an hour at least.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(k.pause()):
		case <-k.news:
		}
		if err := k.renew(ctx); err != nil && ctx.Err() == nil {
			k.log.Error("power_budget_not_renewed", "error", err)
		}
	}
}

// retry is how soon feeds in trouble are asked again.
const retry = time.Minute

// pause is how long the feeds are not asked when there are no news.
func (k *Keeper) pause() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	pause := min(time.Hour, k.cfg.Prices.Refresh.Std())
	if k.logged != "" {
		return min(pause, retry)
	}
	for _, one := range k.feeds(k.cfg) { // that the last hour has passed is told at once
		pause = min(pause, max(0, one.told.end().Sub(protocol.InstantOf(time.Now())).Std()))
	}
	return pause
}

// SetSeries has another feed of budgets be asked from now on.
func (k *Keeper) SetSeries(from pricefeed.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.series = &from
}

// asked is the feed of budgets that is asked now; nil: there is none.
func (k *Keeper) asked() *pricefeed.Source {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.series
}

// Wake has the budget made anew soon.
func (k *Keeper) Wake() {
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// Attach has the batch system hear of every change from now on.
func (k *Keeper) Attach(take func(engine.Budget) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.take = take
}

// Current is the budget in force.
func (k *Keeper) Current() engine.Budget { return *k.made.Load() }

// renew makes the budget anew by what the feeds tell now.
func (k *Keeper) renew(ctx context.Context) error { return k.ask(ctx, budgetPatience) }

// ask is renew with feeds that have so much time to answer.
func (k *Keeper) ask(ctx context.Context, patience time.Duration) error {
	now := protocol.InstantOf(time.Now())
	told := k.look(ctx, k.inForce(), now, patience)
	if ctx.Err() != nil {
		return ctx.Err() // the peer stops; the feeds are not to blame
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.learn(k.cfg, told, now)
	return k.adopt(k.cfg)
}

// inForce is the configuration in force.
func (k *Keeper) inForce() *config.Config {
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
	case k.take == nil:
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

// Change puts the budget of a configuration in force. It waits for the feed of prices only
// if the budget did not go by prices before.
func (k *Keeper) Change(ctx context.Context, next *config.Config) error {
	now := protocol.InstantOf(time.Now())
	first := next.Power.Price != 0 && k.inForce().Power.Price == 0
	var told answers
	if first {
		told = k.look(ctx, next, now, budgetPatience)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if first {
		k.learn(next, told, now)
	}
	if err := k.adopt(next); err != nil {
		return err
	}
	k.cfg = next
	k.Wake() // files may have been mended
	return nil
}

// adopt makes the budget of a configuration and has the batch system take it if it is
// another from now on.
func (k *Keeper) adopt(cfg *config.Config) error {
	now := protocol.InstantOf(time.Now())
	made, err := k.make(cfg, now)
	if err != nil || sameFrom(now, made, k.Current()) {
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

// make is the budget of a configuration by what the feeds told; empty without one.
func (k *Keeper) make(cfg *config.Config, now protocol.Instant) (engine.Budget, error) {
	if !cfg.Power.Budgeted() {
		return engine.Budget{}, nil
	}
	rules, err := cfg.BudgetRules()
	if err != nil {
		return engine.Budget{}, err
	}
	from, until := around(now)
	return cfg.Power.Within(rules.Signal(k.told.known(cfg, from, until), from, until)), nil
}

// around is the time for which a budget is made.
func around(now protocol.Instant) (from, until protocol.Instant) {
	today := now - now%protocol.Instant(protocol.Day)
	return today.Add(-budgetPast), today.Add(budgetAhead)
}

// answer is what a feed tells now.
type answer struct {
	told *telling // nil: nothing
	err  error    // what is wrong with the feed, which may tell something all the same
}

// after is what a feed told last, after this answer. What it does not tell while something
// is wrong with it stays as it told it before, and so does all when it tells only hours that
// have passed: nobody knows from these that a budget was lifted.
func (a answer) after(before *telling, now protocol.Instant) *telling {
	switch {
	case a.told == nil, !a.told.ahead(now) && before.end() >= a.told.end():
		return before
	case a.err == nil:
		return a.told
	}
	return a.told.over(before, now)
}

// answers are those of the feeds.
type answers struct{ prices, series answer }

// look asks the feeds that the budget of a configuration goes by.
func (k *Keeper) look(ctx context.Context, cfg *config.Config, now protocol.Instant, patience time.Duration) (a answers) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	from, until := around(now)
	if k.prices != nil && cfg.Power.Price != 0 {
		query := price.Query{Area: cfg.Prices.Area, From: from, Until: until}
		a.prices = k.lookAtPrices(ctx, pricefeed.Prices(cfg).Origin, query)
	}
	if series := k.asked(); series != nil {
		query := price.Query{Area: cfg.Power.Series.Area, From: from, Until: until}
		a.series = k.lookAtSeries(ctx, series, pricefeed.Series(cfg).Origin, query)
	}
	return a
}

func (k *Keeper) lookAtPrices(ctx context.Context, from pricefeed.Origin, query price.Query) (a answer) {
	result, err := k.prices.Ask(ctx, query)
	switch {
	case err != nil:
		a.err = fmt.Errorf("[prices]: %w", err)
		return a
	case result.Trouble != "":
		a.err = errors.New("[prices]: " + result.Trouble)
	}
	a.told = tellingFrom(from, result.Prices)
	return a
}

func (k *Keeper) lookAtSeries(ctx context.Context, series *pricefeed.Source, from pricefeed.Origin, query price.Query) (a answer) {
	trouble := series.Refresh(ctx)
	told, err := series.Feed.Prices(ctx, query)
	if err == nil {
		err = told.Check(query)
	}
	if err == nil {
		err = k.doubt(told)
	}
	if err == nil {
		a.told = tellingFrom(from, told)
	}
	if err = cmp.Or(trouble, err); err != nil {
		a.err = fmt.Errorf("[power.series]: %w", err)
	}
	return a
}

// learn takes over what the feeds tell, and keeps it for the next start.
func (k *Keeper) learn(cfg *config.Config, a answers, now protocol.Instant) {
	before := k.told
	k.told = tellings{Prices: a.prices.after(before.Prices, now), Series: a.series.after(before.Series, now)}
	if k.path != "" && !k.told.same(before) {
		if err := k.told.keep(k.path); err != nil {
			k.log.Error("power_budget_not_kept", "error", err)
		}
	}
	k.wrong = troubles{a.prices.err, a.series.err}
	k.report(cfg, now)
}
