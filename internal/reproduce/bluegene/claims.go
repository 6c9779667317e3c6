package bluegene

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// Claims are what [BG] says, beside what the exhibits give.
func Claims() []reproduce.Claim {
	return slices.Concat(savingClaims(), rangeClaims(), utilizationClaims(), orderClaims())
}

// columnOf is how a budget's column is called.
func columnOf(percent int, unit string) string {
	if unit == "" {
		return fmt.Sprintf("PB-%d", percent)
	}
	return fmt.Sprintf("PB-%d, %s", percent, unit)
}

// stepsOf are the differences between neighboring budgets, the smaller one's value minus the larger one's, in every row.
func stepsOf(t *reproduce.PrintedTable, unit string) []float64 {
	var all []float64
	for _, row := range halfYear.names() {
		var values []float64
		for _, percent := range budgets() {
			if percent > 0 {
				values = append(values, t.At(row, columnOf(percent, unit)))
			}
		}
		all = append(all, reproduce.StepsOf(values)...)
	}
	return all
}

// byRange are the savings at half the power, a list for each range and ratio, of the months.
func byRange(p *reproduce.Printed) (all [ranges][][]float64) {
	for powers := range ranges {
		for _, ratio := range ratios() {
			all[powers] = append(all[powers], p.Table("bg-fig6", halfPower).Column(rangeColumn(powers, ratio)+", %"))
		}
	}
	return all
}

// moreSaved is how much more a range of powers saves than another one at 1:4, in each month.
func moreSaved(p *reproduce.Printed, narrow, wide int) []float64 {
	const ratio14 = ratio13 + 1
	ofRange := byRange(p)
	all := slices.Clone(ofRange[narrow][ratio14])
	for month := range all {
		all[month] -= ofRange[wide][ratio14][month]
	}
	return all
}

// savingClaims are on Figures 1 and 2.
func savingClaims() []reproduce.Claim {
	same := "The same jobs"
	return []reproduce.Claim{
		{
			Says: "three jobs run in place of two in its example (Figure 1): nodes", Paper: "9",
			Ours:  reproduce.Of("bg-fig1", "What starts", "nodes", "power-aware (window): J3, J4, J5"),
			Borne: reproduce.Bounds{Low: 9, High: 9}, Why: "the powers of its jobs are assumed",
		},
		{
			Says: "the most that half the power saves in a month (Figure 2)", Paper: "23 %",
			Ours: func(p *reproduce.Printed) []float64 {
				return []float64{slices.Max(append([]float64{0}, p.Table("bg-fig2", same).Column("PB-50, %")...))}
			},
			Unit: "%", Digits: 1, Borne: reproduce.Bounds{Low: 20, High: 26}, InKind: reproduce.AtLeast(15),
		},
		{
			Says: "half the power saves in every month", Paper: "> 15 %", Ours: reproduce.Of("bg-fig2", same, "PB-50, %"),
			Unit: "%", Digits: 1, Borne: reproduce.AtLeast(15), InKind: reproduce.AtLeast(10),
		},
		{
			Says: "nine tenths save in most months", Paper: "> 5 %", Ours: reproduce.Of("bg-fig2", same, "PB-90, %"),
			Unit: "%", Digits: 1, Borne: reproduce.AtLeast(5), InKind: reproduce.AtLeast(3), Except: 2,
		},
		{
			Says: "a lower budget saves more, with two exceptions: steps between neighboring budgets", Paper: "> 0",
			Ours: func(p *reproduce.Printed) []float64 { return stepsOf(p.Table("bg-fig2", same), "%") },
			Unit: "points", Digits: 1, Borne: reproduce.AtLeast(0), Except: 2,
		},
	}
}

// rangeClaims are on the ranges of power and the ratios of prices.
func rangeClaims() []reproduce.Claim {
	return []reproduce.Claim{
		{
			Says: "half the power saves at all ranges of power and ratios of prices (Figure 6)", Paper: "> 10 %",
			Ours: func(p *reproduce.Printed) []float64 {
				var all []float64
				for _, ofRange := range byRange(p) {
					all = append(all, slices.Concat(ofRange...)...)
				}
				return all
			},
			Unit: "%", Digits: 1, Borne: reproduce.AtLeast(10),
		},
		{
			Says: "the most of these", Paper: "> 25 %",
			Ours: func(p *reproduce.Printed) []float64 {
				most := 0.0
				for _, ofRange := range byRange(p) {
					most = max(most, slices.Max(append([]float64{0}, slices.Concat(ofRange...)...)))
				}
				return []float64{most}
			},
			Unit: "%", Digits: 1, Borne: reproduce.AtLeast(25),
		},
		{
			Says: "higher ratios save more: steps from 1:3 to 1:4 and to 1:5", Paper: "> 0",
			Ours: func(p *reproduce.Printed) []float64 {
				var all []float64
				for _, ofRange := range byRange(p) {
					for i := range len(ofRange) - 1 {
						for month := range ofRange[i] {
							all = append(all, ofRange[i+1][month]-ofRange[i][month])
						}
					}
				}
				return all
			},
			Unit: "points", Digits: 1, Borne: reproduce.AtLeast(0),
		},
		{
			Says: "at 1:4 a range of 20 to 33 kW saves more than both wider ones in all months: by", Paper: "> 0",
			Ours: func(p *reproduce.Printed) []float64 { return slices.Concat(moreSaved(p, 0, 1), moreSaved(p, 0, 2)) },
			Unit: "points", Digits: 1, Borne: reproduce.AtLeast(0), Why: "within a point if the budget is one of the jobs' power",
		},
		{
			Says: "and 30 to 90 kW more than 30 to 120 kW in almost all months: by", Paper: "> 0",
			Ours: func(p *reproduce.Printed) []float64 { return moreSaved(p, 1, 2) },
			Unit: "points", Digits: 1, Borne: reproduce.AtLeast(0), Except: 1, Why: "within a point if the budget is one of the jobs' power",
		},
		{
			Says: "the same, if idle nodes count in the budget: steps between the ranges", Paper: "> 0",
			Ours: func(p *reproduce.Printed) []float64 {
				return reproduce.StepsOf(p.Table("bg-idle", "PB-50 of jobs and idle nodes, both count").Column("saving, 1:3, %", rangeName(0), rangeName(1), rangeName(2)))
			},
			Unit: "points", Digits: 1, Borne: reproduce.AtLeast(0), Why: "the idle power is a larger part of the budget in the narrow range",
		},
	}
}

