package pricing_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPricesGoOn: what was known serves until there is something new, and people are told why there is
// not.
func TestPricesGoOn(t *testing.T) {
	t.Parallel()
	var p pricing.Prices
	check := func(text string, known bool, at int64) {
		t.Helper()
		if got := p.Text("FR"); got != text {
			t.Errorf("it says %q, want %q", got, text)
		}
		now, currency := p.At(epoch)
		if p.Known() != known || (now != nil) != known || (currency != "") != known {
			t.Fatalf("known: %t, in %q", p.Known(), currency)
		}
		if known && *now != protocol.Micro(at)*protocol.Unit {
			t.Errorf("a MWh is %d", *now)
		}
	}
	p.Miss("no answer yet")
	check("no prices of FR: no answer yet", false, 0)
	p.Take(price.Forecast{Currency: "EUR"})
	check("no prices of FR: none are known of this time", false, 0)
	p.Take(price.Forecast{Prices: series(7), TwoPrice: series(7), Currency: "EUR", PublishedUntil: epoch})
	check("FR in EUR, known until 2026-01-01 00:00Z", true, 7)
	p.Miss("the feed is down")
	check("old prices of FR: the feed is down", true, 7)
	p.Take(price.Forecast{})
	check("old prices of FR: none are known of this time", true, 7)
	p.Take(price.Forecast{Prices: series(9), TwoPrice: series(9), Currency: "EUR", PublishedUntil: epoch, StaleReason: "late"})
	check("old prices of FR: late", true, 9)
	if p.Text("") != "" {
		t.Errorf("without an area it says %q", p.Text(""))
	}
}
