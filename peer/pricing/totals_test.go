package pricing_test

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestTotalsOfManyRuns: amounts above and below 0 are counted apart, by currency in order, and what was
// given out before does not change.
func TestTotalsOfManyRuns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var totals pricing.Totals
		want := map[string]view.MoneyTotals{}
		for range rapid.IntRange(0, 20).Draw(t, "runs") {
			before := totals
			given := append([]view.MoneyTotals(nil), before.Money...)
			currency := rapid.SampledFrom([]string{"CHF", "EUR", "USD"}).Draw(t, "currency")
			amount := protocol.Micro(rapid.Int64Range(-5, 5).Draw(t, "amount"))
			m := want[currency]
			m.Currency = currency
			var changed bool
			if rapid.Bool().Draw(t, "saved") {
				changed = totals.AddSaving(amount, 0, currency, epoch)
				m.Saved, m.Lost = m.Saved+max(0, amount), m.Lost+max(0, -amount)
			} else {
				bill := protocol.Bill{Currency: currency, Terms: []protocol.Term{{Name: cost.CPUTerm, Amount: 9}, {Name: cost.EcoTerm, Amount: amount}}}
				changed = totals.AddRun(0, &protocol.Outcome{Ran: protocol.Hour, Bill: &bill}, epoch)
				m.Cost, m.Credit = m.Cost+max(0, amount), m.Credit+max(0, -amount)
			}
			if changed != (amount != 0) || !reflect.DeepEqual(append([]view.MoneyTotals(nil), before.Money...), given) {
				t.Fatalf("changed: %t; before %+v, now %+v", changed, given, before.Money)
			}
			if changed {
				want[currency] = m
			}
		}
		if totals.Energy != 0 || len(totals.Money) != len(want) || (totals.Since == epoch) != (len(want) > 0) {
			t.Fatalf("%+v, want %+v", totals, want)
		}
		last := ""
		for _, m := range totals.Money {
			if m != want[m.Currency] || m.Currency <= last {
				t.Fatalf("%+v, want %+v", totals.Money, want)
			}
			last = m.Currency
		}
	})
}

// TestTotalsHaveAnEnd: what is too much is the most that there is.
func TestTotalsHaveAnEnd(t *testing.T) {
	t.Parallel()
	var totals pricing.Totals
	for range 2 {
		totals.AddRun(math.MaxInt64, &protocol.Outcome{Ran: protocol.Hour}, epoch)
		totals.AddSaving(math.MaxInt64, math.MinInt64, "EUR", epoch)
		totals.AddSaving(math.MinInt64, math.MaxInt64, "EUR", epoch)
	}
	if m := totals.Money[0]; totals.Energy != math.MaxInt64 || m.Saved != math.MaxInt64 || m.Lost != math.MaxInt64 {
		t.Errorf("%+v", totals)
	}
}

// TestRoundedOnce: energy and the price at home are rounded once, to the nearest.
func TestRoundedOnce(t *testing.T) {
	t.Parallel()
	if got := []int64{pricing.Energy(1, 499), pricing.Energy(1, 500), pricing.Energy(3, 500), pricing.Energy(1, -500)}; !reflect.DeepEqual(got, []int64{0, 1, 2, 0}) {
		t.Errorf("%d mJ", got)
	}
	for ran, want := range map[protocol.Duration]protocol.Micro{0: 0, 1: 3, 2: 7, 3: 10, 6: 20} {
		if got := pricing.HomeCost(&view.QuotedPrice{Cost: 10, Run: 3}, ran); got != want {
			t.Errorf("for %d of 3: %d, want %d", ran, got, want)
		}
	}
}
