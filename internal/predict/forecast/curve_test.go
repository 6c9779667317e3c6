package forecast_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func named(tb testing.TB, name string) forecast.Forecaster {
	tb.Helper()
	f, err := forecast.Named(name)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func names() []string { return []string{"auto", "blend", "yesterday", "mean", "flat", "sarima"} }

func TestNewCurveRefuses(t *testing.T) {
	t.Parallel()
	const hour = protocol.Hour
	for want, slots := range map[string][]price.Slot{
		"before slot 0 ends":      {{Start: 0, Length: hour}, {Start: 0, Length: hour}},
		"slot 0 lasts 0s":         {{Start: 0}},
		"they span":               {{Start: 0, Length: hour}, {Start: 11 * 366 * protocol.Instant(protocol.Day), Length: hour}},
		"slot 0 costs 1000000000": {{Start: 0, Length: hour, Price: forecast.Largest + 1}},
		"slot 0 costs -922337203": {{Start: 0, Length: hour, Price: forecast.Hole}},
	} {
		if _, err := forecast.NewCurve(price.Series{Slots: slots}, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if _, err := forecast.NewCurve(price.Series{}, time.UTC); !errors.Is(err, forecast.ErrNoPrice) {
		t.Errorf("no slots: got %v", err)
	}
	one := hours(time.Unix(0, 0), []protocol.Micro{1})
	if _, err := forecast.Extend(one, time.UTC, named(t, "auto"), 0, math.MaxInt64); err == nil {
		t.Error("a forecast of the whole future is not refused")
	}
}

// clockPrices are prices that show the local clock: hour·100 + quarter.
func clockPrices(zone *time.Location, start time.Time, length protocol.Duration, days int) (out price.Series) {
	until := protocol.InstantOf(start.AddDate(0, 0, days))
	for at := protocol.InstantOf(start); at < until; at = at.Add(length) {
		out.Slots = append(out.Slots, price.Slot{Start: at, Length: length, Price: clockPrice(at, zone)})
	}
	return out
}

func clockPrice(at protocol.Instant, zone *time.Location) protocol.Micro {
	local := at.Time().In(zone)
	return protocol.Micro(local.Hour()*100 + local.Minute()/15)
}

// Prices that depend on the clock alone are forecast exactly, also over the days on
// which it is changed: that of the forecast, the last known one, and one before it.
func TestForecastsFollowTheLocalClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone   string
		change time.Time // the day of it
		length protocol.Duration
	}{
		{"Europe/Oslo", time.Date(2014, 3, 30, 0, 0, 0, 0, time.UTC), protocol.Hour},
		{"Europe/Oslo", time.Date(2014, 10, 26, 0, 0, 0, 0, time.UTC), protocol.Hour},
		{"Europe/Oslo", time.Date(2025, 3, 30, 0, 0, 0, 0, time.UTC), price.Resolution},
		{"America/Chicago", time.Date(2014, 11, 2, 0, 0, 0, 0, time.UTC), 2 * price.Resolution},
		{"Asia/Kolkata", time.Date(2014, 10, 26, 0, 0, 0, 0, time.UTC), protocol.Hour},
	} {
		zone := location(t, c.zone)
		for _, name := range []string{"yesterday", "blend", "mean", "auto"} {
			for after := -1; after <= 2; after++ { // days from the change to the first forecast
				first := time.Date(c.change.Year(), c.change.Month(), c.change.Day()+after, 0, 0, 0, 0, zone)
				known := clockPrices(zone, first.AddDate(0, 0, -9), c.length, 9)
				from, until := protocol.InstantOf(first), protocol.InstantOf(first.AddDate(0, 0, 3))
				got, err := forecast.Extend(known, zone, named(t, name), from, until)
				if err != nil {
					t.Fatal(err)
				}
				if want := int(until.Sub(from) / c.length); len(got.Slots) != want {
					t.Errorf("%s %s %v: %d slots, want %d", c.zone, name, first, len(got.Slots), want)
				}
				for _, slot := range got.Slots {
					if want := clockPrice(slot.Start, zone); slot.Price != want || slot.Length != c.length {
						t.Errorf("%s %s: %v costs %d, want %d", c.zone, name, slot.Start.Time().In(zone), slot.Price, want)
					}
				}
			}
		}
	}
}

// A tariff is forecast exactly by whoever looks at hours, whatever its slots are.
func TestTariffs(t *testing.T) {
	t.Parallel()
	start := protocol.InstantOf(time.Date(2014, 6, 1, 0, 0, 0, 0, time.UTC))
	var fixed price.Series
	for day := range 10 {
		fixed.Slots = append(fixed.Slots, price.Slot{Start: start.Add(protocol.Duration(day) * protocol.Day), Length: protocol.Day, Price: 74_000_000})
	}
	for _, name := range names() {
		got, err := forecast.Extend(fixed, time.UTC, named(t, name), start, start.Add(12*protocol.Day))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Slots) != 10+48 {
			t.Errorf("%s: %d slots, want 10 days and 48 hours", name, len(got.Slots))
		}
		for _, slot := range got.Slots {
			if slot.Price != 74_000_000 {
				t.Errorf("%s: %v costs %d", name, slot.Start.Time(), slot.Price)
			}
		}
	}
}

