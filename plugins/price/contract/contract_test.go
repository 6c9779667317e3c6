package contract_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/plugins/pricetest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const unit protocol.Micro = 1_000_000

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	found, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

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

// winterContract is dear on winter evenings of working days, cheap at night and on Sundays.
func winterContract(tb testing.TB, zone *time.Location) *contract.Tariff {
	tb.Helper()
	sets, spans := must[contract.Set](tb), must[[]contract.Span](tb)
	return &contract.Tariff{
		Area: "home", Currency: "EUR", Zone: zone, Price: 100 * unit,
		Periods: []contract.Period{
			{
				Months: sets(contract.ParseMonths("oct-mar")), Days: sets(contract.ParseDays("mon-fri")),
				Hours: spans(contract.ParseHours("17:00-20:15")), Price: 300 * unit,
			},
			{Hours: spans(contract.ParseHours("22:00-06:00")), Price: 50 * unit},
			{Days: sets(contract.ParseDays("sun")), Price: 60 * unit},
		},
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	c := winterContract(t, berlin)
	for text, want := range map[string]protocol.Micro{
		"2026-01-07 16:59": 100, "2026-01-07 17:00": 300, "2026-01-07 20:14": 300, "2026-01-07 20:15": 100, // a Wednesday
		"2026-01-10 18:00": 100, "2026-01-11 18:00": 60, // the weekend
		"2026-07-08 18:00": 100, // summer
		"2026-01-07 21:59": 100, "2026-01-07 22:00": 50, "2026-01-08 00:00": 50, "2026-01-08 05:59": 50, "2026-01-08 06:00": 100,
		"2026-01-11 05:59": 50, "2026-01-11 06:00": 60, // the first period that holds counts
	} {
		at := must[time.Time](t)(time.ParseInLocation("2006-01-02 15:04", text, berlin))
		if got := c.At(protocol.InstantOf(at)); got != want*unit {
			t.Errorf("%s: got %d, want %d", text, got/unit, want)
		}
	}
}

// The clock of the zone rules, also on the days on which it is changed.
func TestClockChanges(t *testing.T) {
	t.Parallel()
	c := winterContract(t, zone(t, "Europe/Berlin"))
	for day, want := range map[string]int{"2026-03-28": 8, "2026-03-29": 7, "2026-10-25": 9} {
		start := must[time.Time](t)(time.ParseInLocation(time.DateOnly, day, c.Zone))
		query := price.Query{Area: "home", From: protocol.InstantOf(start), Until: protocol.InstantOf(start.AddDate(0, 0, 1))}
		s := must[price.Series](t)(c.Feed().Prices(t.Context(), query))
		cheap := 0
		for _, slot := range s.Slots {
			if slot.Price == 50*unit {
				cheap++
			}
		}
		if cheap != want {
			t.Errorf("%s: %d cheap hours, want %d", day, cheap, want)
		}
	}
}

// What a query answers is what the clock says at each quarter of an hour.
func TestPricesAgreeWithAt(t *testing.T) {
	t.Parallel()
	contracts := []*contract.Tariff{
		winterContract(t, zone(t, "Europe/Berlin")), winterContract(t, zone(t, "Asia/Kathmandu")), winterContract(t, zone(t, "Australia/Lord_Howe")), winterContract(t, time.UTC),
	}
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(contracts).Draw(t, "contract")
		from := protocol.Instant(rapid.Int64Range(0, 4_000_000_000_000).Draw(t, "from"))
		query := price.Query{Area: "home", From: from, Until: from.Add(protocol.Duration(rapid.Int64Range(1, int64(3*protocol.Day)).Draw(t, "span")))}
		s, err := c.Feed().Prices(t.Context(), query)
		if err == nil {
			err = s.Check(query)
		}
		if err != nil {
			t.Fatal(err)
		}
		for at := query.From; at < query.Until; at = at.Add(price.Resolution) {
			if got, ok := s.At(at); !ok || got != c.At(at-at%protocol.Instant(price.Resolution)) {
				t.Fatalf("at %v: got %d, %t; want %d", at.Time(), got, ok, c.At(at))
			}
		}
	})
}

