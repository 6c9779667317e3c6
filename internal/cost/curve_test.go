package cost_test

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const unit = protocol.Unit

func must[T any](tb testing.TB) func(T, error) T {
	tb.Helper()
	return func(value T, err error) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return value
	}
}

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	return must[*time.Location](tb)(time.LoadLocation(name))
}

// at is an instant by the clock of a zone.
func at(tb testing.TB, zone *time.Location, text string) protocol.Instant {
	tb.Helper()
	layout := "2006-01-02 15:04:05.000"
	return protocol.InstantOf(must[time.Time](tb)(time.ParseInLocation(layout[:len(text)], text, zone)))
}

// period is one in words; an empty word is all.
func period(tb testing.TB, months, days, hours string, perHour protocol.Micro) (p cost.Period) {
	tb.Helper()
	p.PerHour = perHour
	if months != "" {
		p.Months = must[contract.Set](tb)(contract.ParseMonths(months))
	}
	if days != "" {
		p.Days = must[contract.Set](tb)(cost.ParseDays(days))
	}
	if hours != "" {
		p.Hours = must[[]contract.Span](tb)(contract.ParseHours(hours))
	}
	return p
}

func holidays(tb testing.TB, texts ...string) (all []cost.Holiday) {
	tb.Helper()
	for _, text := range texts {
		all = append(all, must[cost.Holiday](tb)(cost.ParseHoliday(text)))
	}
	return all
}

// figure1 is [IS Figure 1]: days, nights and weekends have prices of their own; holidays
// count as weekends.
func figure1(tb testing.TB, zone *time.Location) *cost.Curve {
	tb.Helper()
	calendar := cost.Calendar{Zone: zone, Holidays: holidays(tb, "01-01", "2026-04-03", "12-24..01-02")}
	return cost.NewCurve(calendar, 4*unit, []cost.Period{
		period(tb, "", "mon-fri", "20:00-08:00", 2*unit),
		period(tb, "", "sat-sun, holiday", "", unit),
	})
}

func TestFigure1(t *testing.T) {
	t.Parallel()
	zurich := zone(t, "Europe/Zurich")
	curve := figure1(t, zurich)
	for text, want := range map[string]protocol.Micro{
		"2026-03-04 07:59:59.999": 2, "2026-03-04 08:00": 4, "2026-03-04 19:59:59.999": 4, "2026-03-04 20:00": 2, // a Wednesday
		"2026-03-06 23:59:59.999": 2, "2026-03-07 00:00": 1, "2026-03-08 23:59:59.999": 1, "2026-03-09 00:00": 2, // a weekend
		"2026-04-02 23:59": 2, "2026-04-03 12:00": 1, "2026-04-04 00:00": 1, "2025-04-03 12:00": 4, // Good Friday of one year
		"2026-12-23 12:00": 4, "2026-12-24 12:00": 1, "2027-01-02 12:00": 1, "2027-01-05 12:00": 4, "2031-01-01 12:00": 1,
	} {
		if got := curve.At(at(t, zurich, text)); got != want*unit {
			t.Errorf("%s: got %d, want %d", text, got/unit, want)
		}
	}
}

// Amounts that can be worked out by hand, over changes of the price, of the clock, of the
// day and of the year.
func TestIntegrals(t *testing.T) {
	t.Parallel()
	zurich := zone(t, "Europe/Zurich")
	curve := figure1(t, zurich)
	nights := cost.NewCurve(cost.Calendar{Zone: zurich}, 0, []cost.Period{period(t, "", "", "00:00-06:00", unit)})
	february := cost.NewCurve(cost.Calendar{Zone: zurich}, 0, []cost.Period{period(t, "feb", "", "", unit)})
	for _, c := range []struct {
		what  string
		curve *cost.Curve
		from  string
		d     protocol.Duration
		want  protocol.Micro
	}{
		{"an hour of night and an hour of day", curve, "2026-03-04 07:00", 2 * protocol.Hour, 6 * unit},
		{"a millisecond of each", curve, "2026-03-04 19:59:59.999", 2, 2},
		{"a whole week", curve, "2026-03-02 00:00", 7 * protocol.Day, 5*(12*4+12*2)*unit + 48*unit},
		{"midnight into the weekend", curve, "2026-03-06 23:00", 2 * protocol.Hour, 3 * unit},
		{"new year's holidays", curve, "2026-12-31 12:00", protocol.Day, 24 * unit},
		{"a night without the hour that the spring skips", nights, "2026-03-29 00:00", 23 * protocol.Hour, 5 * unit},
		{"a night with the hour that the autumn has twice", nights, "2026-10-25 00:00", protocol.Day, 7 * unit},
		{"the second of the two hours", nights, "2026-10-25 05:00", protocol.Hour, unit},
		{"a leap year's February", february, "2028-01-31 00:00", 60 * protocol.Day, 29 * 24 * unit},
		{"another one's", february, "2027-01-31 00:00", 60 * protocol.Day, 28 * 24 * unit},
		{"the last day of a leap year that is far off", figure1(t, zone(t, "America/New_York")), "2096-12-31 12:00", protocol.Day, 24 * unit},
		{"nothing", curve, "2026-03-04 07:00", 0, 0},
		{"less than nothing", curve, "2026-03-04 07:00", -protocol.Hour, 0},
	} {
		if got := c.curve.Integral(at(t, zurich, c.from), c.d); got != c.want {
			t.Errorf("%s: got %d, want %d", c.what, got, c.want)
		}
	}
}