// Whatever is known, the whole time from the first known slot on is answered, known
// slots as they are.
func TestExtendAnswersEverything(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{time.UTC, location(t, "Europe/Oslo"), location(t, "Australia/Lord_Howe"), location(t, "Asia/Kathmandu")}
	rapid.Check(t, func(t *rapid.T) {
		begin := protocol.InstantOf(time.Date(2014, 3, 20, 0, 0, 0, 0, time.UTC)).Add(protocol.Duration(rapid.IntRange(0, 2000).Draw(t, "begin")) * price.Resolution)
		lengths := rapid.SampledFrom([][]protocol.Duration{{protocol.Hour}, {price.Resolution}, {protocol.Hour, 6 * protocol.Hour, protocol.Day}, {price.Resolution, 3 * price.Resolution, protocol.Hour}})
		of := lengths.Draw(t, "lengths")
		var known price.Series
		at := begin
		for range rapid.IntRange(1, 120).Draw(t, "slots") {
			slot := price.Slot{Start: at, Length: rapid.SampledFrom(of).Draw(t, "length"), Price: protocol.Micro(rapid.Int64Range(-500e6, 500e6).Draw(t, "price"))}
			known.Slots = append(known.Slots, slot)
			at = slot.End()
			if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
				at = at.Add(of[0] * protocol.Duration(rapid.IntRange(1, 40).Draw(t, "gap length")))
			}
		}
		from := begin.Add(price.Resolution * protocol.Duration(rapid.IntRange(-10, 400).Draw(t, "from")))
		until := from.Add(price.Resolution * protocol.Duration(rapid.IntRange(1, 500).Draw(t, "ahead")))
		f, err := forecast.Named(rapid.SampledFrom([]string{"auto", "blend", "yesterday", "mean", "flat"}).Draw(t, "forecaster"))
		if err != nil {
			t.Fatal(err)
		}
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		got, err := forecast.Extend(known, zone, f, from, until)
		if err != nil {
			t.Fatal(err)
		}
		if err = got.Check(price.Query{From: from, Until: until}); err != nil {
			t.Fatal(err)
		}
		for at := max(from, begin); at < until; at = at.Add(price.Resolution) {
			cost, ok := got.At(at)
			if !ok || cost < -500e6 || cost > 500e6 {
				t.Fatalf("at %v: %d, %t", at.Time(), cost, ok)
			}
			if want, ok := known.At(at); ok && cost != want {
				t.Fatalf("at %v: %d, known is %d", at.Time(), cost, want)
			}
		}
		again, err := forecast.Extend(known, zone, f, from, until)
		if err != nil || !slices.Equal(got.Slots, again.Slots) {
			t.Fatal("a second forecast differs")
		}
	})
}

// What is known already needs no forecast, and what is before it has none.
func TestExtendOfKnownTimes(t *testing.T) {
	t.Parallel()
	start := time.Date(2014, 6, 1, 0, 0, 0, 0, time.UTC)
	known := hours(start, []protocol.Micro{1, 2, 3, 4})
	at := func(hour int) protocol.Instant {
		return protocol.InstantOf(start).Add(protocol.Duration(hour) * protocol.Hour)
	}
	for _, c := range []struct {
		from, until int
		want        []price.Slot
	}{
		{1, 3, known.Slots[1:3]},
		{-5, 2, known.Slots[:2]},
		{-5, 0, nil},
		{3, 3, nil},
		{2, 1, nil},
	} {
		got, err := forecast.Extend(known, time.UTC, broken{}, at(c.from), at(c.until))
		if err != nil || !slices.Equal(got.Slots, c.want) {
			t.Errorf("%d to %d: got %v, %v", c.from, c.until, got.Slots, err)
		}
	}
}

// broken is a forecaster that must not be asked.
type broken struct{}

func (broken) Name() string { return "broken" }

func (broken) Forecast(forecast.Past, int) []protocol.Micro { panic("asked for a forecast") }
