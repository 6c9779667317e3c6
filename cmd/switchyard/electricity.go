package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
	_ "time/tzdata" // sites name their time zones, on machines that may know none

	"github.com/switchyard-hpc/switchyard/internal/outlook"
	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
)

// openPrices makes what answers the peer's questions about the prices of electricity;
// nil: the site has none. Whatever is wrong with the prices themselves is told when they
// are asked for, and never keeps the peer from scheduling.
func (p *peerProcess) openPrices() (node.Prices, error) {
	cfg := p.cfg.Prices
	if cfg.Area == "" {
		return nil, nil //nolint:nilnil // documented
	}
	live, err := outlookOf(cfg)
	if err != nil {
		return nil, fmt.Errorf("[prices] %w", err)
	}
	w := &priceWatch{live: live}
	if table := p.cfg.Plugin(config.PriceKind, cfg.Feed); table != nil {
		err = p.followPlugin(w, table)
	} else {
		err = p.followBuiltIn(w)
	}
	if err != nil {
		return nil, err
	}
	p.meter.WatchPrices(w.known)
	return w, nil
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

func (p *peerProcess) followBuiltIn(w *priceWatch) error {
	feed, err := openFeed(p.cfg.Prices, p.log)
	if err != nil {
		return err
	}
	w.live.Feed = feed
	w.refresh = func(context.Context) error { return feed.Refresh() }
	return nil
}

// openFeed opens the built-in feed that a configuration names.
func openFeed(cfg config.Prices, log *slog.Logger) (feeds.Feed, error) {
	path := string(cfg.Config)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("[prices] config: %w", err)
	}
	feed, err := feeds.Open(cfg.Feed, path, filepath.Dir(path), string(text), log)
	if err != nil {
		return nil, err // it names the file, the lines and the keys
	}
	return feed, nil
}

// checkFeed says what is wrong with the configuration of a built-in feed.
func checkFeed(cfg *config.Config) error {
	if cfg.Prices.Config == "" {
		return nil
	}
	_, err := openFeed(cfg.Prices, slog.New(slog.DiscardHandler))
	return err
}

// followPlugin starts a plugin. One that is not up yet is waited for with the first
// question.
func (p *peerProcess) followPlugin(w *priceWatch, table *config.Plugin) error {
	started, err := p.plugin(table)
	if err != nil {
		return err
	}
	w.live.Feed = started.Feed()
	w.refresh = started.Wait
	return nil
}

// priceWatch asks a feed for the peer, and remembers for monitoring how that went.
type priceWatch struct {
	live    outlook.Live
	refresh func(context.Context) error // has the feed look at its sources; the error is what is wrong with them
	seen    atomic.Pointer[priceSight]  // nil: nothing was asked yet
}

// priceSight is how the last question went.
type priceSight struct {
	published time.Time // when the published prices end; zero: none were ever known
	up        bool
}

// Ahead implements [node.Prices]. When the feed's sources have gone wrong, what they said
// before goes on to serve, forecasts included, and people are told of the trouble.
func (w *priceWatch) Ahead(ctx context.Context, op peer.PriceOp) (peer.PriceResult, error) {
	published, _ := w.known()
	trouble := w.refresh(ctx)
	result, err := w.live.Ahead(ctx, op)
	if err != nil {
		w.seen.Store(&priceSight{published: published})
		return peer.PriceResult{}, errors.Join(trouble, err)
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
