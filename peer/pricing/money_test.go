package pricing_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// francs is a site with CHF, of which one is worth 0.3 of the common unit, and a EUR 0.31.
func francs() pricing.Money {
	return pricing.Money{Own: "CHF", Exchange: cost.Exchange{"CHF": 300_000, "EUR": 310_000}}
}

// TestMaxCostIsRoundedDown: whoever keeps the limit as it is told here keeps it as its user has it.
func TestMaxCostIsRoundedDown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		money    pricing.Money
		limit    protocol.Micro
		currency string
		want     protocol.Micro
	}{
		"no limit":                 {francs(), protocol.Unlimited, "EUR", protocol.Unlimited},
		"the site's own":           {francs(), 7, "CHF", 7},
		"no currency":              {francs(), 7, "", 7},
		"another one":              {francs(), 1_000_000, "EUR", 1_033_333},
		"another one, exactly":     {francs(), 3_000_000, "EUR", 3_100_000},
		"one that nobody knows":    {francs(), 1_000_000, "XAU", 0},
		"a site without currency":  {pricing.Money{Exchange: francs().Exchange}, 1_000_000, "EUR", 0},
		"a site without any table": {pricing.Money{Own: "CHF"}, 1_000_000, "EUR", 0},
	} {
		if got := tt.money.MaxCost(&protocol.Application{MaxCost: tt.limit, Currency: tt.currency}); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	if _, err := (pricing.Money{}).Convert(1, "EUR"); err == nil || !strings.Contains(err.Error(), "set currency in [site]") {
		t.Errorf("without a currency of its own: %v", err)
	}
}

// TestParts: each term goes to its part, in the site's own currency, and the link to the data.
func TestParts(t *testing.T) {
	t.Parallel()
	q := &protocol.Quote{Currency: "CHF", Terms: []protocol.Term{
		{Name: cost.CPUTerm, Amount: 1},
		{Name: "tape", Amount: 10},
		{Name: cost.LicenseTerm, Amount: 200},
		{Name: cost.EcoTerm, Amount: 3000},
		{Name: pricing.EnergyTerm, Amount: 40_000},
		{Name: cost.DataTerm, Amount: 500_000},
	}}
	want := view.Money{Currency: "CHF", CPU: 11, License: 200, Energy: 43_000, Data: 500_007}
	if got := francs().Parts(q, 7); got != want {
		t.Errorf("%+v", got)
	}
	if got := francs().Parts(&protocol.Quote{Declined: "no", Currency: "CHF", Terms: q.Terms}, 7); got != (view.Money{Currency: "CHF"}) {
		t.Errorf("declined: %+v", got)
	}
	foreign := &protocol.Quote{Currency: "XAU", Terms: q.Terms}
	if got := francs().Parts(foreign, 7); got != (view.Money{Currency: "CHF", Data: 7}) {
		t.Errorf("in a currency that nobody knows: %+v", got)
	}
	if why := francs().Unreadable(foreign); !strings.HasPrefix(why, "its price cannot be compared: ") {
		t.Errorf("%q", why)
	}
	foreign.Declined = "no"
	for name, readable := range map[string]*protocol.Quote{"own": q, "declined": foreign, "free": {Currency: "XAU"}} {
		if why := francs().Unreadable(readable); why != "" {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestWhatAPlacementCosts: its bill and the link count, and without a bill what was predicted.
func TestWhatAPlacementCosts(t *testing.T) {
	t.Parallel()
	const unit, link = protocol.Unit, protocol.Micro(7)
	bill := func(amount protocol.Micro, currency string) *protocol.Outcome {
		return &protocol.Outcome{Bill: &protocol.Bill{Currency: currency, Terms: []protocol.Term{{Name: cost.CPUTerm, Amount: amount}}}}
	}
	perHour := &protocol.Tariff{Currency: "CHF", Charges: []protocol.Charge{{Name: cost.CPUTerm, Units: 1, Per: 1, Steps: []protocol.PriceStep{{PerHour: 6 * unit}}}}}
	paid := &protocol.Tariff{Currency: "CHF", Charges: []protocol.Charge{{Name: cost.EcoTerm, Units: 1, Per: 1, Steps: []protocol.PriceStep{{PerHour: -6 * unit}}}}}
	predicted := &row.Prediction{Cost: 2 * unit, Run: 10 * protocol.Minute}
	now := epoch.Add(protocol.Hour)
	for name, tt := range map[string]struct {
		job           row.Job
		actual, sofar protocol.Micro
	}{
		"nothing is known":         {row.Job{}, 0, 0},
		"predicted":                {row.Job{Prediction: predicted}, 2 * unit, 2 * unit},
		"billed":                   {row.Job{Prediction: predicted, Outcome: bill(3*unit, "CHF")}, 3*unit + link, 2 * unit},
		"billed in another one":    {row.Job{Prediction: predicted, Outcome: bill(3*unit, "EUR")}, 3_100_000 + link, 2 * unit},
		"billed in an unknown one": {row.Job{Prediction: predicted, Outcome: bill(3*unit, "XAU")}, 2 * unit, 2 * unit},
		"ended without a bill":     {row.Job{Prediction: predicted, Outcome: &protocol.Outcome{}}, 2 * unit, 2 * unit},
		"not started":              {row.Job{Prediction: predicted, Tariff: perHour}, 2 * unit, 2 * unit},
		"running, within it":       {row.Job{Prediction: predicted, Tariff: perHour, Started: now.Add(-10 * protocol.Minute)}, 2 * unit, 2 * unit},
		"running, beyond it":       {row.Job{Prediction: predicted, Tariff: perHour, Started: epoch}, 2 * unit, 6*unit + link},
		"a gain is predicted":      {row.Job{Prediction: &row.Prediction{Cost: -unit}}, -unit, 0},
		"a gain comes":             {row.Job{Prediction: &row.Prediction{Cost: -unit}, Tariff: paid, Started: epoch}, -unit, 0},
	} {
		if got := francs().Actual(&tt.job, link); got != tt.actual {
			t.Errorf("%s: it has cost %d, want %d", name, got, tt.actual)
		}
		if got := francs().SoFar(&tt.job, link, now); got != tt.sofar {
			t.Errorf("%s: it counts for %d, want %d", name, got, tt.sofar)
		}
	}
	j := &row.Job{Prediction: predicted, Tariff: perHour}
	if got := francs().AtTariff(j, epoch, link); got.Cost != unit+link || got.Run != predicted.Run || predicted.Cost != 2*unit {
		t.Errorf("by its tariff: %+v, and it was %+v", got, predicted)
	}
}

// TestRates: rates that were given out stay, and without a rate of exchange there are none.
func TestRates(t *testing.T) {
	t.Parallel()
	given := []protocol.WaitingRate{{PerHour: 3 * protocol.Unit}, {From: protocol.Hour, PerHour: 0}}
	got := francs().Rates(given, "EUR")
	if len(got) != 2 || got[0].PerHour != 3_100_000 || got[1] != given[1] || given[0].PerHour != 3*protocol.Unit {
		t.Errorf("%v, of %v", got, given)
	}
	if got := francs().Rates(given, "XAU"); got != nil {
		t.Errorf("%v", got)
	}
}