// drawn is a curve of any periods in any of some zones.
func drawn(t *rapid.T, zones []*time.Location) *cost.Curve {
	sets := func(label string, of int) contract.Set {
		return contract.Set(rapid.Uint16Range(0, 1<<of-1).Draw(t, label))
	}
	quarters := rapid.IntRange(0, 96)
	span := rapid.Custom(func(t *rapid.T) contract.Span {
		return contract.Span{From: 15 * rapid.IntRange(0, 95).Draw(t, "from"), Until: 15 * quarters.Draw(t, "until")}
	})
	money := rapid.Int64Range(-5_000_000, 5_000_000)
	calendar := cost.Calendar{
		Zone: rapid.SampledFrom(zones).Draw(t, "zone"),
		Holidays: []cost.Holiday{
			{From: cost.Date{Month: 3, Day: 27}, Until: cost.Date{Month: 3, Day: 29}},
			{From: cost.Date{Month: 10, Day: 25}, Until: cost.Date{Month: 10, Day: 25}},
		},
	}
	periods := make([]cost.Period, rapid.IntRange(0, 4).Draw(t, "periods"))
	for i := range periods {
		periods[i] = cost.Period{
			Months: sets("months", 12) << 1, Days: sets("days", 8),
			Hours:   rapid.SliceOfN(span, 0, 3).Draw(t, "hours"),
			PerHour: protocol.Micro(money.Draw(t, "rate")),
		}
	}
	return cost.NewCurve(calendar, protocol.Micro(money.Draw(t, "base")), periods)
}

func zones(tb testing.TB) []*time.Location {
	tb.Helper()
	return []*time.Location{
		nil, zone(tb, "Europe/Zurich"), zone(tb, "Asia/Kathmandu"), zone(tb, "Australia/Lord_Howe"), zone(tb, "America/Sao_Paulo"),
		zone(tb, "Asia/Beirut"), // its clock changes at midnight
	}
}

// near is an instant close to where many clocks change, or anywhere.
func near(t *rapid.T) protocol.Instant {
	changes := []int64{0, 1_774_746_000_000, 1_792_890_000_000, 1_774_735_200_000, 1_540_090_800_000, 1_775_314_800_000, 4_000_000_000_000}
	return protocol.Instant(rapid.SampledFrom(changes).Draw(t, "near") + rapid.Int64Range(-86_400_000, 86_400_000).Draw(t, "off"))
}

// The integral is the sum of the rates of every step of the clock, as they are read off one
// by one with the clock of the standard library.
func TestIntegralsAgreeWithASum(t *testing.T) {
	t.Parallel()
	all := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		curve := drawn(t, all)
		from := near(t)
		from -= from % 60_000 // rates change on whole minutes, so a minute has one
		minutes := rapid.IntRange(0, 3*24*60).Draw(t, "minutes")
		sum := int64(0)
		for minute := range minutes {
			sum += int64(curve.At(from.Add(protocol.Duration(minute)*protocol.Minute))) * 60_000
		}
		rounds(t, curve.Integral(from, protocol.Duration(minutes)*protocol.Minute), big.NewRat(sum, 3_600_000))
	})
}

// And over milliseconds, around any change.
func TestIntegralsAreExactToTheMillisecond(t *testing.T) {
	t.Parallel()
	all := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		curve := drawn(t, all)
		quarter := near(t)
		quarter -= quarter % 900_000
		from := quarter - protocol.Instant(rapid.IntRange(0, 50).Draw(t, "before"))
		until := quarter + protocol.Instant(rapid.IntRange(0, 50).Draw(t, "after"))
		sum := int64(0)
		for ms := from; ms < until; ms++ {
			sum += int64(curve.At(ms))
		}
		rounds(t, curve.Integral(from, until.Sub(from)), big.NewRat(sum, 3_600_000))
	})
}

// rounds fails unless got is the exact amount rounded, half away from zero.
func rounds(t *rapid.T, got protocol.Micro, exact *big.Rat) {
	t.Helper()
	half := big.NewRat(1, 2)
	if exact.Sign() < 0 {
		half.Neg(half)
	}
	sum := new(big.Rat).Add(exact, half)
	want := new(big.Int).Quo(sum.Num(), sum.Denom())
	if !want.IsInt64() || int64(got) != want.Int64() {
		t.Fatalf("got %d, want %v of %v", got, want, exact.FloatString(3))
	}
}

