package pricing_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestBillsAreTheIntegral: whatever the prices and whenever a job runs within the time that its tariff
// states hours for, each term of its bill is the exact integral over the run, rounded once.
func TestBillsAreTheIntegral(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		prices := rapid.SliceOfN(rapid.Int64Range(-100, 500), 60, 60).Draw(rt, "prices")
		d := desk(prices...)
		d.Power = rapid.Int64Range(1, 1_000_000).Draw(rt, "power")
		d.Tariff = localsched.Tariff{CPUHour: 77_777, Currency: "EUR"}
		spec := protocol.Spec{Request: protocol.Request{CPUs: rapid.IntRange(1, 8).Draw(rt, "CPUs"), WallTime: 4 * protocol.Hour}}
		tariff := d.TariffOf(&spec, epoch)
		start := epoch.Add(protocol.Duration(rapid.Int64Range(0, int64(2*protocol.Day)).Draw(rt, "start")))
		ran := protocol.Duration(rapid.Int64Range(0, int64(spec.WallTime)).Draw(rt, "run"))

		bill := pricing.Settle(tariff, start, ran)

		cpus := big.NewRat(int64(spec.CPUs), 1)
		used := integral(start, ran, func(int) int64 { return 77_777 })
		power := new(big.Rat).Mul(cpus, big.NewRat(d.Power, protocol.Megawatt))
		drawn := integral(start, ran, func(hour int) int64 { return prices[hour] * int64(protocol.Unit) })
		want := map[string]protocol.Micro{
			cost.CPUTerm: rounded(used.Mul(used, cpus)), pricing.EnergyTerm: rounded(drawn.Mul(drawn, power)),
		}
		for _, term := range bill.Terms {
			if term.Amount != want[term.Name] {
				rt.Fatalf("%s is %d, want %d", term.Name, term.Amount, want[term.Name])
			}
		}
		if len(bill.Terms) != 2 || bill.Start != start || bill.Currency != "EUR" {
			rt.Fatalf("billed %+v", bill)
		}
	})
}

// TestBillOfTheSameTariff: what the site that ran a job bills by its tariff its origin does not dispute,
// even where the two clocks are minutes apart.
func TestBillOfTheSameTariff(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		spec := protocol.Spec{Request: protocol.Request{CPUs: 3, WallTime: 4 * protocol.Hour}}
		tariff := desk(10, 30, -20).TariffOf(&spec, epoch)
		placed := epoch.Add(protocol.Duration(rapid.Int64Range(0, int64(protocol.Day)).Draw(rt, "placed")))
		started := placed.Add(protocol.Duration(rapid.Int64Range(0, int64(protocol.Day)).Draw(rt, "wait")))
		ran := protocol.Duration(rapid.Int64Range(0, int64(spec.WallTime)).Draw(rt, "run"))
		offset := protocol.Duration(rapid.Int64Range(-int64(5*protocol.Minute), int64(5*protocol.Minute)).Draw(rt, "offset"))
		outcome := protocol.Outcome{Ran: ran, Bill: pricing.Settle(tariff, started.Add(offset), ran)}
		billed := outcome.Bill
		j := row.Job{Site: "b", Tariff: tariff, CommittedAt: placed, Started: started}
		if why := pricing.CheckBill(&j, &outcome, started.Add(ran)); why != "" || outcome.Bill != billed {
			rt.Fatal(why)
		}
	})
}

// TestDisputedBills: what a partner bills otherwise is said, and the job has the bill that was agreed on.
func TestDisputedBills(t *testing.T) {
	t.Parallel()
	tariff := &protocol.Tariff{Currency: "CHF", Charges: []protocol.Charge{
		{Name: cost.CPUTerm, Units: 1, Per: 1, Steps: []protocol.PriceStep{{PerHour: 20 * protocol.Unit}}},
	}}
	bill := func(currency string, amount protocol.Micro) *protocol.Bill {
		return &protocol.Bill{Start: epoch, Currency: currency, Terms: []protocol.Term{{Name: cost.CPUTerm, Amount: amount}}}
	}
	for name, tt := range map[string]struct {
		tariff  *protocol.Tariff
		started protocol.Instant
		ran     protocol.Duration
		bill    *protocol.Bill
		why     string // how it begins
		paid    protocol.Micro
	}{
		"equal":              {tariff, epoch, protocol.Hour, bill("CHF", 20*protocol.Unit), "", 20 * protocol.Unit},
		"a millionth more":   {tariff, epoch, protocol.Hour, bill("CHF", 20*protocol.Unit+1), "b bills 20.000001 CHF, and by the tariff that it stated it is 20.00 CHF for a run of 1:00:00 from ", 20 * protocol.Unit},
		"another currency":   {tariff, epoch, protocol.Hour, bill("EUR", 20*protocol.Unit), "b bills 20.00 EUR, and by the tariff", 20 * protocol.Unit},
		"no bill":            {tariff, epoch, protocol.Hour, nil, "b sent no bill; by its tariff it is 20.00 CHF", 20 * protocol.Unit},
		"no tariff":          {nil, epoch, protocol.Hour, bill("CHF", 1), "b bills 0.000001 CHF and stated no tariff before the grant", 1},
		"neither":            {nil, epoch, protocol.Hour, nil, "", 0},
		"no run":             {tariff, 0, 0, nil, "", 0},
		"billed without run": {tariff, 0, 0, bill("CHF", 1), "b bills 0.000001 CHF for a job that did not start", 0},
		"longer than it can have run": {
			tariff, epoch, 3 * protocol.Hour, bill("CHF", 60*protocol.Unit), "b bills 60.00 CHF, and by the tariff", 41_666_667, // two hours, and the clocks
		},
	} {
		j := row.Job{Site: "b", Tariff: tt.tariff, CommittedAt: epoch, Started: tt.started}
		outcome := protocol.Outcome{Ran: tt.ran, Bill: tt.bill}
		why := pricing.CheckBill(&j, &outcome, epoch.Add(2*protocol.Hour))
		if !strings.HasPrefix(why, tt.why) || (why == "") != (tt.why == "") {
			t.Errorf("%s: %q, want %q", name, why, tt.why)
		}
		var paid protocol.Micro
		if outcome.Bill != nil {
			paid = outcome.Bill.Cost()
		}
		if paid != tt.paid {
			t.Errorf("%s: paid is %d, want %d", name, paid, tt.paid)
		}
	}
}

// integral adds up prices of an hour over a run, hour by hour from the epoch on.
func integral(start protocol.Instant, d protocol.Duration, price func(hour int) int64) *big.Rat {
	sum := new(big.Rat)
	for from, end := start, start.Add(d); from < end; {
		hour := int(from.Sub(epoch) / protocol.Hour)
		until := min(end, epoch.Add(protocol.Duration(hour+1)*protocol.Hour))
		sum.Add(sum, big.NewRat(price(hour)*int64(until.Sub(from)), int64(protocol.Hour)))
		from = until
	}
	return sum
}

// rounded is a number rounded, halves away from zero.
func rounded(r *big.Rat) protocol.Micro {
	r = new(big.Rat).Add(r, big.NewRat(int64(r.Sign()), 2))
	return protocol.Micro(new(big.Int).Quo(r.Num(), r.Denom()).Int64())
}
