package superscheduler

import (
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// The titles of tables and columns that claims are computed from.
const (
	waitColumn     = "wait, s"
	gainColumn     = "gain, by seed"
	movedColumn    = "moved, %"
	moreMoved      = "more moved, points"
	overSender     = "wait over S-I's"
	efficiency     = "efficiency, %"
	waitsTable     = ": waits"
	responsesTable = ": responses"
	besideTable    = ": beside S-I"
)

// workloads are the exhibits and the first words of the tables of all comparisons of schemes.
func workloads() [][2]string {
	return [][2]string{{"ss-fig3", "six months"}, {"ss-fig3", "one month"}, {"ss-fig4", "heavy"}, {"ss-fig4", "light"}}
}

// Claims are what [SS] says, beside what the exhibits give. Where it gives a number, ours within a fifth of it bears it out.
func Claims() []reproduce.Claim {
	return slices.Concat(senderClaims(), initiationClaims(), gridClaims(), syntheticClaims(), parameterClaims(), policyClaims())
}

// fifth is a number of the paper, and what is within a fifth of it.
func fifth(paper float64) reproduce.Bounds {
	return reproduce.Bounds{Low: paper * 0.8, High: paper * 1.2}
}

// at is a cell of a table.
func at(exhibit, table, row, column string) func(*reproduce.Printed) []float64 {
	return func(p *reproduce.Printed) []float64 { return []float64{p.Table(exhibit, table).At(row, column)} }
}

// inAll is a value of every workload.
func inAll(of func(p *reproduce.Printed, exhibit, workload string) float64) func(*reproduce.Printed) []float64 {
	return func(p *reproduce.Printed) []float64 {
		var values []float64
		for _, w := range workloads() {
			values = append(values, of(p, w[0], w[1]))
		}
		return values
	}
}

const six = "six months"

// senderClaims are those of [SS 4.1] on S-I in Figure 3.
func senderClaims() []reproduce.Claim {
	const nodes = "ss-nodes"
	sizes := "M1's local wait is longer than the paper's, and sizes in CPUs leave S-I more to gain"
	inNodes := "M1's local wait is longer than the paper's"
	return []reproduce.Claim{
		{
			Says: "six months: S-I reduces the wait by a factor of", Paper: "2.5", Ours: at("ss-fig3", six+waitsTable, "S-I", gainColumn), Digits: 1,
			Borne: fifth(2.5), InKind: reproduce.AtLeast(2), Why: sizes,
		},
		{
			Says: "the same where modeled jobs request whole nodes", Paper: "2.5", Ours: at(nodes, six+waitsTable, "S-I", gainColumn), Digits: 1,
			Borne: fifth(2.5), InKind: reproduce.AtLeast(2), Why: inNodes,
		},
		{
			Says: "six months: the deviation of the wait improves by", Paper: "30 %", Unit: "%",
			Ours: func(p *reproduce.Printed) []float64 {
				t := p.Table("ss-fig3", six+waitsTable)
				return []float64{-t.At("S-I", "deviation, %"), -t.At("S-I", "as printed, %")}
			},
			Borne: fifth(30), InKind: reproduce.AtLeast(24), Why: sizes + "; the standard deviation and the formula as printed",
		},
		{
			Says: "six months: S-I reduces the response by a factor of", Paper: "1.5", Ours: at("ss-fig3", six+responsesTable, "S-I", gainColumn), Digits: 1,
			Borne: fifth(1.5), InKind: reproduce.AtLeast(1.2), Why: sizes,
		},
		{
			Says: "the same where modeled jobs request whole nodes", Paper: "1.5", Ours: at(nodes, six+responsesTable, "S-I", gainColumn), Digits: 1,
			Borne: fifth(1.5), InKind: reproduce.AtLeast(1.2), Why: inNodes,
		},
		{
			Says: "six months: S-I transfers", Paper: "> 40 %", Ours: at("ss-fig3", six+responsesTable, "S-I", movedColumn), Unit: "%", Digits: 1,
			Borne: reproduce.AtLeast(40), InKind: reproduce.AtLeast(30), Why: "the models have no bursts, as the logs have (not tested); M3, the real log, sends more of its jobs than the models",
		},
	}
}

// initiationClaims are those of [SS 4.1] on R-I and Sy-I.
func initiationClaims() []reproduce.Claim {
	return []reproduce.Claim{
		{
			Says: "R-I reduces the wait by", Paper: "50 %", Unit: "%",
			Ours: func(p *reproduce.Printed) []float64 {
				t := p.Table("ss-fig3", six+waitsTable)
				return []float64{100 * (1 - t.At("R-I", waitColumn)/t.At("local", waitColumn))}
			},
			Borne: fifth(50), InKind: reproduce.AtLeast(25), Why: "the widest jobs starve",
		},
		{
			Says: "R-I migrates", Paper: "< 10 %", Ours: at("ss-fig3", six+responsesTable, "R-I", movedColumn), Unit: "%", Digits: 1,
			Borne: reproduce.AtMost(10),
		},
		{
			Says: "R-I migrates the fewest jobs: more than S-I, in all workloads", Paper: "< 0", Unit: "points", Digits: 1,
			Ours: inAll(func(p *reproduce.Printed, exhibit, workload string) float64 {
				return p.Table(exhibit, workload+besideTable).At("R-I", moreMoved)
			}),
			Borne: reproduce.AtMost(0),
		},
		{
			Says: "R-I's performance is lower than S-I's: wait over S-I's, in all workloads", Paper: "> 1", Digits: 2,
			Ours: inAll(func(p *reproduce.Printed, exhibit, workload string) float64 {
				return p.Table(exhibit, workload+besideTable).At("R-I", overSender)
			}),
			Borne: reproduce.AtLeast(1), Why: "on heavy about as good: R-I lets small jobs pass wide ones; the literal R-I is slower",
		},
		{
			Says: "Sy-I performs better than R-I: wait over R-I's, in all workloads", Paper: "< 1", Digits: 2,
			Ours: inAll(func(p *reproduce.Printed, exhibit, workload string) float64 {
				t := p.Table(exhibit, workload+waitsTable)
				return t.At("Sy-I", waitColumn) / t.At("R-I", waitColumn)
			}),
			Borne: reproduce.AtMost(1), Why: "on heavy as good in wait, and always better in deviation",
		},
		{
			Says: "Sy-I transfers significantly fewer jobs than S-I: more than S-I, in all workloads", Paper: "< 0", Unit: "points", Digits: 1,
			Ours: inAll(func(p *reproduce.Printed, exhibit, workload string) float64 {
				return p.Table(exhibit, workload+besideTable).At("Sy-I", moreMoved)
			}),
			Borne: reproduce.AtMost(-3), InKind: reproduce.AtMost(-1), Why: "as many: volunteers are rare, or S-I would choose them too",
		},
	}
}

// gridClaims are those of [SS 4.1] on the central scheme and on machines.
func gridClaims() []reproduce.Claim {
	return []reproduce.Claim{
		{
			Says: "the central scheme performs as S-I: wait over S-I's, six months and one", Paper: "about 1", Digits: 2,
			Ours: func(p *reproduce.Printed) []float64 {
				return []float64{p.Table("ss-fig3", six+besideTable).At("central", overSender), p.Table("ss-fig3", "one month"+besideTable).At("central", overSender)}
			},
			Borne: fifth(1),
		},
		{
			Says: "and transfers more of its jobs, not all of them", Paper: "> S-I's, < 100 %", Ours: at("ss-fig3", six+responsesTable, "central", movedColumn), Unit: "%", Digits: 1,
			Borne: reproduce.Bounds{Low: 45, High: 95},
		},
		{
			Says: "six months: grid efficiency is practically unchanged by any scheme: more than local", Paper: "about 0", Unit: "points", Digits: 1,
			Ours: func(p *reproduce.Printed) []float64 {
				t := p.Table("ss-fig3", six+responsesTable)
				var values []float64
				for _, scheme := range t.Rows() {
					values = append(values, t.At(scheme, efficiency)-t.At("local", efficiency))
				}
				return values
			},
			Borne: reproduce.Bounds{Low: -3, High: 3}, Why: "R-I's is lower, as wide jobs run last",
		},
		{
			Says: "six months: S-I balances utilizations: largest less smallest, S-I over local", Paper: "8 of 19", Digits: 2,
			Ours: func(p *reproduce.Printed) []float64 {
				of := func(table string) float64 {
					all := p.Table("ss-table5", table).Column("utilization, %")
					if len(all) == 0 {
						return 0
					}
					return slices.Max(all) - slices.Min(all)
				}
				return []float64{of(six+", S-I") / of(six)}
			},
			Borne: reproduce.AtMost(0.6), InKind: reproduce.AtMost(0.9),
		},
	}
}

// syntheticClaims are those of [SS 4.2] on Table 6 and Figure 4.
func syntheticClaims() []reproduce.Claim {
	value := func(label string) func(*reproduce.Printed) []float64 {
		return at("ss-fig4", "95 % intervals", label, "ours")
	}
	machines := printed(heavy)
	return []reproduce.Claim{
		{
			Says: "heavy: utilizations of the machines alone, ours less the paper's (Table 6)", Paper: "94, 83, 88, 33, 72, 81 %", Unit: "points", Digits: 1,
			Ours: func(p *reproduce.Printed) []float64 {
				var values []float64
				for i, m := range machines {
					values = append(values, p.Table("ss-table6", heavy).At(fmt.Sprintf("M%d", i+1), "utilization, %")-100*m.Utilization)
				}
				return values
			},
			Borne: reproduce.Bounds{Low: -2, High: 2}, Why: "the size biases are chosen for them",
		},
		{
			Says: "heavy: M1's local wait (Table 6)", Paper: "254,797 s", Ours: at("ss-table6", heavy, "M1", waitColumn), Unit: "s",
			Borne: fifth(machines[0].Wait), Why: "more work on M1 gives its wait and costs S-I's efficiency",
		},
		{
			Says: "heavy: the waits of the other machines, the largest ratio of ours and the paper's either way", Paper: "1", Digits: 1,
			Ours: func(p *reproduce.Printed) []float64 {
				largest := 0.0
				for i, m := range machines[1:] {
					ratio := p.Table("ss-table6", heavy).At(fmt.Sprintf("M%d", i+2), waitColumn) / m.Wait
					largest = max(largest, ratio, 1/ratio)
				}
				return []float64{largest}
			},
			Borne: reproduce.AtMost(1.2), InKind: reproduce.AtMost(2.5), Why: "not calibrated; our intervals are wide",
		},
		{
			Says: "heavy: S-I improves the wait by a factor of", Paper: "5.9", Ours: value("heavy: S-I's gain in wait"), Digits: 1,
			Borne: fifth(5.9), InKind: reproduce.AtLeast(3), Why: "inside our interval, see Figure 4",
		},
		{
			Says: "heavy: S-I improves the response by a factor of", Paper: "5.0", Ours: value("heavy: S-I's gain in response"), Digits: 1,
			Borne: fifth(5), InKind: reproduce.AtLeast(2.5), Why: "M1's local wait is smaller, so that the run time has a larger share",
		},
		{Says: "heavy: local efficiency", Paper: "65 %", Ours: value("heavy: local efficiency, %"), Unit: "%", Digits: 1, Borne: reproduce.Bounds{Low: 60, High: 70}, Why: "inside our interval"},
		{Says: "heavy: S-I's efficiency", Paper: "85 %", Ours: value("heavy: S-I's efficiency, %"), Unit: "%", Digits: 1, Borne: reproduce.Bounds{Low: 80, High: 90}, Why: "inside our interval"},
		{
			Says: "heavy: the ideal efficiency", Paper: "100 %", Ours: value("heavy: ideal efficiency, %"), Unit: "%", Digits: 1,
			Borne: reproduce.AtLeast(98), InKind: reproduce.AtLeast(90), Why: "seeds with too little work wait for the last arrivals",
		},
		{
			Says: "light: S-I improves the wait by a factor of", Paper: "21", Ours: value("light: S-I's gain in wait"), Digits: 1,
			Borne: fifth(21), InKind: reproduce.AtLeast(10), Why: "a lower load does not give more; the paper's is one sample, which our largest seed nearly reaches",
		},
		{
			Says: "light: S-I improves the response by a factor of", Paper: "1.5", Ours: value("light: S-I's gain in response"), Digits: 1,
			Borne: fifth(1.5), InKind: reproduce.AtLeast(1.2), Why: "our light grid is more loaded, as M3's utilization cannot be as low as the paper's",
		},
		{
			Says: "light: almost no change of grid efficiency: S-I more than local", Paper: "about 0", Unit: "points", Digits: 1,
			Ours: func(p *reproduce.Printed) []float64 {
				t := p.Table("ss-fig4", light+responsesTable)
				return []float64{t.At("S-I", efficiency) - t.At("local", efficiency)}
			},
			Borne: reproduce.Bounds{Low: -3, High: 3},
		},
	}
}

// parameterClaims are those of [SS 4.1] on δ and σ.
func parameterClaims() []reproduce.Claim {
	ratio := func(table, changed, usual string) func(*reproduce.Printed) []float64 {
		return func(p *reproduce.Printed) []float64 {
			t := p.Table("ss-delta", table)
			return []float64{t.At(changed, waitColumn) / t.At(usual, waitColumn)}
		}
	}
	more := func(table, changed, usual string) func(*reproduce.Printed) []float64 {
		return func(p *reproduce.Printed) []float64 {
			t := p.Table("ss-delta", table)
			return []float64{t.At(changed, movedColumn) - t.At(usual, movedColumn)}
		}
	}
	return []reproduce.Claim{
		{
			Says: "a δ below 0.7 improves R-I: wait at 0.5 over that at 0.7", Paper: "< 1", Ours: ratio("Over δ", "0.5", "0.7"), Digits: 2, Borne: reproduce.AtMost(0.98),
			Why: "it contradicts the paper's own rule, by which fewer sites volunteer then",
		},
		{
			Says: "and increases the number of jobs transferred", Paper: "> 0", Ours: more("Over δ", "0.5", "0.7"), Unit: "points", Digits: 1, Borne: reproduce.AtLeast(0.5),
			Why: "the reverse, for the same reason",
		},
		{Says: "a σ below 300 s improves R-I: wait at 60 s over that at 300 s", Paper: "< 1", Ours: ratio("Over σ", "60s", "300s"), Digits: 2, Borne: reproduce.AtMost(0.98)},
		{
			Says: "and increases the number of jobs transferred", Paper: "> 0", Ours: more("Over σ", "60s", "300s"), Unit: "points", Digits: 1,
			Borne: reproduce.AtLeast(0.5), Why: "about as many",
		},
	}
}

// policyClaims are those of [SS 4.3] on Figure 5.
func policyClaims() []reproduce.Claim {
	const backfilled = "FCFS+BF"
	others := []string{"FF", "SJF", "SJF skipping"}
	overBest := func(column string) func(*reproduce.Printed) []float64 {
		return func(p *reproduce.Printed) []float64 {
			t := p.Table("ss-fig5", "")
			return []float64{t.At(backfilled, column) / least(t.Column(column, others...))}
		}
	}
	return []reproduce.Claim{
		{Says: "FCFS+BF minimizes the wait: over the best of the others", Paper: "< 1", Ours: overBest("S-I wait, s"), Digits: 2, Borne: reproduce.AtMost(1), Why: "by less than the intervals"},
		{Says: "and the response", Paper: "< 1", Ours: overBest("S-I response, s"), Digits: 2, Borne: reproduce.AtMost(1), Why: "by less than the intervals"},
		{
			Says: "SJF transfers the fewest jobs: the kind that moves fewer, less the best of the others", Paper: "< 0", Unit: "points", Digits: 1,
			Ours: func(p *reproduce.Printed) []float64 {
				t := p.Table("ss-fig5", "")
				return []float64{least(t.Column(movedColumn, "SJF", "SJF skipping")) - least(t.Column(movedColumn, backfilled, "FF"))}
			},
			Borne: reproduce.AtMost(0), Why: "the kind that skips jobs that do not fit",
		},
		{
			Says: "even the slowest policy with S-I improves the response of local runs by more than", Paper: "2", Digits: 2,
			Ours: func(p *reproduce.Printed) []float64 {
				return []float64{least(p.Table("ss-fig5", "").Column("better than local FCFS+BF"))}
			},
			Borne: reproduce.AtLeast(2), InKind: reproduce.AtLeast(1.6), Why: "strict SJF",
		},
	}
}

// least is the smallest value; of a table that is not made there is none.
func least(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return slices.Min(values)
}
