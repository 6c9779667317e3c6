package reproduce

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// area is the prices of a place from some local midnight on, and what was known of them
// on each day.
type area struct {
	currency string
	paid     price.Series

	mu   sync.Mutex
	days map[string][]price.Forecast // by the forecast
}

// lookahead is how far sites look ahead from the beginning of a day: a peer asks for
// seven days.
const lookahead = 9 * protocol.Day

// newArea takes prices of a day or more.
func newArea(paid price.Series, currency string) (*area, error) {
	if span := paid.Slots[len(paid.Slots)-1].End().Sub(paid.Slots[0].Start); span < protocol.Day {
		return nil, fmt.Errorf("prices: they span %v; a day is the least", span)
	}
	return &area{currency: currency, paid: paid, days: map[string][]price.Forecast{}}, nil
}

// outlook is what is known on each day with a forecast, see [Options.Forecast]; with
// [priceforecast.Known] it is the same on all days. It is worked out once.
func (a *area) outlook(name string) ([]price.Forecast, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if days, ok := a.days[name]; ok {
		return days, nil
	}
	days, err := a.look(name)
	a.days[name] = days
	return days, err
}

// look works out what was known when: prices are published by local midnight for the day
// that begins, and forecast beyond.
func (a *area) look(name string) ([]price.Forecast, error) {
	first, last := a.paid.Slots[0].Start, a.paid.Slots[len(a.paid.Slots)-1].End()
	o := priceforecast.Options{Zone: time.UTC}
	if name == priceforecast.Known {
		o.Forecaster = forecast.NewAuto() // of what is after the end
		whole, err := priceforecast.Of(a.paid, math.MaxInt64, first, last.Add(lookahead), o)
		whole.Currency = a.currency
		return []price.Forecast{whole}, err
	}
	curve, err := forecast.NewCurve(a.paid, o.Zone)
	if err != nil {
		return nil, err
	}
	if o.Forecaster, err = forecasterOf(name, curve.Past()); err != nil {
		return nil, err
	}
	var days []price.Forecast
	for at := first; at.Add(protocol.Day) <= last; at = at.Add(protocol.Day) {
		known, err := priceforecast.Of(a.paid, at.Add(protocol.Day), at, at.Add(lookahead), o)
		if err != nil {
			return nil, fmt.Errorf("day %d: %w", len(days), err)
		}
		known.Currency = a.currency
		days = append(days, known)
	}
	return days, nil
}

// on is what is known on a day of those from the first midnight with prices on. Before it,
// when only history runs, and after the last day with prices, it is what is known at the
// first and on the last.
func on(days []price.Forecast, day int) price.Forecast { return days[min(max(day, 0), len(days)-1)] }

// ahead answers a site whose first local midnight with prices is start.
func ahead(days []price.Forecast, start protocol.Instant) func(price.Query) (price.Forecast, error) {
	return func(query price.Query) (price.Forecast, error) {
		known := on(days, int(query.From.Sub(start)/protocol.Day))
		known.Prices, known.TwoPrice = known.Prices.Later(start), known.TwoPrice.Later(start)
		known.PublishedUntil = known.PublishedUntil.Add(protocol.Duration(start))
		return known, nil
	}
}

// positive is the series with its negative prices at 0, which bound what a schedule can
// cost.
func positive(s price.Series) price.Series {
	slots := make([]price.Slot, len(s.Slots))
	for i, slot := range s.Slots {
		slots[i] = slot
		slots[i].Price = max(slot.Price, 0)
	}
	return price.Series{Slots: slots}
}
