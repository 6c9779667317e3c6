package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // sites name their time zones, on machines that may know none

	"github.com/switchyard-hpc/switchyard/internal/outlook"
	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
)

// source is a feed and how it looks at what it tells.
type source struct {
	feed    price.Feed
	refresh func(context.Context) error // has it look anew; the error is what is wrong with its sources
}

// openSource makes the feed that a table of the configuration names, and gives it to those who
// ask it: of a built-in feed again after a reload, when its own configuration has changed.
func (p *peerProcess) openSource(table, name string, path settings.Path, area string, take func(source)) error {
	if plugin := p.cfg.Plugin(config.PriceKind, name); plugin != nil {
		// One that is not up yet is waited for with the first question.
		started, err := p.plugin(plugin)
		if err == nil {
			take(source{started.Feed(), started.Wait})
		}
		return err
	}
	f := &feedFile{table: table, name: name, path: path, area: area, take: take}
	from, text, err := f.open(p.log)
	if err != nil {
		return err
	}
	f.text = text
	p.feedFiles = append(p.feedFiles, f)
	take(from)
	return nil
}

// openFeed opens the built-in feed of a table of the configuration, for the prices of an
// area.
func openFeed(table, name string, path settings.Path, area string, log *slog.Logger) (feeds.Feed, error) {
	f := feedFile{table: table, name: name, path: path, area: area}
	text, err := f.read()
	if err != nil {
		return nil, err
	}
	return f.parse(text, log)
}

// checkFeeds says what is wrong with the configurations of the built-in feeds, with their sources,
// and with the areas that are asked of them.
func checkFeeds(ctx context.Context, cfg *config.Config) error {
	var errs []error
	if cfg.Prices.Config != "" && cfg.Power.Price == 0 {
		errs = append(errs, budgetFeed{"prices", originOfPrices(cfg)}.checkFor(ctx, "jobs are placed by "))
	}
	for _, feed := range budgetFeeds(cfg) {
		errs = append(errs, feed.check(ctx))
	}
	return errors.Join(errs...)
}

// openPrices makes what answers the questions about the prices of electricity, if the
// site has any. Whatever is wrong with the prices themselves is told when they are asked
// for, and never keeps the peer from scheduling.
func (p *peerProcess) openPrices(context.Context) error {
	cfg := p.cfg.Prices
	if cfg.Area == "" {
		return nil
	}
	live, err := outlookOf(cfg)
	if err != nil {
		return fmt.Errorf("[prices] %w", err)
	}
	watch := &priceWatch{live: live}
	if err = p.openSource("prices", cfg.Feed, cfg.Config, cfg.Area, watch.take); err != nil { //nolint:contextcheck // what it starts runs until it is closed
		return err
	}
	p.prices = watch
	p.meter.WatchPrices(p.prices.known)
	return nil
}

// nodePrices is what the node asks about prices; nil: the site has none.
func (p *peerProcess) nodePrices() node.Prices {
	if p.prices == nil {
		return nil
	}
	return p.prices
}

// outlookOf is how a site looks ahead. The feed is still to come.
func outlookOf(cfg config.Prices) (outlook.Live, error) {
	zone, err := feeds.ParseZone(cfg.TimeZone)
	if err != nil {
		return outlook.Live{}, fmt.Errorf("time_zone: %w", err)
	}
	forecaster, err := forecast.Named(cfg.Forecast)
	if err != nil {
		return outlook.Live{}, fmt.Errorf("forecast: %w", err)
	}
	return outlook.Live{
		Options: outlook.Options{Zone: zone.Location, Forecaster: forecaster}, History: cfg.History,
	}, nil
}

// priceWatch asks a feed for the peer, and remembers for monitoring how that went.
type priceWatch struct {
	seen atomic.Pointer[priceSight] // nil: nothing was asked yet
	news func()                     // is told when the peer has asked; nil: nobody is

	mu      sync.Mutex
	live    outlook.Live
	refresh func(context.Context) error // has the feed look at its sources; the error is what is wrong with them
}

// take has another feed be asked from now on.
func (w *priceWatch) take(from source) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live.Feed, w.refresh = from.feed, from.refresh
}

// asked is what is asked now.
func (w *priceWatch) asked() (outlook.Live, func(context.Context) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.live, w.refresh
}

// priceSight is how the last question went.
type priceSight struct {
	published time.Time // when the published prices end; zero: none were ever known
	up        bool
}

// Ahead implements [node.Prices]. When the feed's sources have gone wrong, what they said
// before goes on to serve, forecasts included, and people are told of the trouble.
func (w *priceWatch) Ahead(ctx context.Context, query price.Query) (price.Forecast, error) {
	result, err := w.ask(ctx, query)
	if err == nil && w.news != nil {
		w.news()
	}
	return result, err
}

func (w *priceWatch) ask(ctx context.Context, query price.Query) (price.Forecast, error) {
	published, _ := w.known()
	live, refresh := w.asked() // one feed, whatever a reload does meanwhile
	trouble := refresh(ctx)
	result, err := live.Ahead(ctx, query)
	if err != nil {
		w.seen.Store(&priceSight{published: published})
		return price.Forecast{}, errors.Join(trouble, err)
	}
	if trouble != nil {
		result.Trouble = trouble.Error()
	}
	w.seen.Store(&priceSight{published: result.Known.Time(), up: trouble == nil})
	return result, nil
}

// known says when the published prices end, and whether the feed answered last.
func (w *priceWatch) known() (published time.Time, up bool) {
	if seen := w.seen.Load(); seen != nil {
		return seen.published, seen.up
	}
	return time.Time{}, false
}
