package contract

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tariff is a contract for one area.
type Tariff struct {
	Area     string
	Currency string         // of the prices, as "EUR"
	Zone     *time.Location // of the clock that the periods mean
	Price    protocol.Micro // per MWh, when no period has one
	Periods  []Period       // the first that holds counts
}

// Period is a time of the week, or of the year, with a price of its own.
type Period struct {
	Months Set // January is 1; empty: all
	Days   Set // Sunday is 0; empty: all
	Hours  []Span
	Price  protocol.Micro // per MWh
}

// Span is a time of the day in minutes since midnight, without its end. One that ends
// before it begins goes on after midnight: each part belongs to the day on which it
// is.
type Span struct{ From, Until int }

// Set is a set of small numbers.
type Set uint16

// Has says whether a number is in the set.
func (s Set) Has(n int) bool { return s&(1<<n) != 0 }

// At is the price per MWh at an instant.
func (t *Tariff) At(at protocol.Instant) protocol.Micro {
	clock := at.Time().In(t.Zone)
	for i := range t.Periods {
		if t.Periods[i].holds(clock) {
			return t.Periods[i].Price
		}
	}
	return t.Price
}

// holds says whether the period has the price of this reading of the clock.
func (p *Period) holds(clock time.Time) bool {
	if p.Months != 0 && !p.Months.Has(int(clock.Month())) || p.Days != 0 && !p.Days.Has(int(clock.Weekday())) {
		return false
	}
	minute := clock.Hour()*60 + clock.Minute()
	for _, span := range p.Hours {
		if span.has(minute) {
			return true
		}
	}
	return len(p.Hours) == 0
}

func (s Span) has(minute int) bool {
	if s.From < s.Until {
		return s.From <= minute && minute < s.Until
	}
	return minute >= s.From || minute < s.Until
}

// Feed returns the tariff as a feed of prices.
func (t *Tariff) Feed() price.Feed { return feed{t} }

type feed struct{ tariff *Tariff }

// Describe implements [price.Feed].
func (f feed) Describe(context.Context) (price.Description, error) {
	return price.Description{Areas: []string{f.tariff.Area}, Currency: f.tariff.Currency}, nil
}

// The limits of what a tariff answers.
const (
	maxSpan = 25 * 366 * protocol.Day // of one query: as many slots as travel

	// What begins before 1970 or ends after 2200 has no price.
	firstKnown protocol.Instant = 0
	lastKnown  protocol.Instant = 7_258_118_400_000
)

var errTooLong = errors.New("a tariff answers for 25 years at most; ask for less")

// Prices implements [price.Feed]. A slot is an hour of UTC, or a part of one when the
// price changes within.
func (f feed) Prices(_ context.Context, query price.Query) (price.Series, error) {
	if query.Area != f.tariff.Area {
		return price.Series{}, fmt.Errorf("%w: %.80q; the tariff is for %q", price.ErrUnknownArea, query.Area, f.tariff.Area)
	}
	from, until := max(query.From, firstKnown), min(query.Until, lastKnown)
	if from >= until {
		return price.Series{}, nil
	}
	if until.Sub(from) > maxSpan {
		return price.Series{}, errTooLong
	}
	var s price.Series
	for hour := from - from%protocol.Instant(protocol.Hour); hour < until; hour = hour.Add(protocol.Hour) {
		for _, slot := range f.tariff.hour(hour) {
			if slot.Start < until && slot.End() > from {
				s.Slots = append(s.Slots, slot)
			}
		}
	}
	return s, nil
}

// hour cuts an hour of UTC where the price changes. Clocks are whole quarters of an hour
// apart from UTC.
func (t *Tariff) hour(start protocol.Instant) (slots []price.Slot) {
	for at := start; at < start.Add(protocol.Hour); at = at.Add(price.Resolution) {
		amount := t.At(at)
		if n := len(slots); n > 0 && slots[n-1].Price == amount {
			slots[n-1].Length += price.Resolution
			continue
		}
		slots = append(slots, price.Slot{Start: at, Length: price.Resolution, Price: amount})
	}
	return slots
}
