// Package power is what a batch system must know to keep within a power budget [BG]:
// when which budget holds ([Signal]), what a job draws ([Rates]) and which jobs to start
// when not all of them fit ([Chooser]).
//
// Power is counted as in [BG 3.3]: that of the CPUs that jobs hold, working ones at the
// job's own rate and those that are held idle, because jobs are given whole nodes or
// partitions, at the idle rate. Nodes that no job holds draw what they always draw; no
// decision changes that, and it is not counted.
//
// Amounts are integers: rates are microwatts of a CPU, draws and budgets milliwatts. A
// rack of Blue Gene/P has 1,024 nodes of 4 CPUs, so 20 kW per rack are 4,882,812 µW.
//
// The package has no clock and keeps nothing but what is recorded in [History].
package power
