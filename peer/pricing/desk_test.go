package pricing_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// epoch is the beginning of 2026, a full hour.
const epoch protocol.Instant = 1_767_225_600_000

// desk is that of site 1, whose CPUs draw 250 W, at these prices of a MWh in EUR, hour by hour from the
// epoch on. The two prices are 20, and 40 in the second hour.
func desk(hourly ...int64) pricing.Desk {
	var prices pricing.Prices
	prices.Take(price.Forecast{
		Prices: series(hourly...), TwoPrice: series(20, 40), Currency: "EUR", PublishedUntil: epoch.Add(protocol.Hour),
	})
	return pricing.Desk{Number: 1, Capacity: &protocol.Capacity{CPUs: 8, Nodes: 8}, Power: 250_000, Prices: &prices}
}

func series(hourly ...int64) (out price.Series) {
	for i, each := range hourly {
		out.Slots = append(out.Slots, price.Slot{
			Start: epoch.Add(protocol.Duration(i) * protocol.Hour), Length: protocol.Hour, Price: protocol.Micro(each) * protocol.Unit,
		})
	}
	return out
}

// list charges one unit a job, and for electricity where its term is named so.
type list struct {
	term, currency, declines string
	asked                    *cost.Work
}

func (l list) Bill(w cost.Work) (cost.Bill, string) {
	*l.asked = w
	return cost.Bill{Terms: []protocol.Term{{Name: l.term, Amount: protocol.Unit}}, Currency: l.currency, Run: 2 * w.Run, Note: "slower"}, l.declines
}

// TestQuotedInterval: a quote is priced over the interval in which the job may start, where the site
// reckons by it, and always within the plan.
func TestQuotedInterval(t *testing.T) {
	t.Parallel()
	const half = 30 * protocol.Minute
	spec := protocol.Spec{Request: protocol.Request{CPUs: 4, WallTime: protocol.Day}}
	for name, tt := range map[string]struct {
		quote   protocol.Quote
		planned bool
		by      protocol.EnergyPricing
		want    protocol.Micro
	}{
		"half of the starts in each hour": {protocol.Quote{AWT: half, AWTHigh: protocol.Hour}, false, protocol.Hourly, 20_000},
		"a bound before the plan":         {protocol.Quote{AWT: protocol.Hour, AWTHigh: half}, false, protocol.Hourly, 24_000},
		"a bound after the plan":          {protocol.Quote{AWT: 0, AWTLow: half, AWTHigh: protocol.Hour}, false, protocol.Hourly, 16_000},
		"one point":                       {protocol.Quote{AWT: half, AWTLow: half, AWTHigh: half}, false, protocol.Hourly, 20_000},
		"no interval":                     {protocol.Quote{AWT: protocol.Hour}, false, protocol.Hourly, 30_000},
		"a site that plans":               {protocol.Quote{AWT: protocol.Hour, AWTHigh: protocol.Hour}, true, protocol.Hourly, 30_000},
		"at once":                         {protocol.Quote{AWT: protocol.Hour, AWTHigh: protocol.Hour}, false, protocol.AtOnce, 10_000},
		"two prices":                      {protocol.Quote{AWT: protocol.Hour}, false, protocol.TwoPrice, 40_000},
	} {
		d, q := desk(10, 30, 90), tt.quote
		d.Spread, q.ERT = !tt.planned, protocol.Hour
		d.Charge(&q, &spec, tt.by, epoch)
		if want := []protocol.Term{{Name: pricing.EnergyTerm, Amount: tt.want}}; !reflect.DeepEqual(q.Terms, want) || q.Currency != "EUR" {
			t.Errorf("%s: %+v in %s, want %+v", name, q.Terms, q.Currency, want)
		}
	}
}

// TestPriceList: a site's own list is added to what its batch system names in the same currency, and has
// electricity for itself where it charges that.
func TestPriceList(t *testing.T) {
	t.Parallel()
	own := protocol.Term{Name: cost.CPUTerm, Amount: 5}
	for name, tt := range map[string]struct {
		list     list
		terms    []protocol.Term
		declined string
	}{
		"with electricity":    {list{term: cost.EcoTerm, currency: "EUR"}, []protocol.Term{own, {Name: cost.EcoTerm, Amount: protocol.Unit}}, ""},
		"without electricity": {list{term: cost.LicenseTerm, currency: "EUR"}, []protocol.Term{own, {Name: cost.LicenseTerm, Amount: protocol.Unit}, {Name: pricing.EnergyTerm, Amount: 40_000}}, ""},
		"not sold":            {list{term: cost.LicenseTerm, currency: "EUR", declines: "no license"}, nil, "no license"},
		"another currency":    {list{term: cost.LicenseTerm, currency: "CHF"}, nil, "its batch system names prices in EUR, and [site] currency there is CHF; they must be the same"},
	} {
		d := desk(10, 30, 90)
		tt.list.asked = new(cost.Work)
		d.Costs = tt.list
		q := protocol.Quote{Job: protocol.NewJobID(2, 1), ERT: 3 * protocol.Hour, Currency: "EUR", Terms: []protocol.Term{own}}
		spec := protocol.Spec{Request: protocol.Request{Job: q.Job, CPUs: 4, WallTime: protocol.Hour}, PredictedRunTime: protocol.Hour + 1}
		d.Charge(&q, &spec, protocol.Hourly, epoch)
		if !reflect.DeepEqual(q.Terms, tt.terms) || q.Declined != tt.declined {
			t.Errorf("%s: %+v, declined %q", name, q.Terms, q.Declined)
		}
		if tt.declined == "" && (q.ERT != 2*(protocol.Hour+1) || q.Note != "would be ended at its limit of time, 1:00:00; slower") {
			t.Errorf("%s: it takes %d, %q", name, q.ERT, q.Note)
		}
		if w := tt.list.asked; !w.Guest || w.Start != epoch || w.Run != protocol.Hour+1 || w.Power != 1_000_000 || w.Currency != "EUR" {
			t.Errorf("%s: asked for %+v", name, w)
		}
	}
}