func TestQueries(t *testing.T) {
	t.Parallel()
	feed := winterContract(t, time.UTC).Feed()
	ask := func(from, until protocol.Instant) (price.Series, error) {
		return feed.Prices(t.Context(), price.Query{Area: "home", From: from, Until: until})
	}
	if _, err := ask(0, protocol.Instant(0).Add(26*366*protocol.Day)); err == nil {
		t.Error("26 years are answered")
	}
	if _, err := ask(math.MinInt64, math.MaxInt64); err == nil {
		t.Error("all of time is answered")
	}
	for _, from := range []protocol.Instant{math.MinInt64, -3_600_000, math.MaxInt64 - 3_600_000} {
		if s, err := ask(from, from.Add(protocol.Hour)); err != nil || len(s.Slots) > 0 {
			t.Errorf("an hour from %d on: %v, %v", from, s.Slots, err)
		}
	}
	s, err := ask(30*60_000, 30*60_000+1)
	if want := []price.Slot{{Start: 0, Length: protocol.Hour, Price: 50 * unit}}; err != nil || !slices.Equal(s.Slots, want) {
		t.Errorf("a millisecond: %v, %v", s.Slots, err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	sets := map[string]contract.Set{"oct-mar": 0b1_1100_0000_1110, "JAN": 2, "jan, mar-apr": 0b11010, "jan-dec": 0b1_1111_1111_1110, "dec-nov": 0b1_1111_1111_1110}
	for text, want := range sets {
		if got, err := contract.ParseMonths(text); err != nil || got != want {
			t.Errorf("months %q: got %b, %v; want %b", text, got, err, want)
		}
	}
	for text, want := range map[string]contract.Set{"mon-fri": 0b0111110, "fri-mon": 0b1100011, "sun,sat": 0b1000001} {
		if got, err := contract.ParseDays(text); err != nil || got != want {
			t.Errorf("days %q: got %b, %v; want %b", text, got, err, want)
		}
	}
	got, err := contract.ParseHours("06:00-22:15, 23:00-24:00")
	if want := []contract.Span{{6 * 60, 22*60 + 15}, {23 * 60, 24 * 60}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("hours: got %v, %v", got, err)
	}
	for _, text := range []string{"", "oct-", "-", "monday", "1-3", "jan-mar-may"} {
		if _, err := contract.ParseMonths(text); err == nil {
			t.Errorf("the months %q are accepted", text)
		}
		if _, err := contract.ParseDays(text); err == nil {
			t.Errorf("the days %q are accepted", text)
		}
	}
	for _, text := range []string{"", "06:00", "6:00-7:00", "06:10-07:00", "06:00-06:00", "24:15-01:00", "+6:00-07:00", "06:60-07:00", "06:00-07:00-08:00"} {
		if got, err := contract.ParseHours(text); err == nil {
			t.Errorf("the hours %q are accepted as %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("oct-mar, jul")
	f.Add("mon-fri,sun")
	f.Add("22:00-06:00, 12:00-13:30")
	f.Fuzz(func(t *testing.T, text string) {
		if set, err := contract.ParseMonths(text); err == nil && (set == 0 || set&^0b1_1111_1111_1110 != 0) {
			t.Errorf("months: %b", set)
		}
		if set, err := contract.ParseDays(text); err == nil && (set == 0 || set > 0b1111111) {
			t.Errorf("days: %b", set)
		}
		spans, err := contract.ParseHours(text)
		for _, s := range spans {
			if err != nil || s.From == s.Until || min(s.From, s.Until) < 0 || max(s.From, s.Until) > 24*60 || s.From%15 != 0 || s.Until%15 != 0 {
				t.Errorf("hours: %v, %v", spans, err)
			}
		}
	})
}

func TestApply(t *testing.T) {
	t.Parallel()
	cases := []struct {
		fee  protocol.Micro
		tax  contract.Percent
		in   protocol.Micro
		want protocol.Micro
	}{
		{0, 0, -5, -5},
		{20 * unit, 19_000_000, 80 * unit, 119 * unit},
		{20 * unit, 0, -30 * unit, -10 * unit},
		{0, 25_500_000, -2 * unit, -2_510_000},
		{0, 50_000_000, 1, 2}, // half away from zero
		{0, 50_000_000, -1, -2},
		{0, 10_000_000, 4, 4},
		{0, contract.MaxTax, math.MaxInt64 / 2, math.MaxInt64},
		{0, contract.MaxTax, math.MinInt64, -math.MaxInt64},
		{math.MaxInt64, 0, math.MaxInt64, math.MaxInt64},
	}
	for _, c := range cases {
		if got := (contract.Adjustment{GridFee: c.fee, Tax: c.tax}).Apply(c.in); got != c.want {
			t.Errorf("%d with fee %d and tax %d: got %d, want %d", c.in, c.fee, c.tax, got, c.want)
		}
	}
}

// Fee and tax are exact to half a millionth.
func TestApplyIsExact(t *testing.T) {
	t.Parallel()
	amounts := rapid.Int64Range(-1_000_000_000_000, 1_000_000_000_000)
	rapid.Check(t, func(t *rapid.T) {
		in, fee := amounts.Draw(t, "price"), amounts.Draw(t, "fee")
		tax := rapid.Int64Range(0, int64(contract.MaxTax)).Draw(t, "tax")
		got := contract.Adjustment{GridFee: protocol.Micro(fee), Tax: contract.Percent(tax)}.Apply(protocol.Micro(in))
		exact := big.NewRat(in+fee, 1)
		exact.Mul(exact, big.NewRat(100_000_000+tax, 100_000_000))
		off := exact.Sub(exact, big.NewRat(int64(got), 1))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("%d is off by %v", got, off)
		}
	})
}

// lender hands out its own slots.
type lender struct{ slots []price.Slot }

func (lender) Describe(context.Context) (price.Description, error) {
	return price.Description{Areas: []string{"A"}, Currency: "EUR"}, nil
}

func (l lender) Prices(_ context.Context, query price.Query) (price.Series, error) {
	if query.Area != "A" {
		return price.Series{}, price.ErrUnknownArea
	}
	return price.Series{Slots: l.slots}, nil
}

func TestAdjusted(t *testing.T) {
	t.Parallel()
	of := lender{[]price.Slot{{Start: 0, Length: protocol.Hour, Price: 80 * unit}}}
	feed := contract.Adjusted(of, contract.Adjustment{GridFee: 20 * unit, Tax: 50_000_000})
	for range 2 { // the slots of the other feed stay as they are
		s, err := feed.Prices(t.Context(), price.Query{Area: "A", Until: 1})
		if err != nil || len(s.Slots) != 1 || s.Slots[0].Price != 150*unit {
			t.Errorf("got %v, %v", s, err)
		}
	}
	if _, err := feed.Prices(t.Context(), price.Query{Area: "B"}); !errors.Is(err, price.ErrUnknownArea) {
		t.Errorf("got %v", err)
	}
	if d, err := feed.Describe(t.Context()); err != nil || d.Currency != "EUR" {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	c := winterContract(t, zone(t, "Asia/Kolkata"))
	pricetest.Test(t, pricetest.Target{
		Open: func(context.Context) (price.Feed, error) {
			return contract.Adjusted(c.Feed(), contract.Adjustment{GridFee: unit, Tax: 7_000_000}), nil
		},
		Known: protocol.InstantOf(time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC)),
	})
}

// BenchmarkPrices asks for a year.
func BenchmarkPrices(b *testing.B) {
	feed := winterContract(b, zone(b, "Europe/Berlin")).Feed()
	from := protocol.InstantOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for b.Loop() {
		if _, err := feed.Prices(b.Context(), price.Query{Area: "home", From: from, Until: from.Add(365 * protocol.Day)}); err != nil {
			b.Fatal(err)
		}
	}
}
