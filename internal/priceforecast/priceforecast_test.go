package priceforecast_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func options(t *testing.T, zone string) priceforecast.Options {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	forecaster, err := forecast.Named("yesterday")
	if err != nil {
		t.Fatal(err)
	}
	return priceforecast.Options{Zone: location, Forecaster: forecaster}
}

func at(year int, month time.Month, day, hour int) protocol.Instant {
	return protocol.InstantOf(time.Date(year, month, day, hour, 0, 0, 0, time.UTC))
}

// hourly are slots of an hour with the prices 0, 1, 2 … from an instant on.
func hourly(from protocol.Instant, hours int) price.Series {
	var s price.Series
	for i := range hours {
		start := from.Add(protocol.Duration(i) * protocol.Hour)
		s.Slots = append(s.Slots, price.Slot{Start: start, Length: protocol.Hour, Price: protocol.Micro(i) * protocol.Unit})
	}
	return s
}

func TestPublishedPricesThenForecasts(t *testing.T) {
	t.Parallel()
	begin := at(2026, 11, 1, 0)
	known := begin.Add(60 * protocol.Hour)
	now := begin.Add(50*protocol.Hour + 17*protocol.Minute)
	got, err := priceforecast.Of(hourly(begin, 100), known, now, begin.Add(80*protocol.Hour), options(t, "UTC"))
	if err != nil {
		t.Fatal(err)
	}
	if got.PublishedUntil != known {
		t.Errorf("known until %v, want %v", got.PublishedUntil.Time(), known.Time())
	}
	if n := len(got.Prices.Slots); n != 30 || got.Prices.Slots[0].Start > now {
		t.Fatalf("%d slots, the first %+v", n, got.Prices.Slots[0])
	}
	for hour, want := range map[int]protocol.Micro{50: 50, 59: 59, 60: 36, 79: 55} { // beyond 60 as a day before
		if cost, ok := got.Prices.At(begin.Add(protocol.Duration(hour) * protocol.Hour)); !ok || cost != want*protocol.Unit {
			t.Errorf("hour %d: %d, %v; want %d", hour, cost, ok, want)
		}
	}
	for hour, want := range map[int]protocol.Micro{51: 5, 59: 5, 60: 53, 71: 53, 72: 5} { // the 6th and the 54th of 60
		if cost, ok := got.TwoPrice.At(begin.Add(protocol.Duration(hour) * protocol.Hour)); !ok || cost != want*protocol.Unit {
			t.Errorf("two prices, hour %d: %d, %v; want %d", hour, cost, ok, want)
		}
	}
}

// What is not published yet changes nothing.
func TestTheFutureIsNotSeen(t *testing.T) {
	t.Parallel()
	o := options(t, "Europe/Oslo")
	begin := at(2026, 3, 1, 0)
	rapid.Check(t, func(t *rapid.T) {
		series := hourly(begin, rapid.IntRange(1, 400).Draw(t, "hours"))
		for i := range series.Slots {
			series.Slots[i].Price = protocol.Micro(rapid.Int64Range(-1e9, 1e9).Draw(t, "price"))
		}
		known := begin.Add(protocol.Duration(rapid.Int64Range(int64(protocol.Hour), int64(400*protocol.Hour)).Draw(t, "known")))
		now := begin.Add(protocol.Duration(rapid.Int64Range(0, int64(400*protocol.Hour)).Draw(t, "now")))
		until := now.Add(protocol.Duration(rapid.Int64Range(1, int64(9*protocol.Day)).Draw(t, "span")))
		whole, err := priceforecast.Of(series, known, now, until, o)
		if err != nil {
			t.Fatal(err)
		}
		cut := price.Series{Slots: slices.DeleteFunc(slices.Clone(series.Slots), func(s price.Slot) bool { return s.End() > known })}
		alone, err := priceforecast.Of(cut, math.MaxInt64, now, until, o)
		if err != nil || !reflect.DeepEqual(whole, alone) {
			t.Fatalf("with what is to come\n%+v, without\n%+v, %v", whole, alone, err)
		}
		covers(t, whole.Prices, now, until)
		covers(t, whole.TwoPrice, now, until)
	})
}

// covers checks that a series has a price for all the time, in sound slots.
func covers(t *rapid.T, s price.Series, from, until protocol.Instant) {
	if err := s.Check(price.Query{From: from, Until: until}); err != nil {
		t.Fatal(err)
	}
	if len(s.Slots) == 0 || s.Slots[0].Start > from || s.Slots[len(s.Slots)-1].End() < until {
		t.Fatalf("%+v does not cover %v to %v", s, from.Time(), until.Time())
	}
	for i := 1; i < len(s.Slots); i++ {
		if s.Slots[i].Start != s.Slots[i-1].End() {
			t.Fatalf("a gap before %v", s.Slots[i].Start.Time())
		}
	}
}

