package gridcost

import (
	"fmt"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// waited is K_w from a submission until an end.
func waited(w *cost.WaitingCost, from, until protocol.Instant) protocol.Micro {
	rates, _ := w.Rates(from, from, until.Sub(from))
	sum := policy.Application{WaitingCost: rates}
	return sum.WaitCost(until.Sub(from))
}

// The laptop of [IS 4.2]: its memory-bound code loses 10 % at 800 instead of 2000 MHz.
const (
	fullMHz   = 2000
	intensity = 440_000 // r_a/R∞ in parts per million, with which 800 MHz cost 10 %
)

// energy is [IS] Figure 3 and the numbers of the text beside it.
func energy() exhibit {
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "is-fig3", Also: []string{"is-energy"}, Title: "K_eco: the frequency of the CPUs", Paper: "[IS 4.2] and Figure 3"},
		notes: []string{
			"The paper has a factor of 6 of energy for one of 2.5 of the frequency, at 10 % more run time. 2.5² is 6.25: that is the power. The energy is the power times the run time.",
			"The memory-bound code reaches 44 % of the peak and the other one all of it; no power is independent of the frequency.",
		},
		build: func(_ string, r *reproduce.Report) error {
			bound, err := byFrequency("A memory-bound code", intensity)
			if err != nil {
				return err
			}
			last := &bound.Rows[len(bound.Rows)-1]
			last.Cells[0], last.Cells[2] = last.Cells[0].Beside(10), last.Cells[2].Beside(6)
			peak, err := byFrequency("A code that computes at the peak", protocol.PPM)
			r.Tables = []reproduce.Table{bound, peak}
			return err
		},
	}
}

// byFrequency is how run, power and energy change at lower frequencies.
func byFrequency(title string, intensity int) (reproduce.Table, error) {
	t := reproduce.Table{Title: title, Stub: "frequency, MHz", Columns: []reproduce.Column{
		{Key: "longer", Title: "run longer by", Unit: "%", Digits: 1},
		{Key: "power", Title: "power divided by", Digits: 2},
		{Key: "energy", Title: "energy divided by", Digits: 2},
	}}
	full, err := energyAt(fullMHz, intensity)
	if err != nil {
		return t, err
	}
	for _, mhz := range []int{fullMHz, 1600, 1200, 1000, 800} {
		now, err := energyAt(mhz, intensity)
		if err != nil {
			return t, err
		}
		longer := float64(now.run)/float64(full.run) - 1
		byEnergy := float64(full.cost) / float64(now.cost)
		t.Rows = append(t.Rows, reproduce.Row{Label: strconv.Itoa(mhz), Cells: []reproduce.Cell{
			reproduce.Ours(100 * longer), reproduce.Ours(byEnergy * (1 + longer)), reproduce.Ours(byEnergy),
		}})
	}
	return t, nil
}

// consumed is a run at a frequency, and what its energy costs.
type consumed struct {
	run  protocol.Duration
	cost protocol.Micro
}

// energyAt is a run of an hour at the full frequency, at another one.
func energyAt(mhz, intensity int) (consumed, error) {
	perMWh := 1000 * protocol.Unit
	eco := cost.Eco{Cooling: protocol.PPM, Price: &perMWh, Frequencies: []int{fullMHz}, Slowdown: 100 * protocol.PPM}
	if mhz < fullMHz {
		eco.Frequencies = append(eco.Frequencies, mhz)
	}
	charges := cost.Charges{Eco: &eco}
	spec := protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: protocol.Day}, PredictedRunTime: protocol.Hour, Intensity: intensity, Computing: protocol.PPM,
	}
	const draw = 100_000_000 // mW: enough that rounding to a millionth does not show
	bill, refused := charges.Bill(cost.Work{Spec: &spec, Start: at(2, 8), Run: protocol.Hour, Power: draw})
	if refused != "" || mhz < fullMHz && bill.MHz != mhz {
		return consumed{}, fmt.Errorf("no run at %d MHz but %d %s", mhz, bill.MHz, refused)
	}
	return consumed{bill.Run, termOf(&bill, cost.EcoTerm)}, nil
}
