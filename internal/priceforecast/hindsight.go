package priceforecast

import (
	"math"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Known is what configurations call the forecast of an oracle.
const Known = "known"

// Hindsight has all prices of an area, past and to come, and tells of each day what one
// could know on it: a day's prices are published by its local midnight (day-ahead), and
// forecasts go on from its end. It keeps what it has worked out for a day, and may be
// asked by several goroutines at once.
type Hindsight struct {
	series   price.Series
	currency string
	options  Options
	oracle   bool

	mu      sync.Mutex
	answers map[outing]price.Forecast
}

// outing is a day and how far one looks ahead on it.
type outing struct {
	day   protocol.Instant
	until protocol.Instant
}

// NewHindsight returns one for a series in a currency. An oracle tells all prices of
// the series ahead, as one knows those of a contract, and forecasts only what is after
// its end.
func NewHindsight(series price.Series, currency string, o Options, oracle bool) *Hindsight {
	return &Hindsight{series: series, currency: currency, options: o, oracle: oracle, answers: map[outing]price.Forecast{}}
}

// Series are the prices of the area.
func (h *Hindsight) Series() price.Series { return h.series }

// Ahead answers as on the day of query.From. The prices begin at that day's start. The
// errors are those of [Of]: on a day before the first price nothing is known.
func (h *Hindsight) Ahead(query price.Query) (price.Forecast, error) {
	today, tomorrow := dayOf(query.From, h.options.Zone)
	asked := outing{today, tomorrow.Add(query.Until.Sub(query.From))}
	known := tomorrow
	if h.oracle {
		known = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if forecast, ok := h.answers[asked]; ok {
		return forecast, nil
	}
	forecast, err := Of(h.series, known, asked.day, asked.until, h.options)
	if err != nil {
		return forecast, err
	}
	forecast.Currency = h.currency
	h.answers[asked] = forecast
	return forecast, nil
}

// Since answers questions that are asked on another clock, which began to count from 0
// at an instant, as that of a simulation does.
func (h *Hindsight) Since(start protocol.Instant) func(price.Query) (price.Forecast, error) {
	return func(query price.Query) (price.Forecast, error) {
		query.From, query.Until = query.From+start, query.Until+start
		forecast, err := h.Ahead(query)
		if err != nil {
			return forecast, err
		}
		forecast.Prices, forecast.TwoPrice = Since(forecast.Prices, start), Since(forecast.TwoPrice, start)
		forecast.PublishedUntil -= start
		return forecast, nil
	}
}

// Since is a series on the clock that began to count from 0 at an instant.
func Since(s price.Series, start protocol.Instant) price.Series {
	slots := make([]price.Slot, len(s.Slots))
	for i, slot := range s.Slots {
		slots[i] = slot
		slots[i].Start -= start
	}
	return price.Series{Slots: slots}
}

// dayOf is the start of the day that an instant is on by the clock of a zone, and the
// start of the next.
func dayOf(at protocol.Instant, zone *time.Location) (today, tomorrow protocol.Instant) {
	year, month, day := at.Time().In(zone).Date()
	return protocol.InstantOf(time.Date(year, month, day, 0, 0, 0, 0, zone)),
		protocol.InstantOf(time.Date(year, month, day+1, 0, 0, 0, 0, zone))
}
