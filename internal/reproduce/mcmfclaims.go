package reproduce

import (
	"slices"
	"strings"
)

// Claims are what [MC] says, beside what the exhibits give.
func Claims() []Claim {
	return slices.Concat(tradeoffClaims(), shareClaims(), robustnessClaims(), usersClaims(), predictionClaims(), placementClaims())
}

// Of gives the means of a column, of some rows; of all without any.
func Of(exhibit, table, column string, rows ...string) func(*Printed) []float64 {
	return func(p *Printed) []float64 { return p.Table(exhibit, table).Column(column, rows...) }
}

// Over is a value in percent of another one of its column.
func Over(exhibit, table, column, row, base string) func(*Printed) []float64 {
	return func(p *Printed) []float64 {
		t := p.Table(exhibit, table)
		return []float64{100 * ratio(t.At(row, column), t.At(base, column))}
	}
}

// StepsOf are the differences of values that follow each other, the first minus the second.
func StepsOf(values []float64) []float64 {
	var steps []float64
	for i := range len(values) - 1 {
		steps = append(steps, values[i]-values[i+1])
	}
	return steps
}

// The columns that most claims are on.
const (
	responseColumn = "over baseline, %"
	costColumn     = "cost over baseline, %"
	sweepTable     = "Figures 4 and 11"
	dollars        = "the paper counts an hour in full for a part of it, by which our own runs cost more than all CPUs at full power"
)

// tradeoffClaims are on Table IV and Figures 4 and 11.
func tradeoffClaims() []Claim {
	return []Claim{
		{
			Says: "some w lowers response and cost at once: the larger of both, at the best w", Paper: "< 100 %",
			Ours: func(p *Printed) []float64 {
				t, best := p.Table("table4", sweepTable), 0.0
				for _, row := range t.Rows() {
					if worse := max(t.At(row, responseColumn), t.At(row, costColumn)); best == 0 || worse < best {
						best = worse
					}
				}
				return []float64{best}
			},
			Unit: "%", Digits: 1, Borne: AtMost(99), Why: "at every w, and by more",
		},
		{
			Says: "w = 25 %: response over the baseline's", Paper: "75.4 %", Ours: Of("table4", "", responseColumn, "MCMF w = 25 %"),
			Unit: "%", Digits: 1, Borne: Bounds{68, 83}, InKind: AtMost(99), Why: "our baseline waits longer: one overloaded small system dominates it",
		},
		{
			Says: "w = 25 %: cost over the baseline's", Paper: "97.0 %", Ours: Of("table4", "", costColumn, "MCMF w = 25 %"),
			Unit: "%", Digits: 1, Borne: Bounds{92, 99}, InKind: AtMost(99), Why: "by exact overlap; " + dollars,
		},
		{
			Says: "w = 25 %: the same as the paper counts dollars", Paper: "97.0 %", Ours: Over("table4", "", "authors' way", "MCMF w = 25 %", "baseline"),
			Unit: "%", Digits: 1, Borne: Bounds{92, 99}, InKind: AtMost(99), Why: dollars,
		},
		{
			Says: "w = 0: cost over the baseline's", Paper: "81.1 %", Ours: Of("table4", "", costColumn, "MCMF w = 0"),
			Unit: "%", Digits: 1, Borne: Bounds{73, 89}, InKind: AtMost(99), Why: "by exact overlap",
		},
		{
			Says: "w = 0: response over the baseline's", Paper: "172.9 %", Ours: Of("table4", "", responseColumn, "MCMF w = 0"),
			Unit: "%", Digits: 1, Borne: Bounds{156, 190}, InKind: AtLeast(101), Why: "the next line has what makes the difference",
		},
		{
			Says: "w = 0: the same if decisions count the dollars of the paper's tables", Paper: "172.9 %",
			Ours: Of("walk", "A drawn workload", "MCMF w = 0: response, %", "ours, and only costs of decisions as the paper's dollars"),
			Unit: "%", Digits: 1, Borne: Bounds{150, 195}, InKind: AtLeast(101),
			Why: "jobs go where the price is low, not where they need little energy; a guess, as the code of the paper's runs is not public",
		},
		{
			Says: "w = 50 %: response over the baseline's", Paper: "59.2 %", Ours: Of("table4", sweepTable, responseColumn, "w = 50 %"),
			Unit: "%", Digits: 1, Borne: Bounds{53, 65}, InKind: AtMost(99), Why: "our baseline waits longer",
		},
		{
			Says: "w = 50 %: cost over the baseline's", Paper: "100 %", Ours: Of("table4", sweepTable, costColumn, "w = 50 %"),
			Unit: "%", Digits: 1, Borne: Bounds{95, 105}, Why: "by exact overlap",
		},
		{
			Says: "INST, w = 25 %: response over the baseline's", Paper: "546 %", Ours: Of("table4", "", responseColumn, "INST w = 25 %"),
			Unit: "%", Digits: 1, Borne: Bounds{490, 600}, InKind: AtLeast(110), Why: "none of the authors' choices explains the rest (walk)",
		},
		{
			Says: "TWOPRICE costs more than MCMF at equal response", Paper: "> 100 %", Ours: Of("table4", "TWOPRICE's cost over MCMF's", "cost over MCMF's, %"),
			Unit: "%", Digits: 1, Borne: AtLeast(100), Why: "by less than the interval at some w",
		},
	}
}

