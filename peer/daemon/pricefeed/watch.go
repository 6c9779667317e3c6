package pricefeed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // sites name their time zones, on machines that may know none

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
)

// Watch asks a feed for the peer, and remembers for monitoring how that went. It needs a
// source ([Watch.SetSource]) before the first question.
type Watch struct {
	seen  atomic.Pointer[lastAnswer]     // nil: nothing was asked yet
	ahead atomic.Pointer[price.Forecast] // nil: there was none; see [Watch.Last]
	news  func()                         // is called when the peer has asked; nil: nothing is

	mu     sync.Mutex
	source asked
}

// asked is what is asked.
type asked struct {
	live    priceforecast.Live
	refresh func(context.Context) error // has the feed look at its sources; the error is what is wrong with them
	nth     int                         // how often it has been replaced
}

// lastAnswer is how the last question went.
type lastAnswer struct {
	published time.Time // when the published prices end; zero: none were ever known
	up        bool
}

// NewWatch makes what looks ahead as a configuration says. The feed is still to come.
func NewWatch(cfg config.Prices) (*Watch, error) {
	zone, err := feeds.ParseZone(cfg.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("time_zone: %w", err)
	}
	forecaster, err := forecast.Named(cfg.Forecast)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	return &Watch{source: asked{live: priceforecast.Live{
		Options: priceforecast.Options{Zone: zone.Location, Forecaster: forecaster}, History: cfg.History,
	}}}, nil
}

// SetSource has another feed be asked from now on.
func (w *Watch) SetSource(from Source) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.source.live.Feed, w.source.refresh = from.Feed, from.Refresh
	w.source.nth++
}

// OnAhead has news be called after each answer of [Watch.Ahead], when the published prices
// may be others. It must be set before the first question.
func (w *Watch) OnAhead(news func()) { w.news = news }

// now is what is asked now.
func (w *Watch) now() asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.source
}

// Ahead implements [node.Prices]. When the feed's sources have gone wrong, what they said
// before goes on to serve, forecasts included, and the answer names the trouble.
func (w *Watch) Ahead(ctx context.Context, query price.Query) (price.Forecast, error) {
	result, err := w.Ask(ctx, query)
	if err != nil {
		if last := w.Last(); last != nil {
			old := *last
			old.StaleReason = err.Error()
			w.ahead.Store(&old)
		}
		return result, err
	}
	w.ahead.Store(&result)
	if w.news != nil {
		w.news()
	}
	return result, nil
}

// Last is the last answer of [Watch.Ahead], with the error of a later question as why it is old. It must not be changed; nil: there was
// none.
func (w *Watch) Last() *price.Forecast { return w.ahead.Load() }

// Ask is Ahead for those who act on the answer themselves.
func (w *Watch) Ask(ctx context.Context, query price.Query) (price.Forecast, error) {
	published, _ := w.Known()
	from := w.now()
	trouble := from.refresh(ctx)
	result, err := from.live.Ahead(ctx, query)
	if w.now().nth != from.nth { // this answer may come after that of the new feed
		return w.Ask(ctx, query)
	}
	if err != nil {
		w.seen.Store(&lastAnswer{published: published})
		return price.Forecast{}, errors.Join(trouble, err)
	}
	if trouble != nil {
		result.StaleReason = trouble.Error()
	}
	w.seen.Store(&lastAnswer{published: result.PublishedUntil.Time(), up: trouble == nil})
	return result, nil
}

// Known says when the published prices end, and whether the feed answered last. The time is
// zero as long as none were ever known.
func (w *Watch) Known() (published time.Time, up bool) {
	if seen := w.seen.Load(); seen != nil {
		return seen.published, seen.up
	}
	return time.Time{}, false
}
