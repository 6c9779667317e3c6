package forecast_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// days is a past of hours, a price for each day or [forecast.Hole].
func days(costs ...protocol.Micro) forecast.Past {
	past := forecast.Past{Day: 24}
	for _, cost := range costs {
		past.Prices = append(past.Prices, slices.Repeat([]protocol.Micro{cost}, 24)...)
	}
	return past
}

func TestForecasters(t *testing.T) {
	t.Parallel()
	const hole = forecast.Hole
	partly := days(10, 20, 30)
	partly.Prices[48] = hole
	cases := []struct {
		name, of string
		past     forecast.Past
		want     []protocol.Micro // of the first hour of each day to come
	}{
		{"the day before", "yesterday", days(10, 20, 30), []protocol.Micro{30, 30}},
		{"a hole", "yesterday", partly, []protocol.Micro{20, 20}},
		{"a missing day", "yesterday", days(10, 20, hole), []protocol.Micro{20, 20}},
		{"long missing", "yesterday", days(append([]protocol.Micro{7}, slices.Repeat([]protocol.Micro{hole}, 40)...)...), []protocol.Micro{7, 7}},
		{"part of a day", "yesterday", forecast.Past{Prices: []protocol.Micro{5, 6}, Day: 24}, []protocol.Micro{6, 6}},
		{"a week", "blend", days(10, 25, 0, 0, 0, 0, 20), []protocol.Micro{16, 20}}, // 0.6·20 + 0.4·10, 0.6·16 + 0.4·25 = 19.6
		{"no week", "blend", days(10, 0, 20), []protocol.Micro{20, 20}},
		{"a week with a hole", "blend", days(hole, 0, 0, 0, 0, 0, 20), []protocol.Micro{20, 12}},
		{"negative", "blend", days(-10, 0, 0, 0, 0, 0, -21), []protocol.Micro{-17, -10}}, // −16.6, −10.2
		{"three days", "mean", days(100, 10, 20, 31), []protocol.Micro{20, 24}},
		{"two of three", "mean", days(10, hole, 21), []protocol.Micro{16, 19}},
		{"none of three", "mean", days(5, hole, hole, hole), []protocol.Micro{5, 5}},
		{"level", "flat", days(100, 10, 20, 30), []protocol.Micro{20, 20}},
		{"old level", "flat", days(100, hole, hole, hole), []protocol.Micro{100, 100}},
		{"too little for a model", "sarima", days(10), []protocol.Micro{10, 10}},
		{"too little to choose", "auto", days(10, 20, 30), []protocol.Micro{30, 30}},
	}
	for _, c := range cases {
		got := named(t, c.of).Forecast(c.past, 48)
		if len(got) != 48 || got[0] != c.want[0] || got[24] != c.want[1] {
			t.Errorf("%s, %s: %d steps, %v", c.of, c.name, len(got), got)
		}
	}
}

func TestForecastsOfNothing(t *testing.T) {
	t.Parallel()
	for _, name := range names() {
		for _, past := range []forecast.Past{{Day: 24}, days(forecast.Hole, forecast.Hole)} {
			if got := named(t, name).Forecast(past, 5); !slices.Equal(got, make([]protocol.Micro, 5)) {
				t.Errorf("%s: %v", name, got)
			}
		}
		if got := named(t, name).Forecast(days(1, 2), 0); len(got) != 0 {
			t.Errorf("%s: %v of no steps", name, got)
		}
	}
}

// The choice follows what was right: prices that repeat the week, that repeat the
// day, and that have no pattern but a mean.
func TestAutoChooses(t *testing.T) {
	t.Parallel()
	weekly, daily, level := forecast.Past{Day: 24}, forecast.Past{Day: 24}, forecast.Past{Day: 24}
	for hour := range 40 * 24 {
		day := hour / 24
		weekly.Prices = append(weekly.Prices, protocol.Micro([]int{50, 50, 50, 50, 50, 20, 10}[day%7])*1000)
		daily.Prices = append(daily.Prices, protocol.Micro(100*day+(hour%24)*10))
		level.Prices = append(level.Prices, protocol.Micro(1000+(hour*7919%101)*10))
	}
	for want, past := range map[string]forecast.Past{"blend": weekly, "yesterday": daily, "flat": level} {
		auto := forecast.NewAuto()
		if got := auto.Choose(past).Name(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if !slices.Equal(auto.Forecast(past, 30), named(t, want).Forecast(past, 30)) {
			t.Errorf("%s: the forecast is not that of the choice", want)
		}
		if got := auto.Choose(forecast.Past{Prices: past.Prices[:7*24], Day: 24}).Name(); got != "blend" {
			t.Errorf("after a week the choice is %s already", got)
		}
	}
}

// Quarters of an hour keep yesterday's shape around what the hours are forecast to be,
// and those are what the hourly means alone give.
func TestSeasonalOfQuarters(t *testing.T) {
	t.Parallel()
	whole, quarters := forecast.Past{Day: 24}, forecast.Past{Day: 96}
	for hour := range 80 {
		cost := protocol.Micro(40e6 + 10e6*math.Sin(float64(hour)/24*2*math.Pi) + float64(hour*7919%101)*2e4)
		whole.Prices = append(whole.Prices, cost)
		quarters.Prices = append(quarters.Prices, cost-3e6, cost-1e6, cost+1e6, cost+3e6)
	}
	f := named(t, "sarima")
	ofHours, ofQuarters := f.Forecast(whole, 30), f.Forecast(quarters, 118) // and half an hour
	for i, got := range ofQuarters[:116] {
		want := ofHours[i/4] + []protocol.Micro{-3e6, -1e6, 1e6, 3e6}[i%4]
		if got < want-2 || got > want+2 {
			t.Fatalf("quarter %d is %d, want %d", i, got, want)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, name := range append(names(), "(2,0,0)(1,0,0)24") {
		if f := named(t, name); f.Name() != name {
			t.Errorf("%s is called %s", name, f.Name())
		}
	}
	for name, want := range map[string]string{
		"arima":    "auto, sarima or an order such as",
		"(1,0,1)(": "write (p,d,q)",
	} {
		if _, err := forecast.Named(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, want)
		}
	}
}
