package workload

import "github.com/switchyard-hpc/switchyard/protocol"

// Table6Span is how long jobs arrive in the synthetic workloads of [SS 4.2].
const Table6Span = 14 * protocol.Day

// Table6 is a column of [SS] Table 6, and the size bias that calibrates the
// machine against it.
type Table6 struct {
	Jobs        int
	Utilization float64 // over the site's own span, first submit to last end
	Wait        float64 // mean, s
	Response    float64 // mean, s
	Bias        float64 // [Options.Bias]; not the paper's
}

// HeavyTable returns the heavy half of [SS] Table 6, M1 to M6.
//
// At each bias, rounded to 0.05, the utilization of the machine by itself, by
// allocated nodes, is the paper's as a mean over ten seeds, under FCFS with EASY
// backfilling. The results of no other scheme were used. M1's utilization
// tells little of its load (0.94 to 0.96 at any bias from -0.4 up): docs/reproduction.md
// shows other biases of M1.
func HeavyTable() [6]Table6 {
	return [6]Table6{
		{Jobs: 10192, Utilization: 0.94, Wait: 254797, Response: 260010, Bias: -0.4},
		{Jobs: 3342, Utilization: 0.83, Wait: 5871, Response: 9295, Bias: -0.2},
		{Jobs: 2900, Utilization: 0.88, Wait: 14293, Response: 19554, Bias: 0.3},
		{Jobs: 336, Utilization: 0.33, Wait: 2779, Response: 7756, Bias: -0.55},
		{Jobs: 830, Utilization: 0.72, Wait: 6872, Response: 10154, Bias: -0.7},
		{Jobs: 1658, Utilization: 0.81, Wait: 18697, Response: 24460, Bias: 0.25},
	}
}

// LightTable returns the light half of [SS] Table 6, M1 to M6, calibrated as
// [HeavyTable]. M3's 42 % is out of reach: with the smallest size of every class
// the nodes that its jobs are allocated are 0.71 of the machine in expectation, and
// the CPUs that they request 0.64.
func LightTable() [6]Table6 {
	return [6]Table6{
		{Jobs: 10432, Utilization: 0.82, Wait: 3064, Response: 8266, Bias: -0.8},
		{Jobs: 3483, Utilization: 0.72, Wait: 661, Response: 4199, Bias: -0.9},
		{Jobs: 2774, Utilization: 0.42, Wait: 1241, Response: 6321, Bias: -1},
		{Jobs: 350, Utilization: 0.36, Wait: 3099, Response: 7466, Bias: -0.25},
		{Jobs: 864, Utilization: 0.75, Wait: 7463, Response: 11146, Bias: -0.7},
		{Jobs: 1704, Utilization: 0.62, Wait: 5509, Response: 10865, Bias: -0.8},
	}
}

// Heavy returns the six-machine heavy workload of [SS 4.2].
func Heavy() []Source { return table6Sources(HeavyTable()) }

// Light returns the six-machine light workload of [SS 4.2].
func Light() []Source { return table6Sources(LightTable()) }

// table6Sources builds a workload from its half of the table. M1 to M3 are their
// own models with all their arrivals. M4 to M6 take the models of M1 to M3, the
// classes that fit them whole, with arrivals thinned to the paper's job counts.
//
// Sizes are kept: scaled by the ratio of the CPUs (Options.Scale), M4 would be
// offered at most 0.25 of what it can do and M5 0.28, whatever the sizes within
// the classes, against 33 and 72 % in the paper. With the wider classes cut to
// the machine instead of left out, M4 would be offered at least 0.45.
//
// Run times are those of the model's machine, not scaled by speed: the paper's
// M4 has a mean response less wait of 4,977 and 4,367 s beside M1's 5,213 and
// 5,202, although its clock is 3.5 times as fast.
func table6Sources(table [6]Table6) []Source {
	machines := SuperschedulerMachines()
	models := [3]Model{M1(), M2(), M3()}
	sources := make([]Source, 0, len(machines))
	for i, column := range table {
		s := Source{Model: models[i%3], Options: Options{Span: Table6Span, Bias: column.Bias}}
		if i >= len(models) {
			s.Options.Machine = machines[i]
			s.Options.Jobs = column.Jobs
		}
		sources = append(sources, s)
	}
	return sources
}
