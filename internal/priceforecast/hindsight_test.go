package priceforecast_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func ahead(t *testing.T, ask func(price.Query) (price.Forecast, error), from protocol.Instant) price.Forecast {
	t.Helper()
	reported, err := ask(price.Query{From: from, Until: from.Add(3 * protocol.Day)})
	if err != nil {
		t.Fatal(err)
	}
	return reported
}

// TestHindsightKnowsTheDay: to the end of the local day, at any of its hours, and the
// forecasts go by what is known then.
func TestHindsightKnowsTheDay(t *testing.T) {
	t.Parallel()
	begin := at(2026, 3, 26, 23) // midnight in Oslo
	series := hourly(begin, 24*6)
	o := options(t, "Europe/Oslo")
	h := priceforecast.NewHindsight(series, "EUR", o, false)
	// On the 29th clocks are put forward, so that day has 23 hours.
	for day, hours := range map[protocol.Instant]int{begin: 24, begin.Add(47 * protocol.Hour): 48, begin.Add(48 * protocol.Hour): 71, begin.Add(71 * protocol.Hour): 95} {
		got := ahead(t, h.Ahead, day)
		if want := begin.Add(protocol.Duration(hours) * protocol.Hour); got.PublishedUntil != want || got.Currency != "EUR" {
			t.Errorf("at %v: known until %v in %q, want %v", day.Time(), got.PublishedUntil.Time(), got.Currency, want.Time())
		}
		known, err := priceforecast.Of(series, got.PublishedUntil, day, day.Add(3*protocol.Day), o)
		if err != nil {
			t.Fatal(err)
		}
		for at := day; at < day.Add(3*protocol.Day); at = at.Add(protocol.Hour) {
			is, _ := got.Prices.At(at)
			if want, ok := known.Prices.At(at); !ok || is != want {
				t.Errorf("at %v: for %v it tells %d, want %d", day.Time(), at.Time(), is, want)
			}
		}
	}
	if a, b := ahead(t, h.Ahead, begin), ahead(t, h.Ahead, begin.Add(5*protocol.Hour)); !reflect.DeepEqual(a, b) {
		t.Error("one day is told in two ways")
	}
	if _, err := h.Ahead(price.Query{From: begin - 1, Until: begin}); !errors.Is(err, forecast.ErrNoPrice) {
		t.Errorf("before the first price: %v", err)
	}
}

// TestOracleKnowsAll that comes, and forecasts what is after it.
func TestOracleKnowsAll(t *testing.T) {
	t.Parallel()
	begin := at(2026, 11, 1, 0)
	series := hourly(begin, 24*4)
	got := ahead(t, priceforecast.NewHindsight(series, "EUR", options(t, "UTC"), true).Ahead, begin.Add(2*protocol.Day))
	if got.PublishedUntil != begin.Add(4*protocol.Day) {
		t.Errorf("known until %v", got.PublishedUntil.Time())
	}
	for hour := 48; hour < 96; hour++ {
		if is, _ := got.Prices.At(begin.Add(protocol.Duration(hour) * protocol.Hour)); is != protocol.Micro(hour)*protocol.Unit {
			t.Errorf("hour %d costs %d", hour, is)
		}
	}
	if is, ok := got.Prices.At(begin.Add(96 * protocol.Hour)); !ok || is != 72*protocol.Unit {
		t.Errorf("the first hour after the end costs %d, and not what it did the day before", is)
	}
}

// TestSince: another clock moves all that is asked and told.
func TestSince(t *testing.T) {
	t.Parallel()
	begin := at(2026, 11, 1, 0)
	h := priceforecast.NewHindsight(hourly(begin, 24*4), "EUR", options(t, "UTC"), false)
	const start = protocol.Instant(math.MaxInt32) * 1000
	want := ahead(t, h.Ahead, begin.Add(protocol.Day))
	got := ahead(t, h.Since(start), begin.Add(protocol.Day)-start)
	if got.PublishedUntil != want.PublishedUntil-start || !reflect.DeepEqual(got.Prices, priceforecast.Since(want.Prices, start)) ||
		!reflect.DeepEqual(got.TwoPrice, priceforecast.Since(want.TwoPrice, start)) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if first := got.Prices.Slots[0].Start; first != begin.Add(protocol.Day)-start {
		t.Errorf("the prices begin at %d", first)
	}
}
