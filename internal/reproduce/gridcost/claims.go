package gridcost

import "github.com/switchyard-hpc/switchyard/internal/reproduce"

// Claims are what [IS] says, beside what the exhibits give.
func Claims() []reproduce.Claim {
	column := func(exhibit, column string, rows ...string) func(*reproduce.Printed) []float64 {
		return func(p *reproduce.Printed) []float64 { return p.Table(exhibit, "").Column(column, rows...) }
	}
	return []reproduce.Claim{
		{
			Says: "k_e differs by day, night and weekend (Figure 1): the most expensive start of a run over the cheapest",
			Ours: func(p *reproduce.Printed) []float64 {
				t := p.Table("is-fig1", "")
				return []float64{t.At("Monday 8:00", "K_e of the run") / t.At("Saturday 8:00", "K_e of the run")}
			},
			Digits: 1, Borne: reproduce.AtLeast(1.01), Why: "the rates are assumed, their order is the figure's",
		},
		{
			Says: "waiting for results costs nothing outside working hours (Figure 2): K_w from Monday 17:00 to Tuesday 8:00", Paper: "0",
			Ours: func(p *reproduce.Printed) []float64 {
				t := p.Table("is-fig2", "")
				return []float64{t.At("Tuesday 8:00", "K_w, salary") - t.At("Monday 17:00", "K_w, salary")}
			},
			Borne: reproduce.AtMost(0), Why: "a plateau each night and at the weekend",
		},
		{
			Says: "800 instead of 2,000 MHz lengthen the run of a memory-bound code", Paper: "10 %",
			Ours: column("is-fig3", "run longer by, %", "800"), Unit: "%", Digits: 1, Borne: reproduce.Bounds{Low: 9, High: 11},
			Why: "the code's share of the peak is chosen for it",
		},
		{
			Says: "and divide its energy", Paper: "6", Ours: column("is-fig3", "energy divided by", "800"), Digits: 2,
			Borne: reproduce.Bounds{Low: 5.5, High: 6.5}, Why: "the power falls by 2.5² = 6.25, and the longer run takes a tenth of it back",
		},
		{Says: "Γ ≪ 1 on a bus", Paper: "< 0.1", Ours: column("is-gamma", "Γ", "a bus: Γ ≪ 1"), Digits: 3, Borne: reproduce.AtMost(0.1)},
		{
			Says: "Γ of a Pentium 4 with Fast Ethernet", Paper: "2 to 10", Ours: column("is-gamma", "Γ", "Pentium 4, Fast Ethernet: 2 to 10"),
			Digits: 1, Borne: reproduce.Bounds{Low: 2, High: 10}, Why: "the flop for each word sent are chosen: one number for five machines",
		},
		{
			Says: "Γ of a Xeon with Gigabit Ethernet and of an Opteron with Myrinet", Paper: "10 to 50",
			Ours:   column("is-gamma", "Γ", "Xeon, Gigabit Ethernet: 10 to 50", "Opteron, Myrinet: 10 to 50"),
			Digits: 1, Borne: reproduce.Bounds{Low: 10, High: 50},
		},
		{Says: "Γ ≫ 100 on a Cray XT3", Paper: "> 100", Ours: column("is-gamma", "Γ", "Cray XT3: Γ ≫ 100"), Borne: reproduce.AtLeast(100)},
		{
			Says:  "a component's costs vary by up to an order of magnitude between machines (adequate ones, classes that communicate)",
			Paper: "up to 10", Ours: column("is-cost", "largest to smallest, adequate", "neighbours", "transposed", "shared"),
			Digits: 1, Borne: reproduce.Bounds{Low: 2, High: 10}, Why: "prices are chosen",
		},
		{
			Says: "the same for a parameter study", Paper: "up to 10", Ours: column("is-cost", "largest to smallest, adequate", "farmed"), Digits: 1,
			Borne: reproduce.Bounds{Low: 2, High: 10}, Why: "its cheapest machine is a farm of workstations, for 0.02 CHF per CPU-hour",
		},
	}
}