// On-peak is from noon to midnight by the site's clock, whatever is done to that.
func TestTwoPricesGoByTheLocalClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone  string
		begin protocol.Instant
	}{
		{"Europe/Berlin", at(2026, 3, 27, 5)},
		{"Europe/Berlin", at(2026, 10, 23, 22)},
		{"Asia/Kathmandu", at(2026, 6, 1, 0)},
		{"America/Havana", at(2026, 3, 7, 3)},   // midnight is skipped
		{"America/Havana", at(2026, 10, 30, 3)}, // and repeated
		{"Pacific/Apia", at(2011, 12, 29, 20)},  // a day is skipped
		{"Antarctica/Troll", at(2026, 3, 28, 13)},
	} {
		o := options(t, c.zone)
		got, err := priceforecast.Of(hourly(c.begin.Add(-40*protocol.Hour), 40), c.begin, c.begin, c.begin.Add(5*protocol.Day), o)
		if err != nil {
			t.Fatal(err)
		}
		for quarter := range 5 * 96 {
			now := c.begin.Add(protocol.Duration(quarter) * 15 * protocol.Minute)
			want := 3 * protocol.Unit
			if now.Time().In(o.Zone).Hour() >= 12 {
				want = 35 * protocol.Unit
			}
			if cost, ok := got.TwoPrice.At(now); !ok || cost != want {
				t.Fatalf("%s, %v: %d, %v; want %d", c.zone, now.Time().In(o.Zone), cost, ok, want)
			}
		}
	}
}

func TestNothingPublished(t *testing.T) {
	t.Parallel()
	begin := at(2026, 11, 1, 0)
	_, err := priceforecast.Of(hourly(begin, 5), begin.Add(30*protocol.Minute), begin, begin.Add(protocol.Day), options(t, "UTC"))
	if !errors.Is(err, forecast.ErrNoPrice) {
		t.Errorf("got %v", err)
	}
}

// feed is a feed of one area.
type feed struct {
	series price.Series
	err    error
	asked  price.Query
}

func (f *feed) Describe(context.Context) (price.Description, error) {
	return price.Description{Areas: []string{"NO1", "NO2"}, Currency: "NOK"}, nil
}

func (f *feed) Prices(_ context.Context, query price.Query) (price.Series, error) {
	f.asked = query
	return f.series, f.err
}

func TestLiveAsksForThePastToo(t *testing.T) {
	t.Parallel()
	now := at(2026, 11, 21, 13)
	f := &feed{series: hourly(now.Add(-48*protocol.Hour), 60)}
	live := priceforecast.Live{Feed: f, Options: options(t, "Europe/Oslo"), History: 14 * protocol.Day}
	query := price.Query{Area: "NO1", From: now, Until: now.Add(3 * protocol.Day)}
	got, err := live.Ahead(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	if want := (price.Query{Area: "NO1", From: now.Add(-14 * protocol.Day), Until: query.Until}); f.asked != want {
		t.Errorf("asked for %+v, want %+v", f.asked, want)
	}
	if got.Currency != "NOK" || got.PublishedUntil != now.Add(12*protocol.Hour) {
		t.Errorf("in %q, known until %v", got.Currency, got.PublishedUntil.Time())
	}
	if cost, ok := got.Prices.At(now.Add(70 * protocol.Hour)); !ok || cost == 0 {
		t.Errorf("nothing is forecast: %d, %v", cost, ok)
	}
}

func TestLiveSaysWhyThereAreNoPrices(t *testing.T) {
	t.Parallel()
	now := at(2026, 11, 21, 13)
	twice := hourly(now, 2)
	twice.Slots[1] = twice.Slots[0]
	for want, f := range map[string]*feed{
		"the feed does not know this area; it knows NO1, NO2": {err: price.ErrUnknownArea},
		"what the feed answers: the market is closed":         {err: errors.New("the market is closed")},
		"the feed's prices make no sense: slot 1":             {series: twice},
		"the feed knows no price since 2026-11-20 13:00Z":     {},
	} {
		live := priceforecast.Live{Feed: f, Options: options(t, "UTC"), History: protocol.Day}
		_, err := live.Ahead(t.Context(), price.Query{Area: "SE3", From: now, Until: now.Add(protocol.Day)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	zone, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		b.Fatal(err)
	}
	now := at(2026, 11, 21, 13)
	series := hourly(now.Add(-14*protocol.Day), 14*24+35)
	for _, name := range []string{"auto", "sarima"} {
		forecaster, err := forecast.Named(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := priceforecast.Of(series, math.MaxInt64, now, now.Add(7*protocol.Day), priceforecast.Options{Zone: zone, Forecaster: forecaster})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
