package cost_test

import (
	"math/big"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// salary is [IS Figure 2] left: 60 an hour in working hours, but for a lunch break and the
// holidays.
func salary(tb testing.TB, zone *time.Location) cost.Salary {
	tb.Helper()
	calendar := cost.Calendar{Zone: zone, Holidays: holidays(tb, "2026-07-20..2026-08-07", "08-01")}
	return cost.Salary{Curve: cost.NewCurve(calendar, 0, []cost.Period{period(tb, "", "mon-fri", "08:00-12:00, 13:00-17:00", 60*unit)})}
}

// launch is [IS Figure 2] right: a product that must be on the market by the first of June.
func launch(tb testing.TB, zone *time.Location) cost.Steps {
	tb.Helper()
	return cost.Steps{Before: 10 * unit, Steps: []cost.Step{{At: at(tb, zone, "2026-06-01 00:00"), PerHour: 1000 * unit}}}
}

func TestFigure2(t *testing.T) {
	t.Parallel()
	zurich := zone(t, "Europe/Zurich")
	for _, c := range []struct {
		what  string
		parts []cost.WaitingPart
		now   string
		until protocol.Duration
		want  protocol.Micro
	}{
		{"a working day", []cost.WaitingPart{salary(t, zurich)}, "2026-03-04 00:00", protocol.Day, 480 * unit},
		{"a night", []cost.WaitingPart{salary(t, zurich)}, "2026-03-04 17:00", 15 * protocol.Hour, 0},
		{"a lunch break", []cost.WaitingPart{salary(t, zurich)}, "2026-03-04 11:30", 2 * protocol.Hour, 60 * unit},
		{"a week in which the clock changes", []cost.WaitingPart{salary(t, zurich)}, "2026-03-27 16:00", 3 * protocol.Day, (60 + 480) * unit},
		{"a vacation", []cost.WaitingPart{salary(t, zurich)}, "2026-07-18 00:00", 23 * protocol.Day, 0},
		{"before the launch", []cost.WaitingPart{launch(t, zurich)}, "2026-05-31 22:00", 2 * protocol.Hour, 20 * unit},
		{"over the launch", []cost.WaitingPart{launch(t, zurich)}, "2026-05-31 22:00", 3 * protocol.Hour, 1020 * unit},
		{"after the launch", []cost.WaitingPart{launch(t, zurich)}, "2026-06-02 12:00", protocol.Hour, 1000 * unit},
		{"both", []cost.WaitingPart{salary(t, zurich), launch(t, zurich)}, "2026-06-01 07:00", 2 * protocol.Hour, 2060 * unit},
		{"neither", nil, "2026-06-01 07:00", 2 * protocol.Hour, 0},
	} {
		w := &cost.WaitingCost{Currency: "CHF", Parts: c.parts}
		now := at(t, zurich, c.now)
		rates, currency := w.Rates(now, now, c.until)
		a := policy.Application{WaitingCost: rates}
		if got := a.WaitCost(c.until); got != c.want || currency != "CHF" {
			t.Errorf("%s: got %d %s, want %d", c.what, got/unit, currency, c.want/unit)
		}
	}
}

// Steps after the submission stay where they are while the application waits.
func TestStepsAfterTheSubmission(t *testing.T) {
	t.Parallel()
	w := &cost.WaitingCost{Parts: []cost.WaitingPart{cost.Steps{
		Before: 1, Steps: []cost.Step{{After: 2 * protocol.Hour, PerHour: 5}, {After: protocol.Hour, PerHour: 3}, {At: 9_000_000, PerHour: 7}},
	}}}
	const h = protocol.Hour
	for _, c := range []struct {
		now   protocol.Instant
		until protocol.Duration
		want  []protocol.WaitingRate
	}{
		{0, 24 * h, []protocol.WaitingRate{{PerHour: 1}, {From: h, PerHour: 3}, {From: 2 * h, PerHour: 5}, {From: 2*h + 30*protocol.Minute, PerHour: 7}}},
		{protocol.Instant(h), 24 * h, []protocol.WaitingRate{{PerHour: 3}, {From: h, PerHour: 5}, {From: h + 30*protocol.Minute, PerHour: 7}}},
		{protocol.Instant(h), h, []protocol.WaitingRate{{PerHour: 3}}},
		{protocol.Instant(9 * h), 24 * h, []protocol.WaitingRate{{PerHour: 7}}},
		{0, 0, []protocol.WaitingRate{{PerHour: 1}}},
	} {
		if got, _ := w.Rates(0, c.now, c.until); !reflect.DeepEqual(got, c.want) {
			t.Errorf("from %d for %v: got %v, want %v", c.now, c.until, got, c.want)
		}
	}
}

// What is further off than is told one by one costs the mean.
func TestRatesAreBounded(t *testing.T) {
	t.Parallel()
	hourly := make([]contract.Span, 12)
	for i := range hourly {
		hourly[i] = contract.Span{From: i * 120, Until: i*120 + 60}
	}
	curve := cost.NewCurve(cost.Calendar{}, 0, []cost.Period{{Hours: hourly, PerHour: 100}})
	w := &cost.WaitingCost{Parts: []cost.WaitingPart{cost.Salary{Curve: curve}}}
	for _, until := range []protocol.Duration{30 * protocol.Day, 50 * protocol.Day, cost.Horizon, 10 * cost.Horizon, protocol.Never} {
		rates, _ := w.Rates(0, 0, until)
		rises(t, rates)
		if last := rates[len(rates)-1]; until > 50*protocol.Day && last.PerHour != 50 {
			t.Errorf("for %v: the last rate is %+v", until, last)
		}
		for _, one := range rates[:min(len(rates), cost.MaxRates-2)] {
			if want := curve.At(protocol.Instant(one.From)); one.From < cost.Horizon && one.PerHour != want {
				t.Errorf("at %v: %d, want %d", one.From, one.PerHour, want)
			}
		}
	}
	yearly := &cost.WaitingCost{Parts: []cost.WaitingPart{salary(t, time.UTC)}}
	rates, _ := yearly.Rates(0, 0, protocol.Never)
	rises(t, rates)
	if last := rates[len(rates)-1]; last.PerHour < 12*unit || last.PerHour > 15*unit { // 40 h of 168, less the holidays
		t.Errorf("a salary comes to %+v in the long run", last)
	}
}

func rises(t *testing.T, rates []protocol.WaitingRate) {
	t.Helper()
	if len(rates) > cost.MaxRates || rates[0].From != 0 {
		t.Fatalf("%d rates from %v on", len(rates), rates[0].From)
	}
	for i := 1; i < len(rates); i++ {
		if rates[i].From <= rates[i-1].From || rates[i].PerHour == rates[i-1].PerHour {
			t.Fatalf("rates %v, %v", rates[i-1], rates[i])
		}
	}
}

// K_w of a sum is the integral of all parts, as each is on its own.
func TestWaitingAddsUp(t *testing.T) {
	t.Parallel()
	all := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		now := near(t)
		step := func(label string) cost.Step {
			return cost.Step{At: now + protocol.Instant(rapid.Int64Range(-1_000_000, 500_000_000).Draw(t, label)) | 1, PerHour: 7 * unit}
		}
		first := cost.NewCurve(cost.Calendar{Zone: rapid.SampledFrom(all).Draw(t, "zone")}, 3*unit, []cost.Period{
			{Days: 0b0111110, Hours: []contract.Span{{From: 480, Until: 720}}, PerHour: 60 * unit},
		})
		second := cost.Steps{Before: 2 * unit, Steps: []cost.Step{step("first"), step("second")}}
		until := protocol.Duration(rapid.Int64Range(1, int64(20*protocol.Day)).Draw(t, "until"))
		w := &cost.WaitingCost{Parts: []cost.WaitingPart{cost.Salary{Curve: first}, second}}
		rates, _ := w.Rates(now, now, until)
		sum := new(big.Rat)
		for piece := range first.Pieces(now, now.Add(until)) {
			sum.Add(sum, big.NewRat(int64(piece.PerHour), 1).Mul(big.NewRat(int64(piece.PerHour), 1), big.NewRat(int64(piece.Until.Sub(piece.From)), 3_600_000)))
		}
		begin := max(now, min(second.Steps[0].At, second.Steps[1].At))
		early := min(begin.Sub(now), until)
		sum.Add(sum, big.NewRat(int64(2*unit)*int64(early)+int64(7*unit)*int64(until-early), 3_600_000))
		a := policy.Application{WaitingCost: rates}
		rounds(t, a.WaitCost(until), sum)
	})
}

// BenchmarkRates is of an application that may take a month.
func BenchmarkRates(b *testing.B) {
	w := &cost.WaitingCost{Parts: []cost.WaitingPart{salary(b, zone(b, "Europe/Zurich"))}}
	for b.Loop() {
		w.Rates(0, 1_774_746_000_000, 30*protocol.Day)
	}
}
