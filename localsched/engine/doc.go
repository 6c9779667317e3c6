// Package engine is a batch system as a state machine: jobs come in, the driver
// reports ends and the time, and the engine says what to start, what to end and
// when to wake it. It has no clock, no processes and no goroutines; equal calls
// give equal answers. localsched/process drives it with real processes, the
// simulator with a heap of events.
//
//	        Submit  Withdraw  Finished  Tick
//	                      │
//	                      ▼
//	┌─ Floor ────────────────────────────────────┐
//	│ waiting ▸ A B C …        in Policy order   │    one pass
//	│ running ▸ end 40, 55 …   by estimated end  │ ◄─ of the Policy
//	│ room    ▸ what is free   of the Machine    │    for each event
//	└────────────────────────────────────────────┘
//	                      │
//	                      ▼
//	          Actions: Starts  Kills  Wake
//
// # Policies and machines
//
// A [Machine] turns a request into units and knows what is free, as a [Room].
// [WholeNode] and [PerCPU] are pools, whose units are alike; a machine of
// partitions has rooms in which units that are free may still be no place. A
// [Policy] orders the queue and, in a pass over the [Floor], starts jobs. Either
// can be written without knowledge of the other: a policy asks a Room for places
// and for what is left beside a reservation, and never counts by itself. To add
// one, implement the interface, here or in a package of its own.
//
// # Time
//
// Every submission, withdrawal and end has its own pass, in the order of the
// calls, at the time that the driver gives. A job's wall time is its estimate
// and its limit. Tick names the jobs that have reached it; their units are free
// when Finished says so. Until then a job past its estimate may end at any
// moment.
//
// # Plans
//
// Plan answers when a job would start if it came now and nothing came after it.
// Under a policy that looks at the last job last, a newcomer changes nothing for
// the others while it waits. So the engine runs the present queue ahead once and
// notes what each pass leaves over, its [Opening]:
//
//	units
//	  ▲        ┌────────┐
//	  │ ┌──────┤ head   │      at   free  extra  shadow
//	  │ │ runs │        │      0    2     1      7
//	  │ └──────┤        ├      7    1     1      end of time
//	  │ ░░░░░░░│        │      13   4     4      end of time
//	  │ ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
//	  └─┬──────┬────────┬───►
//	    0      7        13     ░ until the shadow only, ▒ for any time (extra)
//
// A newcomer starts at the first opening that admits it. An opening is kept only
// for what no earlier one offered, so that a quote is a short search; the plan is
// run ahead only as far as quotes need, and lasts until the state changes. Time
// alone spoils it only if some job would have started at once or is past its
// estimate. Policies without [Policy.Lookup], and machines that are no pools, get
// a future of its own for each quote, by the same code.
package engine
