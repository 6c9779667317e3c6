package main

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Without a budget, too, `status` tells what is drawn, what electricity costs and has cost, and what
// the grid has saved; and of a job its energy, as quoted and as it ran.
func TestStatusTellsEnergy(t *testing.T) {
	t.Parallel()
	const kWh = 3_600_000_000
	n := &fakeNode{sites: []view.Site{
		{Site: "cern"},
		{Site: "aurora", Self: true, Electricity: &view.Electricity{
			Draw: 1_200_000, Price: new(60 * protocol.Unit), PriceCurrency: "EUR", Running: kWh / 2,
			Totals: view.Totals{Since: 1_795_000_000_000, Energy: 12 * kWh, Money: []view.MoneyTotals{
				{Currency: "CHF", Saved: 2 * protocol.Unit, Lost: 3 * protocol.Unit},
				{Currency: "EUR", Cost: 800_000, Credit: 100_000},
			}},
		}},
	}, jobs: map[protocol.JobID]view.Job{someID: {
		ID: someID, State: protocol.Completed,
		Quoted: &view.QuotedPrice{Cost: 100_000, Currency: "EUR", Run: protocol.Hour},
		Bill:   &view.Bill{Cost: 50_000, Currency: "EUR", Ran: protocol.Hour / 2},
		Energy: &view.JobEnergy{Quoted: kWh, QuotedCost: new(protocol.Micro(60_000)), Used: kWh / 2, Cost: new(protocol.Micro(30_000)), Measured: kWh / 4},
	}}}
	socket := serve(t, n)
	for args, want := range map[string][]string{
		"status": {
			"\nPower      the running jobs draw 1.2 kW; no budget\n", "\nPrice      60.00 EUR a MWh now\n",
			"\nEnergy     12.00 kWh for 0.70 EUR by jobs that ended here since 2026-11-18 ", "; 0.500 kWh so far by running jobs\n",
			"\nSaved      -1.00 CHF by jobs at other sites, compared with the quotes of this site\n",
		},
		"status --json":             {`"electricity": {`, `"draw_mw": 1200000`, `"energy_mj": 43200000000`, `"saved_micro": 2000000`},
		"status " + someID.String(): {"\nEnergy     quoted 1.00 kWh for 0.06 EUR; used 0.500 kWh for 0.03 EUR; measured 0.250 kWh\n"},
	} {
		got := command(t, socket, "", strings.Fields(args)...)
		for _, line := range want {
			if !strings.Contains(got.stdout, line) {
				t.Errorf("%s: %q is missing in\n%s%s", args, line, got.stdout, got.stderr)
			}
		}
	}
}
