package reproduce_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// days is a series of hours from the instant 0 on.
func days(hours []int) price.Series {
	var s price.Series
	for i, p := range hours {
		s.Slots = append(s.Slots, price.Slot{
			Start: protocol.Instant(i) * protocol.Instant(protocol.Hour), Length: protocol.Hour, Price: protocol.Micro(p) * protocol.Unit,
		})
	}
	return s
}

// TestTomorrowIsNotKnown: what a site is told on a day depends on nothing that comes
// after it, and is right until the day ends.
func TestTomorrowIsNotKnown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const span = 10
		hours := rapid.SliceOfN(rapid.IntRange(-20, 300), 24*span, 24*span).Draw(t, "hours")
		day := rapid.IntRange(0, span-2).Draw(t, "day")
		start := protocol.Instant(rapid.IntRange(0, 30*24).Draw(t, "start")) * protocol.Instant(protocol.Hour)
		now := start.Add(protocol.Duration(day)*protocol.Day + protocol.Duration(rapid.Int64Range(0, int64(protocol.Day)-1).Draw(t, "time")))
		reported, err := reproduce.Ahead(days(hours), start, now, false)
		if err != nil {
			t.Fatal(err)
		}
		others := slices.Clone(hours)
		for i := 24 * (day + 1); i < len(others); i++ {
			others[i] = 1000 - others[i]
		}
		again, err := reproduce.Ahead(days(others), start, now, false)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(reported.Prices.Slots, again.Prices.Slots) || !slices.Equal(reported.TwoPrice.Slots, again.TwoPrice.Slots) {
			t.Fatal("what is told depends on what comes after")
		}
		midnight := start.Add(protocol.Duration(day+1) * protocol.Day)
		if reported.PublishedUntil != midnight {
			t.Fatalf("prices are known until %v, want %v", reported.PublishedUntil.Time(), midnight.Time())
		}
		for i := 24 * day; i < 24*(day+1); i++ {
			at := start.Add(protocol.Duration(i) * protocol.Hour)
			if got, ok := reported.Prices.At(at); !ok || got != protocol.Micro(hours[i])*protocol.Unit {
				t.Fatalf("the price at %v is told as %v, %v; want %d", at.Time(), got, ok, hours[i])
			}
		}
		if _, ok := reported.Prices.At(now.Add(7 * protocol.Day)); !ok {
			t.Fatal("the prices do not reach as far as they are asked for")
		}
		all, err := reproduce.Ahead(days(hours), start, now, true)
		if err != nil {
			t.Fatal(err)
		}
		last := len(hours) - 1
		if got, _ := all.Prices.At(start.Add(protocol.Duration(last) * protocol.Hour)); got != protocol.Micro(hours[last])*protocol.Unit {
			t.Fatalf("who knows all is told %v for the last hour, want %d", got, hours[last])
		}
	})
}

func TestPricesBeginAtLocalMidnight(t *testing.T) {
	t.Parallel()
	clocks, err := reproduce.Clock(small(t))
	if err != nil {
		t.Fatal(err)
	}
	for site, hours := range clocks {
		if hours != 0 {
			t.Errorf("at site %d it is %v h when the prices begin", site, hours)
		}
	}
}

// TestCeiling: all systems at full power for 15 days of June 2014 cost about $41,190
// (facts/paper-notes.md), far below the dollars of [MC] Table IV.
func TestCeiling(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Data = shared(t)
	dollars, err := reproduce.Ceiling(o, 15)
	if err != nil {
		t.Fatal(err)
	}
	if dollars < 39_000 || dollars > 42_000 {
		t.Errorf("all systems at full power cost %v", dollars)
	}
}

// shared is the folder of data that is shared beside the checkout.
func shared(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("the shared data is not here: %v", err)
	}
	return dir
}

func TestCostAtEqualResponse(t *testing.T) {
	t.Parallel()
	line := [][2]float64{{500, 90}, {400, 100}, {300, 140}, {350, 150}}
	for response, want := range map[float64]float64{500: 90, 450: 95, 350: 120, 300: 140, 320: 132} {
		if got, ok := reproduce.CostAt(line, response); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("at a response of %v the cost is %v, %v; want %v", response, got, ok, want)
		}
	}
	for _, response := range []float64{299, 501} {
		if got, ok := reproduce.CostAt(line, response); ok {
			t.Errorf("at a response of %v, which the line does not reach, the cost is %v", response, got)
		}
	}
}

func TestGeometricMean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ratios := rapid.SliceOfN(rapid.Float64Range(0.1, 10), 2, 9).Draw(t, "ratios")
		inverse := make([]float64, len(ratios))
		for i, r := range ratios {
			inverse[i] = 1 / r
		}
		mean, half := reproduce.Geometric(ratios)
		back, otherHalf := reproduce.Geometric(inverse)
		if math.Abs(mean*back-1) > 1e-9 || math.Abs(half/mean-otherHalf/back) > 1e-9 {
			t.Fatalf("%v ± %v, and of the inverse %v ± %v", mean, half, back, otherHalf)
		}
	})
}