// utilizationClaims are on Figures 3 and 7.
func utilizationClaims() []reproduce.Claim {
	held := "Nodes of the partitions"
	loss := func(p *reproduce.Printed, month string) float64 {
		t := p.Table("bg-fig3", held)
		return t.At(month, "default, %") - t.At(month, "PB-50, %")
	}
	return []reproduce.Claim{
		{
			Says: "half the power lowers June's utilization (Figure 3)", Paper: "75 to 62 %: 13 points",
			Ours: func(p *reproduce.Printed) []float64 { return []float64{loss(p, "June")} },
			Unit: "points", Digits: 1, Borne: reproduce.Bounds{Low: 10, High: 16}, InKind: reproduce.AtLeast(5),
		},
		{
			Says: "that of no other month falls by more: the others' loss minus June's", Paper: "< 0",
			Ours: func(p *reproduce.Printed) []float64 {
				var all []float64
				for _, month := range halfYear.names() {
					if month != "June" {
						all = append(all, loss(p, month)-loss(p, "June"))
					}
				}
				return all
			},
			Unit: "points", Digits: 1, Borne: reproduce.AtMost(0),
		},
		{
			Says: "July's utilization at half the power", Paper: "about 55 %",
			Ours: reproduce.Of("bg-fig3", held, "PB-50, %", "July"), Unit: "%", Digits: 1, Borne: reproduce.Bounds{Low: 52, High: 58}, InKind: reproduce.Bounds{Low: 50, High: 60},
		},
		{
			Says: "wider ranges of power leave a higher utilization in some months (Figure 7): June, 30 to 120 kW minus 20 to 33 kW", Paper: "> 0",
			Ours: func(p *reproduce.Printed) []float64 {
				t := p.Table("bg-fig7", halfPower)
				return []float64{t.At("June", rangeName(ranges-1)+", %") - t.At("June", rangeName(0)+", %")}
			},
			Unit: "points", Digits: 1, Borne: reproduce.AtLeast(2), Why: "less than the intervals",
		},
	}
}

// orderClaims are on Figures 4 and 5, and on delays.
func orderClaims() []reproduce.Claim {
	pairs := "Inverse pairs"
	return []reproduce.Claim{
		{
			Says: "inverse pairs at half the power (Figure 4)", Paper: "7,000 in March, up to 8,000", Ours: reproduce.Of("bg-fig4", pairs, "PB-50"),
			Borne: reproduce.AtMost(9000), Why: "over all pairs of jobs, as defined; its numbers are those of a local count",
		},
		{
			Says: "the same, counted within one pass of steps 1 to 5", Paper: "7,000 in March, up to 8,000",
			Ours:  reproduce.Of("bg-fig4", "PB-50, filter", "in one pass"),
			Borne: reproduce.AtMost(9000), InKind: reproduce.AtMost(16000), Why: "\"between jobs included in that window\" introduces the measure",
		},
		{
			Says: "there are half as many at 60 %", Paper: "50 %",
			Ours: func(p *reproduce.Printed) []float64 {
				t := p.Table("bg-fig4", pairs)
				var all []float64
				for _, month := range halfYear.names() {
					all = append(all, percent(t.At(month, "PB-60"), t.At(month, "PB-50")))
				}
				return all
			},
			Unit: "%", Borne: reproduce.Bounds{Low: 40, High: 60}, Why: "open: no local count halves either",
		},
		{
			Says: "they fall as the budget grows: steps", Paper: "> 0",
			Ours:  func(p *reproduce.Printed) []float64 { return stepsOf(p.Table("bg-fig4", pairs), "") },
			Borne: reproduce.AtLeast(0),
		},
		{
			Says: "power on-peak under half the power, over the default's (Figure 5)", Paper: "50 %",
			Ours: reproduce.Over("bg-fig5", "", "power on-peak, kW", "PB-50", "default"), Unit: "%", Borne: reproduce.Bounds{Low: 45, High: 55},
		},
		{
			Says: "power off-peak, over the default's", Paper: "> 100 %",
			Ours: reproduce.Over("bg-fig5", "", "off-peak, kW", "PB-50", "default"), Unit: "%", Borne: reproduce.AtLeast(105),
		},
		{
			Says: "delays are limited to a day: the longest wait of a month at half the power", Paper: "1 d",
			Ours: reproduce.Of("bg-fig3", "Longest wait", "PB-50, d"), Unit: "d", Digits: 1, Borne: reproduce.AtMost(1),
			Why: "the work that the budget keeps from the day does not fit into the nights; bg-bound bounds waits, at a cost",
		},
	}
}
