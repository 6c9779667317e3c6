// Package sim simulates grids and single sites on workloads, under a virtual clock.
//
// [Run] drives what a live grid runs: the peers of package peer with their
// policies, and the batch engine of localsched/engine under each of them.
//
//	workload ─► arrivals ─┐
//	                      ▼                    ┌─► messages ─► wires ─► heap or inbox
//	heap ─► moments ─► peer.Step ─► Ready ─────┼─► calls ────► engine, policy: answered at once
//	(time, sequence)                           ├─► rows ─────► kept if peers crash
//	      ▲                                    └─► wake ─────► heap
//	      └── ends, starts, wakes ◄── batch systems
//
// What takes no time never enters the heap: without latency a whole hand-off is
// carried out between two moments. Everything that is drawn comes from the seed, so
// the same seed gives the same [Result.Hash].
//
// [Schedule] simulates one site, the engine alone. [Measure] gives the metrics of
// either.
package sim
