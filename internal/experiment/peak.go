package experiment

import (
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Peak is when it is on-peak, in the time of a workload.
type Peak struct {
	Hours budget.Hours
	Zone  *time.Location   // of the clock that shows them
	Begin protocol.Instant // when the workload's clock shows 0
}

// Signal is a budget in milliwatts that holds on-peak, up to a time of the workload.
func (p Peak) Signal(limit int64, until protocol.Instant) power.Signal {
	signal := p.Hours.Signal(p.Zone, p.Begin, p.Begin.Add(protocol.Duration(until)), limit)
	return sim.Later(signal, -protocol.Duration(p.Begin))
}

// Meter has prices of 1 a MWh off-peak and of ratio on-peak, up to a time of the workload;
// afterwards their mean.
func (p Peak) Meter(ratio protocol.Micro, until protocol.Instant) *price.Meter {
	peak := p.Signal(0, until)
	var series price.Series
	for at := protocol.Instant(0); at < until; {
		limit, next := peak.At(at)
		slot := price.Slot{Start: at, Length: min(next, until).Sub(at), Price: protocol.Unit}
		if limit != power.Unlimited {
			slot.Price = ratio
		}
		series.Slots = append(series.Slots, slot)
		at = slot.End()
	}
	return price.NewMeter(series)
}

// ClockTime is when a clock in a zone shows a date and time, as "2009-01-05 00:00".
func ClockTime(text string, zone *time.Location) (protocol.Instant, error) {
	clock, err := priceformat.ParseClock(text)
	if err != nil {
		return 0, err
	}
	at := time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, zone)
	if at.Hour() != clock.Hour() || at.Minute() != clock.Minute() {
		return 0, fmt.Errorf("%s does not exist in %s: the clock was put forward then", text, zone)
	}
	return protocol.InstantOf(at), nil
}

// TraceZone is the time zone of a trace's site: that which its header names, or else as far
// from UTC as the header says. It is UTC when it says nothing.
func TraceZone(h workload.Header) *time.Location {
	if name, ok := h.Value("TimeZoneString"); ok {
		if zone, err := feeds.ParseZone(name); err == nil {
			return zone.Location
		}
	}
	const most = 86400
	if east, ok := h.Int("TimeZone"); ok && east != 0 && east >= -most && east <= most {
		return time.FixedZone("the trace's zone", int(east))
	}
	return time.UTC
}

// TraceBegin is when a trace's clock shows 0; ok is false when its header does not say.
func TraceBegin(h workload.Header) (begin protocol.Instant, ok bool) {
	const most = 1 << 40
	seconds, ok := h.Int("UnixStartTime")
	if !ok || seconds < 0 || seconds > most {
		return 0, false
	}
	return protocol.Instant(seconds) * protocol.Instant(protocol.Second), true
}
