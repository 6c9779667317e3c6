package powerbudget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// reply is what a feed answers now.
type reply struct {
	answer *feedAnswer // nil: nothing
	err    error       // what is wrong with the feed, which may tell something all the same
}

// after is the latest answer of a feed after this reply. Hours that are missing while something
// is wrong with the feed stay as it answered before, and so does all when it answers only hours
// that have passed: these do not show whether a budget was lifted.
func (r reply) after(before *feedAnswer, now protocol.Instant) *feedAnswer {
	switch {
	case r.answer == nil, !r.answer.ahead(now) && before.end() >= r.answer.end():
		return before
	case r.err == nil:
		return r.answer
	}
	return r.answer.over(before, now)
}

// replies are those of the feeds.
type replies struct{ prices, series reply }

// askFeeds asks the feeds that the budget of a configuration goes by.
func (k *Keeper) askFeeds(ctx context.Context, cfg *config.Config, now protocol.Instant, timeout time.Duration) (r replies) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	from, until := around(now)
	if k.prices != nil && cfg.Power.Price != 0 {
		query := price.Query{Area: cfg.Prices.Area, From: from, Until: until}
		r.prices = k.askPrices(ctx, pricefeed.Prices(cfg).Origin, query)
	}
	if series := k.seriesSource(); series != nil {
		query := price.Query{Area: cfg.Power.Series.Area, From: from, Until: until}
		r.series = k.askSeries(ctx, series, pricefeed.Series(cfg).Origin, query)
	}
	return r
}

func (k *Keeper) askPrices(ctx context.Context, from pricefeed.Origin, query price.Query) (r reply) {
	result, err := k.prices.Ask(ctx, query)
	switch {
	case err != nil:
		r.err = fmt.Errorf("[prices]: %w", err)
		return r
	case result.StaleReason != "":
		r.err = errors.New("[prices]: " + result.StaleReason)
	}
	r.answer = answerOf(from, result.Prices)
	return r
}

func (k *Keeper) askSeries(ctx context.Context, series *pricefeed.Source, from pricefeed.Origin, query price.Query) (r reply) {
	trouble := series.Refresh(ctx)
	answer, err := series.Feed.Prices(ctx, query)
	if err == nil {
		err = answer.Check(query)
	}
	if err == nil {
		err = k.checkPlausible(answer)
	}
	if err == nil {
		r.answer = answerOf(from, answer)
	}
	if err = cmp.Or(trouble, err); err != nil {
		r.err = fmt.Errorf("[power.series]: %w", err)
	}
	return r
}

// keepAnswers makes what the feeds have answered the latest answers, also for the next start.
func (k *Keeper) keepAnswers(cfg *config.Config, found replies, now protocol.Instant) {
	before := k.latest
	k.latest = feedAnswers{Prices: found.prices.after(before.Prices, now), Series: found.series.after(before.Series, now)}
	if k.path != "" && !k.latest.same(before) {
		if err := k.latest.save(k.path); err != nil {
			k.log.Error("power_budget_cache_save_failed", "error", err)
		}
	}
	k.faults = feedFaults{found.prices.err, found.series.err}
	k.report(cfg, now)
}
