package reproduce

import (
	"fmt"
	"math"
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
	days     []price.Forecast // what is known throughout each day, with forecasts beyond
	oracle   price.Forecast   // what is known by who knows all
}

// lookahead is how far sites look ahead from the beginning of a day: a peer asks for
// seven days.
const lookahead = 9 * protocol.Day

// newArea works out what was known when: prices are published by local midnight for the
// day that begins, and forecast beyond.
func newArea(paid price.Series, currency string, f forecast.Forecaster) (*area, error) {
	a := &area{currency: currency, paid: paid}
	o := priceforecast.Options{Zone: time.UTC, Forecaster: f}
	last := paid.Slots[len(paid.Slots)-1].End()
	for at := paid.Slots[0].Start; at.Add(protocol.Day) <= last; at = at.Add(protocol.Day) {
		known, err := priceforecast.Of(paid, at.Add(protocol.Day), at, at.Add(lookahead), o)
		if err != nil {
			return nil, fmt.Errorf("day %d: %w", len(a.days), err)
		}
		known.Currency = currency
		a.days = append(a.days, known)
	}
	if len(a.days) == 0 {
		return nil, fmt.Errorf("prices: they span %v; a day is the least", last.Sub(paid.Slots[0].Start))
	}
	var err error
	a.oracle, err = priceforecast.Of(paid, math.MaxInt64, paid.Slots[0].Start, last.Add(lookahead), o)
	a.oracle.Currency = currency
	return a, err
}

// ahead answers a site whose first local midnight with prices is start. Before it, when
// only history runs, and after the last day with prices, it tells what is known at the
// first and on the last.
func (a *area) ahead(start protocol.Instant, oracle bool) func(price.Query) (price.Forecast, error) {
	return func(query price.Query) (price.Forecast, error) {
		known := a.oracle
		if !oracle {
			day := int(query.From.Sub(start) / protocol.Day)
			known = a.days[min(max(day, 0), len(a.days)-1)]
		}
		known.Prices, known.TwoPrice = known.Prices.Later(start), known.TwoPrice.Later(start)
		known.Known = known.Known.Add(protocol.Duration(start))
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