// The rates are those of the clock on the wall, as the standard library reads it.
func TestRatesGoByTheClock(t *testing.T) {
	t.Parallel()
	all := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(all[1:]).Draw(t, "zone")
		months := contract.Set(rapid.Uint16Range(1, 1<<12-1).Draw(t, "months")) << 1
		days := contract.Set(rapid.Uint16Range(1, 1<<7-1).Draw(t, "days"))
		hour := rapid.IntRange(0, 23).Draw(t, "hour")
		curve := cost.NewCurve(cost.Calendar{Zone: zone}, 0, []cost.Period{
			{Months: months, Days: days, Hours: []contract.Span{{From: hour * 60, Until: (hour + 1) * 60}}, PerHour: 1},
		})
		at := near(t)
		clock := at.Time().In(zone)
		want := months.Has(int(clock.Month())) && days.Has(int(clock.Weekday())) && clock.Hour() == hour
		if got := curve.At(at) == 1; got != want {
			t.Fatalf("%v: holds %t", clock, got)
		}
	})
}

// A time in two parts costs the same as in one, but for the rounding of each.
func TestIntegralsAddUp(t *testing.T) {
	t.Parallel()
	all := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		curve := drawn(t, all)
		from := near(t)
		first := protocol.Duration(rapid.Int64Range(0, int64(400*protocol.Day)).Draw(t, "first"))
		second := protocol.Duration(rapid.Int64Range(0, int64(400*protocol.Day)).Draw(t, "second"))
		off := curve.Integral(from, first) + curve.Integral(from.Add(first), second) - curve.Integral(from, first+second)
		if off < -1 || off > 1 {
			t.Fatalf("the parts are %d apart from the whole", off)
		}
	})
}

func TestOverlaps(t *testing.T) {
	t.Parallel()
	night := period(t, "", "mon-fri", "20:00-08:00", 1)
	morning := period(t, "jul", "fri-sat", "06:00-07:00", 2)
	weekend := period(t, "", "sat-sun", "", 3)
	feast := period(t, "", "holiday", "", 3)
	got := cost.Overlaps([]cost.Period{night, feast, weekend, morning})
	want := []cost.Overlap{{First: 0, Second: 3, When: "Fridays in July at 06:00"}, {First: 2, Second: 3, When: "Saturdays in July at 06:00"}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v", got)
	}
	if got := cost.Overlaps([]cost.Period{feast, period(t, "dec", "", "", 4)}); len(got) != 1 || got[0].When != "holidays in December at 00:00" {
		t.Errorf("got %+v", got)
	}
}

func TestParseHoliday(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cost.Holiday{
		"2026-04-03":             {From: cost.Date{Year: 2026, Month: 4, Day: 3}, Until: cost.Date{Year: 2026, Month: 4, Day: 3}},
		"02-29":                  {From: cost.Date{Month: 2, Day: 29}, Until: cost.Date{Month: 2, Day: 29}},
		"12-24..01-02":           {From: cost.Date{Month: 12, Day: 24}, Until: cost.Date{Month: 1, Day: 2}},
		"2026-12-24..2027-01-02": {From: cost.Date{Year: 2026, Month: 12, Day: 24}, Until: cost.Date{Year: 2027, Month: 1, Day: 2}},
	} {
		if got, err := cost.ParseHoliday(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "..", "2026-02-29", "02-30", "4-3", "2026-04-03..", "2026-04-03..05-01", "2027-01-02..2026-12-24", "0000-01-01", "01-01..01-02..01-03"} {
		if got, err := cost.ParseHoliday(text); err == nil {
			t.Errorf("%q is accepted as %+v", text, got)
		}
	}
}

func TestParseDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]contract.Set{"mon-fri": 0b0111110, "sat-sun, Holiday": 0b11000001, "holiday": 0b10000000} {
		if got, err := cost.ParseDays(text); err != nil || got != want {
			t.Errorf("%q: got %b, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "holidays", "mon-holiday", "holiday,", "weekend"} {
		if got, err := cost.ParseDays(text); err == nil {
			t.Errorf("%q is accepted as %b", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("12-24..01-02")
	f.Add("2026-04-03")
	f.Add("mon-fri, holiday")
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := cost.ParseHoliday(text); err == nil {
			if (h.From.Year == 0) != (h.Until.Year == 0) || min(h.From.Day, h.Until.Day) < 1 || min(h.From.Month, h.Until.Month) < 1 {
				t.Errorf("%+v", h)
			}
		}
		if set, err := cost.ParseDays(text); err == nil && (set == 0 || set > 0b11111111) {
			t.Errorf("days %b", set)
		}
	})
}

// BenchmarkIntegral is of a run of a week.
func BenchmarkIntegral(b *testing.B) {
	curve := figure1(b, zone(b, "Europe/Zurich"))
	for b.Loop() {
		curve.Integral(1_774_746_000_000, 7*protocol.Day)
	}
}
