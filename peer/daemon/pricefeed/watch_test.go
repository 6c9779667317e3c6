package pricefeed_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// flatFeed knows one price.
type flatFeed struct{ err error }

func (flatFeed) Describe(context.Context) (price.Description, error) {
	return price.Description{Areas: []string{"here"}, Currency: "EUR"}, nil
}

func (f flatFeed) Prices(_ context.Context, query price.Query) (price.Series, error) {
	hour := query.From - query.From%protocol.Instant(protocol.Hour)
	return price.Series{Slots: []price.Slot{{Start: hour, Length: protocol.Hour, Price: protocol.Unit}}}, f.err
}

// What is wrong with a feed's sources is told beside the prices that it goes on with, and
// monitoring sees it at once.
func TestWatch(t *testing.T) {
	t.Parallel()
	w, err := pricefeed.NewWatch(config.Default().Prices)
	if err != nil {
		t.Fatal(err)
	}
	now := protocol.InstantOf(time.Now())
	query := price.Query{Area: "here", From: now, Until: now.Add(protocol.Day)}
	bad, closed := errors.New("x.csv:3: no number"), errors.New("closed")
	for i, step := range []struct {
		feed, wrong, want error
		up, known         bool
	}{
		{feed: closed, want: closed},
		{wrong: bad, known: true}, // one of several files
		{feed: closed, wrong: bad, want: bad, known: true},
		{up: true, known: true},
		{feed: closed, want: closed, known: true},
	} {
		w.SetSource(pricefeed.Source{Feed: flatFeed{step.feed}, Refresh: func(context.Context) error { return step.wrong }})
		result, err := w.Ahead(t.Context(), query)
		if !errors.Is(err, step.want) || (err == nil) == (len(result.Prices.Slots) == 0) {
			t.Errorf("step %d: %+v, %v", i, result, err)
		}
		if last := w.Last(); (last != nil) != step.known || err == nil && !reflect.DeepEqual(*last, result) || err != nil && last != nil && last.StaleReason != err.Error() {
			t.Errorf("step %d: kept %+v", i, last)
		}
		if reported := result.StaleReason != ""; reported != (step.wrong != nil && step.want == nil) {
			t.Errorf("step %d: trouble %q", i, result.StaleReason)
		}
		if published, up := w.Known(); up != step.up || published.IsZero() == step.known {
			t.Errorf("step %d: up %v, known until %v", i, up, published)
		}
	}
}

// replacedFeed is replaced while it is asked.
type replacedFeed struct {
	flatFeed
	replace func()
}

func (f replacedFeed) Prices(ctx context.Context, query price.Query) (price.Series, error) {
	f.replace()
	series, err := f.flatFeed.Prices(ctx, query)
	series.Slots[0].Price *= 9
	return series, err
}

// TestReplacedWhileAsked: no answer of a previous feed comes after a reload.
func TestReplacedWhileAsked(t *testing.T) {
	t.Parallel()
	w, err := pricefeed.NewWatch(config.Default().Prices)
	if err != nil {
		t.Fatal(err)
	}
	fine := func(context.Context) error { return nil }
	replace := func() { w.SetSource(pricefeed.Source{Feed: flatFeed{}, Refresh: fine}) }
	w.SetSource(pricefeed.Source{Feed: replacedFeed{replace: replace}, Refresh: fine})
	now := protocol.InstantOf(time.Now())
	result, err := w.Ahead(t.Context(), price.Query{Area: "here", From: now, Until: now.Add(protocol.Day)})
	if err != nil || len(result.Prices.Slots) == 0 || result.Prices.Slots[0].Price != protocol.Unit {
		t.Errorf("%+v, %v, want a price of 1", result.Prices, err)
	}
}

// A configuration that names no time zone or forecast that there is makes no watch.
func TestNewWatchIsStrict(t *testing.T) {
	t.Parallel()
	zone, method := config.Default().Prices, config.Default().Prices
	zone.TimeZone, method.Forecast = "Nowhere/Land", "crystal ball"
	for _, cfg := range []config.Prices{zone, method} {
		if _, err := pricefeed.NewWatch(cfg); err == nil {
			t.Errorf("%+v makes a watch", cfg)
		}
	}
}
