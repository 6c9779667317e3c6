package priceforecast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Live answers a [price.Query] from what a feed has published.
type Live struct {
	Feed    price.Feed
	Options Options
	History protocol.Duration // how much of the past is asked for
}

// Ahead asks the feed for the recent past and for all that it has published of the time
// wanted, and looks ahead from there. An error says why there are no prices.
func (l Live) Ahead(ctx context.Context, query price.Query) (price.Forecast, error) {
	described, err := l.Feed.Describe(ctx)
	if err != nil {
		return price.Forecast{}, fmt.Errorf("what the feed knows: %w", err)
	}
	wider := price.Query{Area: query.Area, From: query.From.Add(-l.History), Until: query.Until}
	series, err := l.Feed.Prices(ctx, wider)
	switch {
	case errors.Is(err, price.ErrUnknownArea):
		return price.Forecast{}, fmt.Errorf("%w; it knows %s", err, someOf(described.Areas))
	case err != nil:
		return price.Forecast{}, fmt.Errorf("what the feed answers: %w", err)
	}
	if err = series.Check(wider); err != nil {
		return price.Forecast{}, fmt.Errorf("the feed's prices make no sense: %w", err)
	}
	result, err := Of(series, math.MaxInt64, query.From, query.Until, l.Options)
	if errors.Is(err, forecast.ErrNoPrice) {
		return result, fmt.Errorf("the feed knows no price since %s", wider.From.Time().Format("2006-01-02 15:04Z"))
	}
	result.Currency = described.Currency
	return result, err
}

// someOf lists names, of many the first.
func someOf(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