// shareClaims are on Figures 12 and 13.
func shareClaims() []Claim {
	return []Claim{
		{
			Says: "the fewer jobs use the grid, the smaller its gain: steps of response from 10 to 100 % of the jobs, w = 50 %", Paper: "> 0",
			Ours: func(p *Printed) []float64 {
				return StepsOf(p.Table("fig12", "Response over baseline").Column("w = 50 %"))
			},
			Unit: "points", Digits: 1, Borne: AtLeast(0),
		},
		{
			Says: "MaxQ 3 has a longer response than MaxQ 2", Paper: "> 100 %", Ours: Over("fig13", "Cycles of a minute", "response, min", "3", "2"),
			Unit: "%", Digits: 1, Borne: AtLeast(100.5),
		},
		{
			Says: "MaxQ 1 has a longer response than MaxQ 2", Paper: "> 100 %", Ours: Over("fig13", "Cycles of a minute", "response, min", "1", "2"),
			Unit: "%", Digits: 1, Borne: AtLeast(100.5), Why: "not explained",
		},
	}
}

// robustnessClaims are on Tables V to VIII.
func robustnessClaims() []Claim {
	return []Claim{
		{
			Says: "errors of waits of up to 6 h have little effect: response at 6 h over that without", Paper: "100.8 %",
			Ours: Over("table5", "", "response, min", "6", "0"), Unit: "%", Digits: 1, Borne: AtMost(106), InKind: AtMost(115),
		},
		{
			Says: "errors of up to 24 h", Paper: "113 %", Ours: Over("table5", "", "response, min", "24", "0"),
			Unit: "%", Digits: 1, Borne: Bounds{100, 118}, InKind: AtMost(130),
		},
		{
			Says: "MCMF's response is shorter than the baseline's, at all errors of estimates", Paper: "21.8 to 34.6 %",
			Ours: Of("table6", "", "shorter than baseline, %"), Unit: "%", Digits: 1, Borne: Bounds{17, 40}, InKind: AtLeast(10), Why: "our baseline waits longer",
		},
		{
			Says: "MCMF's response is shorter than INST's", Paper: "83.7 to 90.2 %", Ours: Of("table6", "", "than INST, %"),
			Unit: "%", Digits: 1, Borne: Bounds{75, 95}, InKind: AtLeast(20), Why: "INST is nearer to the baseline here",
		},
		{
			Says: "data of any size up to 10 TB: MCMF's response over the baseline's", Paper: "76.4 %", Ours: Of("table7", "", responseColumn, "MCMF w = 25 %"),
			Unit: "%", Digits: 1, Borne: Bounds{69, 84}, InKind: AtMost(99), Why: "the paper's links are not known; ours are stand-ins",
		},
		{
			Says: "1 TB of data, average power: MCMF's response over the baseline's", Paper: "72.9 %", Ours: Of("table8", "average", responseColumn, "MCMF"),
			Unit: "%", Digits: 1, Borne: Bounds{66, 80}, InKind: AtMost(99), Why: "the paper's links are not known; ours are stand-ins",
		},
	}
}

// usersClaims are on Figures 5 and 10.
func usersClaims() []Claim {
	othersThanGordon := func(p *Printed) []float64 {
		t := p.Table("fig10", "")
		return t.Column("all grid, w = 25 %", slices.DeleteFunc(t.Rows(), func(row string) bool { return row == "Gordon" })...)
	}
	sizes := []string{"large, > 4096", "medium, to 4096", "small, < 512"}
	return []Claim{
		{
			Says: "the cost saved by a job grows with its size: steps from small to medium and to large jobs", Paper: "> 0",
			Ours: func(p *Printed) []float64 {
				return StepsOf(p.Table("fig5", "").Column("cost saved, a job, $", sizes...))
			},
			Unit: "$", Digits: 2, Borne: AtLeast(0),
		},
		{
			Says: "so does the response saved by a job", Paper: "> 0",
			Ours: func(p *Printed) []float64 {
				return StepsOf(p.Table("fig5", "").Column("response saved, a job, min", sizes...))
			},
			Unit: "min", Borne: AtLeast(0), Why: "medium jobs save most, within wide intervals",
		},
		{
			Says: "small jobs save most of NorduGrid's bill", Paper: "92 %", Ours: Of("nordugrid", "Figure 5", "of all that is saved, %", "small, < 512"),
			Unit: "%", Digits: 1, Borne: Bounds{83, 100}, InKind: AtLeast(50), Why: "another grid's log, and an invented table of systems",
		},
		{
			Says: "users of all systems but Gordon gain (equation 9), w = 25 %", Paper: "> 1", Ours: othersThanGordon,
			Digits: 2, Borne: AtLeast(1), Why: "those of Darter, which is fast too, lose",
		},
		{
			Says: "users of the local batch systems gain too", Paper: "> 1", Ours: Of("fig10", "", "local jobs"),
			Digits: 2, Borne: AtLeast(1), Why: "Gordon is the fastest system, and takes the jobs of others",
		},
	}
}

