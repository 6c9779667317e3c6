package cost_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// hourly are prices of each hour of a day by the clock.
func hourly(tb testing.TB, zone *time.Location, prices *[24]protocol.Micro) *cost.Curve {
	tb.Helper()
	var periods []cost.Period
	for hour, one := range prices {
		periods = append(periods, period(tb, "", "", fmt.Sprintf("%02d:00-%02d:00", hour, hour+1), one))
	}
	return cost.NewCurve(cost.Calendar{Zone: zone}, 0, periods)
}

// summed adds up a price quarter by quarter: what Settle must come to, worked out in another way.
func summed(start protocol.Instant, d protocol.Duration, units int64, per int64, priceAt func(time.Time) protocol.Micro) protocol.Micro {
	const quarter = protocol.Instant(15 * protocol.Minute)
	sum := new(big.Rat)
	for from, end := start, start.Add(d); from < end; {
		until := min(end, (from/quarter+1)*quarter)
		sum.Add(sum, new(big.Rat).SetInt(new(big.Int).Mul(
			big.NewInt(int64(priceAt(from.Time()))), big.NewInt(int64(until.Sub(from))))))
		from = until
	}
	sum.Mul(sum, big.NewRat(units, per))
	sum.Quo(sum, big.NewRat(int64(protocol.Hour), 1))
	return nearest(sum)
}

// nearest rounds halves away from zero.
func nearest(r *big.Rat) protocol.Micro {
	twice := new(big.Int).Mul(big.NewInt(2), new(big.Int).Abs(r.Num()))
	twice.Add(twice, r.Denom())
	n := protocol.Micro(twice.Quo(twice, new(big.Int).Mul(big.NewInt(2), r.Denom())).Int64())
	if r.Sign() < 0 {
		return -n
	}
	return n
}

// Whenever a job runs and however long, over the nights on which the clock is changed too, its
// bill is the integral of the prices that were in force when it was granted.
func TestBillsAreIntegrals(t *testing.T) {
	t.Parallel()
	zurich := zone(t, "Europe/Zurich")
	rapid.Check(t, func(rt *rapid.T) {
		var prices [24]protocol.Micro
		for hour := range prices {
			prices[hour] = protocol.Micro(rapid.Int64Range(0, 9_999_999).Draw(rt, "price"))
		}
		day := rapid.SampledFrom([]string{"2026-03-28 15:00", "2026-10-24 15:00", "2026-07-01 00:00"}).Draw(rt, "day")
		granted := at(t, zurich, day).Add(protocol.Duration(rapid.Int64Range(0, int64(8*protocol.Hour)).Draw(rt, "granted")))
		begin := granted - granted%protocol.Instant(protocol.Hour)
		series := price.Series{}
		for hour := range 72 {
			series.Slots = append(series.Slots, price.Slot{
				Start: begin.Add(protocol.Duration(hour) * protocol.Hour), Length: protocol.Hour,
				Price: protocol.Micro(rapid.Int64Range(-50_000_000, 400_000_000).Draw(rt, "electricity")),
			})
		}
		charges := &cost.Charges{
			Currency: "CHF", CPU: &cost.CPU{Own: hourly(t, zurich, &prices), Guest: hourly(t, zurich, &prices)},
			Classes:  map[string]int{"urgent": 1_300_001},
			Licenses: map[string]cost.License{"solver": {PerUse: 5, PerHour: 2 * unit}, "mesh": {PerCPUHour: 777}},
			Eco:      &cost.Eco{Cooling: 1_200_000}, Data: cost.Data{PerGBIn: unit, PerGBOut: 3 * unit},
		}
		spec := protocol.Spec{
			Request: protocol.Request{
				CPUs: rapid.IntRange(1, 4096).Draw(rt, "CPUs"), WallTime: 2 * protocol.Day,
				Resources: []protocol.Resource{protocol.NewLicense("mesh", 2), protocol.NewLicense("solver", 1)},
			},
			Association: protocol.Association{QOS: "urgent"}, Data: 2_500_000_000,
		}
		w := cost.Work{
			Spec: &spec, Start: granted, Run: protocol.Hour, Guest: true, Power: int64(spec.CPUs) * 12_345,
			Prices: price.NewMeter(series), Currency: "CHF", Until: granted.Add(3 * protocol.Day),
		}
		tariff := bill(t, charges, w).Tariff
		start := granted.Add(protocol.Duration(rapid.Int64Range(0, int64(protocol.Day)).Draw(rt, "waited")))
		ran := protocol.Duration(rapid.Int64Range(0, int64(36*protocol.Hour)).Draw(rt, "ran"))
		got := cost.Settle(tariff, start, ran)
		cpus := int64(spec.CPUs)
		for name, want := range map[string]protocol.Micro{
			cost.CPUTerm:     summed(start, ran, cpus*1_300_001, protocol.PPM, func(at time.Time) protocol.Micro { return prices[at.In(zurich).Hour()] }),
			cost.LicenseTerm: 5 + summed(start, ran, 1, 1, func(time.Time) protocol.Micro { return 2*unit + 2*777*protocol.Micro(cpus) }),
			cost.EcoTerm: summed(start, ran, cpus*12_345*12/10, 1_000_000_000, func(at time.Time) protocol.Micro {
				return series.Slots[protocol.InstantOf(at).Sub(begin)/protocol.Hour].Price
			}),
			cost.DataTerm: 2_500_000,
		} {
			if found := term(cost.Bill{Terms: got.Terms}, name); found != want {
				rt.Fatalf("%s: %d for a run of %s from %s, want %d", name, found, ran.Text(), start.Time().In(zurich), want)
			}
		}
		if got.Start != start || got.Currency != "CHF" || len(got.Terms) != 4 {
			rt.Fatalf("the bill is %+v", got)
		}
	})
}

// After the hours that a tariff states, their mean counts; before, the first price.
func TestTariffsHaveNoEnd(t *testing.T) {
	t.Parallel()
	tariff := &protocol.Tariff{Currency: "EUR", Charges: []protocol.Charge{
		{Name: "eco", Units: 3, Per: 2, Once: 1, Steps: []protocol.PriceStep{{From: 1000, PerHour: 4 * unit}, {From: 2000, PerHour: 2 * unit}}},
		{Name: "eco", Units: 1, Per: 1, Steps: []protocol.PriceStep{{PerHour: 3600}}},
	}}
	for start, want := range map[protocol.Instant]protocol.Micro{0: 1667 + 1 + 1, 1500: 1250 + 1 + 1, 9000: 833 + 1 + 1} {
		if got := cost.Settle(tariff, start, protocol.Second); got.Cost() != want || len(got.Terms) != 1 {
			t.Errorf("from %d on: %+v, want %d", start, got, want)
		}
	}
	meter := price.NewMeter(price.Series{Slots: []price.Slot{
		{Start: 0, Length: protocol.Hour, Price: 10}, {Start: 3_600_000, Length: protocol.Hour, Price: 30},
	}})
	steps := meter.Steps(1, protocol.Instant(protocol.Day))
	if len(steps) != 3 || steps[2] != (protocol.PriceStep{From: 7_200_000, PerHour: 20}) {
		t.Errorf("the steps are %+v", steps)
	}
	if steps = meter.Steps(1, 100); len(steps) != 2 || steps[1] != (protocol.PriceStep{From: 3_600_000, PerHour: 20}) {
		t.Errorf("for a short time the steps are %+v", steps)
	}
}
