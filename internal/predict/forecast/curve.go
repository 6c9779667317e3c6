package forecast

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Hole stands where no price is known.
const Hole protocol.Micro = math.MinInt64

// Largest is the largest price, of either sign, that a curve takes: a thousand
// million for an MWh in any currency.
const Largest = 1_000_000_000 * protocol.Micro(1_000_000)

// largestSpan bounds the memory of a curve, and how far one looks ahead.
const largestSpan = 10 * 366 * protocol.Day

// ErrNoPrice says that a series knows no price at all, so that there is nothing to
// forecast from.
var ErrNoPrice = errors.New("no price is known to forecast from")

// Curve is what is known of an area's prices, by the local clock.
type Curve struct {
	zone   *time.Location
	step   protocol.Duration
	first  protocol.Instant // start of the series
	start  protocol.Instant // its local clock, read as if it were UTC
	prices []protocol.Micro // by clock, Hole where none is known; the first and the last are known
}

// NewCurve lays out a series by the clock of a time zone. Its slots are as long as
// the shortest of the series, an hour at most; longer ones are cut. A series with
// slots that overlap or are out of order, that spans more than ten years or with a
// price beyond [Largest] is refused, and one without slots with [ErrNoPrice].
func NewCurve(known price.Series, zone *time.Location) (*Curve, error) {
	if len(known.Slots) == 0 {
		return nil, ErrNoPrice
	}
	first, last := known.Slots[0], known.Slots[len(known.Slots)-1]
	if err := known.Check(price.Query{From: first.Start, Until: last.End()}); err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	if span := last.End().Sub(first.Start); span > largestSpan {
		return nil, fmt.Errorf("prices: they span %v; forecast from at most %v", span, largestSpan)
	}
	c := &Curve{zone: zone, step: stepOf(known.Slots), first: first.Start, start: clock(first.Start, zone)}
	for i, slot := range known.Slots {
		if slot.Price > Largest || slot.Price < -Largest {
			return nil, fmt.Errorf("prices: slot %d costs %d micro-units for an MWh, more than %d", i, slot.Price, Largest)
		}
		for at := slot.Start; at < slot.End(); at = at.Add(c.step) {
			c.put(c.index(at), slot.Price)
		}
	}
	return c, nil
}

// stepOf is the longest time that all slots, their starts and an hour are made of.
func stepOf(slots []price.Slot) protocol.Duration {
	step := protocol.Hour
	for _, slot := range slots {
		step = gcd(gcd(step, slot.Length), slot.Start.Sub(slots[0].Start))
	}
	return step
}

func gcd(a, b protocol.Duration) protocol.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// clock is what local clocks show, read as if it were UTC.
func clock(at protocol.Instant, zone *time.Location) protocol.Instant {
	_, seconds := at.Time().In(zone).Zone()
	return at.Add(protocol.Duration(seconds) * protocol.Second)
}

// index is the place of an instant; negative before the first.
func (c *Curve) index(at protocol.Instant) int {
	return int(floor(clock(at, c.zone).Sub(c.start), c.step))
}

func floor(a, b protocol.Duration) protocol.Duration {
	quotient := a / b
	if a%b < 0 {
		quotient--
	}
	return quotient
}

// put notes a price. Where the clock shows a time twice, the two are averaged; what
// it shows again of the time before the first slot is left out.
func (c *Curve) put(at int, cost protocol.Micro) {
	if at < 0 {
		return
	}
	for len(c.prices) <= at {
		c.prices = append(c.prices, Hole)
	}
	if before := c.prices[at]; before != Hole {
		cost = share(before+cost, 2)
	}
	c.prices[at] = cost
}

// Past is all that is known, for a [Forecaster].
func (c *Curve) Past() Past { return Past{Prices: c.prices, Day: int(protocol.Day / c.step)} }

// Extend returns the slots that overlap the time from from up to until: the known
// ones as they are and, wherever none is, forecast ones. Holes between known slots
// are filled with the same hour of the day before; a time before the first known
// slot stays empty. The errors are those of [NewCurve], and a time that ends more
// than ten years after the first known slot.
func Extend(known price.Series, zone *time.Location, f Forecaster, from, until protocol.Instant) (price.Series, error) {
	c, err := NewCurve(known, zone)
	if err != nil {
		return price.Series{}, err
	}
	if until > c.first.Add(largestSpan) {
		return price.Series{}, fmt.Errorf("a forecast until %v, more than %v after the first known price; ask for less", until.Time(), largestSpan)
	}
	all := yesterday{}.fill(c.Past())
	if until > known.Slots[len(known.Slots)-1].End() {
		all = append(all, f.Forecast(c.Past(), c.ahead(until))...)
	}
	var out price.Series
	at, next := c.first, 0
	for at < until {
		slot := price.Slot{Start: at, Length: c.step}
		if next < len(known.Slots) && known.Slots[next].Start == at {
			slot = known.Slots[next]
			next++
		} else {
			slot.Price = all[max(c.index(at), 0)]
		}
		if slot.End() > from {
			out.Slots = append(out.Slots, slot)
		}
		at = slot.End()
	}
	return out, nil
}

// ahead is enough slots to reach an instant, also where clocks are put back on the
// way: never by more than a day.
func (c *Curve) ahead(until protocol.Instant) int {
	return max(c.index(until)+c.Past().Day-len(c.prices), 0)
}
