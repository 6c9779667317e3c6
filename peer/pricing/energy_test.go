package pricing_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestChargedPower: a tariff charges electricity and its CO2 for one power, with cooling; what it charges
// CPUs for is none.
func TestChargedPower(t *testing.T) {
	t.Parallel()
	tariff := &protocol.Tariff{Charges: []protocol.Charge{
		{Name: cost.CPUTerm, Units: 9_000_000, Per: protocol.Megawatt},
		{Name: cost.EcoTerm, Units: 1_500_000, Per: protocol.Megawatt},
		{Name: cost.EcoTerm, Units: 1_500_000, Per: protocol.Megawatt},
		{Name: pricing.EnergyTerm, Units: 9_000_000, Per: 1},
	}}
	if got := pricing.ChargedPower(tariff); got != 1_500_000 {
		t.Errorf("%d mW", got)
	}
	if got := pricing.ChargedPower(nil); got != 0 {
		t.Errorf("no tariff: %d mW", got)
	}
}

// TestJobEnergy: the part of a price that is for electricity is told from the rest, and a part of 0 from none.
func TestJobEnergy(t *testing.T) {
	t.Parallel()
	terms := func(energy ...protocol.Term) []protocol.Term {
		return append([]protocol.Term{{Name: cost.CPUTerm, Amount: 5}}, energy...)
	}
	quoted := pricing.QuotedPrice(&protocol.Quote{
		Currency: "EUR", ERT: 2 * protocol.Hour,
		Terms: terms(protocol.Term{Name: cost.EcoTerm, Amount: 3}, protocol.Term{Name: pricing.EnergyTerm, Amount: -3}),
	})
	zero, four := protocol.Micro(0), protocol.Micro(4)
	if want := (&view.QuotedPrice{Cost: 5, Currency: "EUR", Run: 2 * protocol.Hour, Energy: &zero}); !reflect.DeepEqual(quoted, want) {
		t.Errorf("quoted %+v, want %+v", quoted, want)
	}
	outcome := protocol.Outcome{Ran: protocol.Hour, Bill: &protocol.Bill{Currency: "EUR", Terms: terms(protocol.Term{Name: pricing.EnergyTerm, Amount: 4})}}
	bill := pricing.BillView(nil, protocol.Completed, epoch, &outcome, epoch)
	got := pricing.JobEnergy(1_000, quoted, bill, protocol.Hour, 7)
	want := &view.JobEnergy{Power: 1_000, Quoted: 7_200_000, QuotedCost: &zero, Used: 3_600_000, Cost: &four, Measured: 7}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	plain := pricing.QuotedPrice(&protocol.Quote{Currency: "EUR", Terms: terms()})
	if plain.Energy != nil || pricing.JobEnergy(0, plain, nil, protocol.Hour, 0) != nil {
		t.Errorf("without electricity: %+v", plain)
	}
	if got := pricing.QuotedPrice(&protocol.Quote{Terms: terms()}); got != nil {
		t.Errorf("without a currency: %+v", got)
	}
}

// TestBillOfARunningJob: what a job has come to so far is open; room that is held has the price of the run
// that is expected, or else of the time limit.
func TestBillOfARunningJob(t *testing.T) {
	t.Parallel()
	d := desk(10, 30)
	spec := protocol.Spec{Request: protocol.Request{CPUs: 4, WallTime: 2 * protocol.Hour}}
	tariff := d.TariffOf(&spec, epoch)
	now := epoch.Add(90 * protocol.Minute)
	if got := pricing.BillView(tariff, protocol.Running, epoch, nil, now); got == nil || !got.Open || got.Cost != 25_000 || got.Ran != 90*protocol.Minute {
		t.Errorf("so far %+v", got)
	}
	for name, none := range map[string]*view.Bill{
		"it waits":     pricing.BillView(tariff, protocol.Pending, 0, nil, now),
		"no tariff":    pricing.BillView(nil, protocol.Running, epoch, nil, now),
		"it cost none": pricing.BillView(tariff, protocol.Completed, epoch, &protocol.Outcome{Ran: protocol.Hour}, now),
	} {
		if none != nil {
			t.Errorf("%s: %+v", name, none)
		}
	}
	j := row.Job{Spec: spec, Tariff: tariff, ReservedAt: epoch}
	if got := pricing.HeldPrice(&j); got == nil || got.Cost != 40_000 || got.Run != 2*protocol.Hour {
		t.Errorf("held for %+v", got)
	}
	j.Prediction = &row.Prediction{Run: protocol.Hour}
	if got := pricing.HeldPrice(&j); got == nil || got.Cost != 10_000 || got.Start != epoch {
		t.Errorf("held for %+v, for an hour", got)
	}
}
