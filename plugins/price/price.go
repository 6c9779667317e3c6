// Package price is the border to feeds of electricity prices.
package price

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Feed knows what electricity costs when. Its methods may be called at once from
// several goroutines.
type Feed interface {
	Describe(ctx context.Context) (Description, error)
	// Prices returns the slots of an area that overlap the time from From up to,
	// and without, Until; none when that is not after From. Hours that the feed does
	// not know are left out; knowing none is no error.
	Prices(ctx context.Context, query Query) (Series, error)
}

// Description is what a feed offers.
type Description struct {
	Areas    []string // that it knows, sorted
	Currency string   // of all its prices, such as "EUR"
}

// Query asks for prices.
type Query struct {
	Area  string
	From  protocol.Instant
	Until protocol.Instant
}

// Series are the prices of an area, in the order of time. Slots do not overlap;
// there may be gaps, and their lengths may differ.
type Series struct {
	Slots []Slot
}

// Later is the series on a clock that shows so much more.
func (s *Series) Later(by protocol.Instant) Series {
	slots := make([]Slot, len(s.Slots))
	for i, slot := range s.Slots {
		slots[i] = slot
		slots[i].Start += by
	}
	return Series{Slots: slots}
}

// Slot is a time with one price: an hour or a quarter of one, as markets have
// them.
type Slot struct {
	Start  protocol.Instant
	Length protocol.Duration
	Price  protocol.Micro // per MWh; negative ones happen
}

// End is the first instant after the slot.
func (s Slot) End() protocol.Instant { return s.Start.Add(s.Length) }

// Forecast is what the answer to a [Query] says of the time ahead: the published prices until
// PublishedUntil, and forecast ones after it.
type Forecast struct {
	Prices         Series
	TwoPrice       Series // on-peak and off-peak prices of the same time [MC 5]
	PublishedUntil protocol.Instant
	Currency       string
	StaleReason    string // why there are no newer ones; empty if these are the newest
}

// Resolution is what all slots are made of: starts and lengths are multiples of it.
const Resolution = 15 * protocol.Minute

// MaxSlot is the longest slot.
const MaxSlot = protocol.Day

// Check says what is wrong with the answer to a query, if anything.
func (s *Series) Check(query Query) error {
	for i, slot := range s.Slots {
		switch {
		case slot.Length <= 0 || slot.Length > MaxSlot || slot.Length%Resolution != 0:
			return fmt.Errorf("slot %d lasts %v; use multiples of %v up to %v", i, slot.Length, Resolution, MaxSlot)
		case int64(slot.Start)%int64(Resolution) != 0:
			return fmt.Errorf("slot %d begins at %v, not on a quarter of an hour", i, slot.Start.Time())
		case i > 0 && slot.Start < s.Slots[i-1].End():
			return fmt.Errorf("slot %d begins at %v, before slot %d ends", i, slot.Start.Time(), i-1)
		case slot.Start >= query.Until || slot.End() <= query.From:
			return fmt.Errorf("slot %d at %v was not asked for", i, slot.Start.Time())
		}
	}
	return nil
}

// At is the price at an instant; ok is false when the series has none.
func (s *Series) At(t protocol.Instant) (price protocol.Micro, ok bool) {
	low, high := 0, len(s.Slots)
	for low < high {
		if mid := (low + high) / 2; s.Slots[mid].End() <= t {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(s.Slots) || s.Slots[low].Start > t {
		return 0, false
	}
	return s.Slots[low].Price, true
}

// Check says what is wrong with a description, if anything.
func (d *Description) Check() error {
	if d.Currency == "" {
		return errors.New("the feed names no currency")
	}
	if len(d.Areas) == 0 {
		return errors.New("the feed knows no area")
	}
	for i := 1; i < len(d.Areas); i++ {
		if d.Areas[i-1] >= d.Areas[i] {
			return fmt.Errorf("the areas %q and %q are not sorted", d.Areas[i-1], d.Areas[i])
		}
	}
	return nil
}

// ErrUnknownArea says that a feed does not know the area.
var ErrUnknownArea = errors.New("the feed does not know this area")