// predictionClaims are on Table III and Figures 2 and 3.
func predictionClaims() []Claim {
	adaptive := func(p *Printed) []float64 {
		var all []float64
		for _, l := range logs() {
			all = append(all, p.Table("table3", l.name+", recorded").At("adaptive", "< 1 h, %"))
		}
		return all
	}
	less := func(column string) func(*Printed) []float64 { return Of("table3", "Errors of adaptive", column) }
	return []Claim{
		{
			Says: "errors of waits are below 1 h for most jobs", Paper: "88 to 98 %", Ours: adaptive, Unit: "%", Digits: 1, Borne: Bounds{88, 98}, InKind: AtLeast(75),
			Why: "other logs and halves; the measure favors short answers: always 0 has more",
		},
		{
			Says: "less absolute error than QBETS", Paper: "up to 22 %", Ours: less("QBETS: AAE, %"), Unit: "%", Digits: 1, Borne: Bounds{5, 25}, InKind: AtLeast(0),
			Why: "QBETS is our implementation from its paper",
		},
		{
			Says: "less absolute error than IBL", Paper: "up to 22 %", Ours: less("IBL: AAE, %"), Unit: "%", Digits: 1, Borne: Bounds{5, 25}, InKind: AtLeast(0),
			Why: "IBL is our implementation from its paper",
		},
		{
			Says: "less percentage error (PPE) than QBETS", Paper: "up to 56 %", Ours: less("QBETS: PPE, %"), Unit: "%", Borne: Bounds{5, 60}, InKind: AtLeast(0),
			Why: "QBETS answers nearly 0 for most jobs, and most jobs hardly wait",
		},
		{
			Says: "less percentage error (PPE) than IBL", Paper: "up to 56 %", Ours: less("IBL: PPE, %"), Unit: "%", Borne: Bounds{5, 60}, InKind: AtLeast(0),
			Why: "on most logs, not on all",
		},
		{
			Says: "SARIMA's mean error of Texas' prices", Paper: "8 %", Ours: Of("fig3", "Texas", "mean error, %", "sarima"), Unit: "%", Digits: 1, Borne: Bounds{7, 9},
		},
	}
}

// placementClaims are on what the waits of quotes are for. They are of means over the grids: under tc and under mcmf.
func placementClaims() []Claim {
	others := func() (columns []string) {
		for _, e := range placedBy() {
			if e.method != "" {
				columns = append(columns, e.title+", min")
			}
		}
		return columns
	}
	plan := placedBy()[0].title + ", min"
	return []Claim{
		{
			Says: "jobs can be placed by waits that are predicted from past jobs: wait by adaptive over wait by the plan of the local scheduler", Paper: "places by it",
			Ours: func(p *Printed) []float64 { return overByPolicy(p, "adaptive, min", plan) },
			Unit: "%", Borne: AtMost(102), InKind: AtMost(110),
			Why: "predictions do not rise with the jobs that a site has just been sent; so our default, auto, places by the plan",
		},
		{
			Says: "our default places best: wait by the plan over wait by the best of the other estimates", Paper: "has no plan",
			Ours: func(p *Printed) []float64 {
				var most []float64
				for _, column := range others() {
					for i, over := range overByPolicy(p, plan, column) {
						if i == len(most) {
							most = append(most, over)
						}
						most[i] = max(most[i], over)
					}
				}
				return most
			},
			Unit: "%", Digits: 1, Borne: AtMost(102), InKind: AtMost(110), Why: "the plan's median places as well",
		},
	}
}

// overByPolicy is by policy the geometric mean over the grids of the waits of a column, in percent of those of another one.
func overByPolicy(p *Printed, column, base string) []float64 {
	t := p.Table("quoted", "Mean wait")
	var means []float64
	for _, placed := range placingPolicies() {
		var ratios []float64
		for _, row := range t.Rows() {
			if strings.HasSuffix(row, ", "+placed.policy) {
				ratios = append(ratios, ratio(t.At(row, column), t.At(row, base)))
			}
		}
		if ratios != nil {
			means = append(means, 100*geometric(ratios).Ours.Mean)
		}
	}
	return means
}
