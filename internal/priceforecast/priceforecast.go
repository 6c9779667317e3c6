package priceforecast

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Options say how one looks ahead.
type Options struct {
	Zone       *time.Location      // of the site: when its days begin
	Forecaster forecast.Forecaster // of prices that are not published yet
}

// Of looks ahead from now until an instant. Of the series, the prices of an area, those
// slots are published that end by known; forecasts fill in wherever none is. Besides it
// gives the two prices of [MC 5] for the same time. The currency is the caller's to say.
// The errors are those of [forecast.Extend]: [forecast.ErrNoPrice] when nothing is
// published.
func Of(series price.Series, known, now, until protocol.Instant, o Options) (price.Forecast, error) {
	published := price.Series{Slots: series.Slots[:publishedSlots(series.Slots, known)]}
	prices, err := forecast.Extend(published, o.Zone, o.Forecaster, now, until)
	if err != nil {
		return price.Forecast{}, fmt.Errorf("look ahead: %w", err)
	}
	return price.Forecast{
		Prices:         prices,
		TwoPrice:       twoPrices(published.Slots, now, until, o.Zone),
		PublishedUntil: published.Slots[len(published.Slots)-1].End(),
	}, nil
}

// publishedSlots is how many slots end by an instant.
func publishedSlots(slots []price.Slot, known protocol.Instant) int {
	n, _ := slices.BinarySearchFunc(slots, known, func(slot price.Slot, known protocol.Instant) int {
		if slot.End() <= known {
			return -1
		}
		return 1
	})
	return n
}
