package budget_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// hourly has an hour for each amount from 5 January 2026 on; Hole leaves one out.
func hourly(tb testing.TB, amounts ...float64) (s price.Series) {
	tb.Helper()
	at := utc(tb, "2026-01-05 00:00")
	for _, amount := range amounts {
		if !math.IsNaN(amount) {
			s.Slots = append(s.Slots, price.Slot{Start: at, Length: protocol.Hour, Price: protocol.Micro(amount * float64(protocol.Unit))})
		}
		at = at.Add(protocol.Hour)
	}
	return s
}

func TestAbovePrice(t *testing.T) {
	t.Parallel()
	s := budget.AbovePrice(hourly(t, 60, 60.5, 80, math.NaN(), 90, -5, 70), 60*protocol.Unit, 2*kilowatts)
	wants(t, s, "01-05 01:00 2kW", "01-05 03:00 free", "01-05 04:00 2kW", "01-05 05:00 free", "01-05 06:00 2kW", "01-05 07:00 free")
	wants(t, budget.AbovePrice(price.Series{}, 0, 1))
}

func TestSeries(t *testing.T) {
	t.Parallel()
	s := budget.Series(hourly(t, 3, 1.5, -2, 0, math.NaN(), 4), kilowatts)
	wants(t, s, "01-05 00:00 3kW", "01-05 01:00 1.5kW", "01-05 02:00 0kW", "01-05 04:00 free", "01-05 05:00 4kW", "01-05 06:00 free")
	wants(t, budget.Series(hourly(t, 1500), kilowatts/1000), "01-05 00:00 1.5kW", "01-05 01:00 free")
	huge := price.Series{Slots: []price.Slot{{Length: protocol.Hour, Price: math.MaxInt64}}}
	if limit, _ := budget.Series(huge, math.MaxInt64).At(0); limit != power.Unlimited {
		t.Errorf("more than any machine draws is %d mW", limit)
	}
	disorder := hourly(t, 1, 2)
	disorder.Slots[0], disorder.Slots[1] = disorder.Slots[1], disorder.Slots[0]
	wants(t, budget.Series(disorder, kilowatts))
}

func TestRules(t *testing.T) {
	t.Parallel()
	from, until := utc(t, "2026-01-05 00:00"), utc(t, "2026-01-06 00:00")
	sixty := 60 * protocol.Unit
	known := budget.Known{Prices: hourly(t, 70, 70, 50, 70, 70), Series: hourly(t, math.NaN(), 9, 9, 9, 1)}
	for name, c := range map[string]struct {
		rules budget.Rules
		known budget.Known
		want  []string
	}{
		"nothing said":   {budget.Rules{Limit: power.Unlimited}, budget.Known{}, nil},
		"a series alone": {budget.Rules{Limit: power.Unlimited, Above: &sixty}, known, []string{"01-05 01:00 9kW", "01-05 04:00 1kW", "01-05 05:00 free"}},
		"hours alone": {
			budget.Rules{Limit: 5 * kilowatts, Hours: hours(t, "01:00-04:00"), Zone: zone(t, "Europe/Zurich")},
			budget.Known{Prices: known.Prices},
			[]string{"01-05 00:00 5kW", "01-05 03:00 free"},
		},
		"hours and prices": {
			budget.Rules{Limit: 5 * kilowatts, Hours: hours(t, "01:00-04:00"), Above: &sixty},
			budget.Known{Prices: known.Prices},
			[]string{"01-05 01:00 5kW", "01-05 02:00 free", "01-05 03:00 5kW", "01-05 04:00 free"},
		},
		"prices not known": {budget.Rules{Limit: 5 * kilowatts, Above: &sixty}, budget.Known{}, nil},
		"all": {
			budget.Rules{Limit: 5 * kilowatts, Hours: hours(t, "01:00-24:00"), Above: &sixty},
			known,
			[]string{"01-05 01:00 5kW", "01-05 02:00 9kW", "01-05 03:00 5kW", "01-05 04:00 1kW", "01-05 05:00 free"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wants(t, c.rules.Signal(c.known, from, until), c.want...)
		})
	}
}

// Rules are, at every quarter of an hour, the lowest of all budgets that apply then.
func TestRulesAreTheLowestThatApplies(t *testing.T) {
	t.Parallel()
	start := utc(t, "2026-10-24 12:00")
	zurich := zone(t, "Europe/Zurich")
	rapid.Check(t, func(t *rapid.T) {
		shifts := rapid.SliceOfN(rapid.Custom(drawShift), 0, 2).Draw(t, "shifts")
		rules := budget.Rules{Limit: rapid.Int64Range(0, 9).Draw(t, "limit") * kilowatts, Zone: zurich}
		text := budget.Always
		for i, one := range shifts {
			if text = one.String() + ", " + text; i == 0 {
				text = one.String()
			}
		}
		var err error
		if rules.Hours, err = budget.ParseHours(text); err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "priced") {
			above := protocol.Micro(rapid.Int64Range(-3, 3).Draw(t, "above"))
			rules.Above = &above
		}
		known := budget.Known{Prices: drawSeries(t, start, 1), Series: drawSeries(t, start, protocol.Unit)}
		until := start.Add(2 * protocol.Day)
		s := rules.Signal(known, start, until)
		for at := start; at < until; at = at.Add(price.Resolution) {
			want := power.Unlimited
			if cost, ok := known.Prices.At(at); onPeak(shifts, at.Time().In(zurich)) && (rules.Above == nil || ok && cost > *rules.Above) {
				want = rules.Limit
			}
			if amount, ok := known.Series.At(at); ok {
				want = min(want, max(0, int64(amount/protocol.Unit))*kilowatts)
			}
			if got, _ := s.At(at); got != want {
				t.Fatalf("at %v: %d mW, want %d", at.Time(), got, want)
			}
		}
	})
}

func onPeak(shifts []shift, clock time.Time) bool {
	for _, one := range shifts {
		if one.holds(clock) {
			return true
		}
	}
	return len(shifts) == 0
}

// drawSeries has slots of small amounts of a unit, with gaps.
func drawSeries(t *rapid.T, at protocol.Instant, unit protocol.Micro) (s price.Series) {
	for range rapid.IntRange(0, 12).Draw(t, "slots") {
		at = at.Add(price.Resolution * protocol.Duration(rapid.IntRange(0, 9).Draw(t, "gap")))
		one := price.Slot{Start: at, Length: price.Resolution * protocol.Duration(rapid.IntRange(1, 40).Draw(t, "length"))}
		one.Price = protocol.Micro(rapid.Int64Range(-5, 9).Draw(t, "amount")) * unit
		s.Slots, at = append(s.Slots, one), one.End()
	}
	return s
}

func BenchmarkRules(b *testing.B) {
	rules := budget.Rules{Limit: 1, Hours: hours(b, "mon-fri 07:00-20:00, sat 08:00-12:00"), Zone: zone(b, "Europe/Zurich")}
	start := utc(b, "2026-03-20 00:00")
	for b.Loop() {
		rules.Signal(budget.Known{}, start, start.Add(15*protocol.Day))
	}
}
