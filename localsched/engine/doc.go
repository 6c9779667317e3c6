// Package engine is a batch system as a state machine: jobs come in, the driver
// reports ends and the time, and the engine says what to start, what to end and
// when to wake it. It has no clock, no processes and no goroutines; equal calls
// give equal answers. localsched/driver drives it for each kind
// of batch system: over real processes, before another one, in the simulator.
//
//	        Submit  Withdraw  Finished  Tick
//	                      │
//	                      ▼
//	┌─ ClusterState ─────────────────────────────┐
//	│ pending ▸ A B C …        in Policy order   │    one pass
//	│ running ▸ end 40, 55 …   by estimated end  │ ◄─ of the Policy
//	│ free    ▸ what is free   of the Machine    │    for each event
//	└────────────────────────────────────────────┘
//	                      │
//	                      ▼
//	          Actions: Starts  Kills  Wake
//
// [Engine] knows jobs by their tags and makes a pass for each event. Below it,
// [Core] knows them by numbers that the driver gives, which is faster, and leaves
// it to the driver when a pass is made, so that simulators can follow other rules
// for events of one time stamp.
//
// # Policies and machines
//
// A [Machine] turns a request into units and knows what is free, as a [FreeSet].
// [WholeNode] and [PerCPU] are pools, whose units are alike; [Partitioned] has rooms in
// which units that are free may still be no place. A
// [Policy] orders the queue and, in a pass over the [ClusterState], starts jobs. Either
// can be written without knowledge of the other: a policy asks the Floor for places
// and for what is left beside a reservation, and never counts by itself. To add
// one, implement the interface, here or in a package of its own.
//
//	name          queue        what may overtake a job that waits       quotes
//	fcfs          submission   nothing                                  Lookup
//	easy, fcfsbf  submission   what does not delay the head             Lookup
//	easysjbf      submission   the same, the shortest first             Lookup
//	conservative  submission   what breaks no earlier promise           Reserved
//	firstfit, ff  submission   whatever fits                            Lookup
//	sjf           estimate     nothing                                  PlanInOrder
//	sjffit        estimate     whatever fits                            Lookup
//
// A policy keeps nothing. What must outlive a pass stands on the floor, so that
// plans copy it: the shadow of the head, which stays right while jobs end in
// time, and with each waiting job the start that [ClusterState.ReserveAll] promised it.
// The policy can be changed at any time.
//
// # Resources
//
// On a pool whose capacity names resources, or groups of nodes that differ, jobs may take more than
// units: a [Demand]. What else they take is one number of each resource, and the units count again
// among those of the nodes that have what the job asks for. All of it is numbers, so that the shadow of
// the head, promised starts and holds are what they are on a pool of units alone. A resource without a type
// is taken of the type of which the site has most.
//
//	job --gpus=2 --constraint=fast --ntasks=4    units 4 of the machine
//	                                             units 4 of the groups with the feature and the resource
//	                                             gpu   2
//
// On one node the numbers are exact. On several they say that there is room if the jobs could be moved:
// how jobs are packed on nodes, and whether GPUs that are free are on nodes whose CPUs are, is not modelled.
// The window of a pass speaks of units. A newcomer that takes no more is looked up in it as before; the
// start of another one is looked up while no job takes more than units, else planned in a future of its own.
//
// # Power budgets
//
// [Within] puts any policy under a power budget [BG], on any machine:
//
//	while no budget holds   the base policy's pass, and nothing else
//	while one holds         what may start is chosen so that most units work and the draw
//	                        of all jobs stays within it: from the first jobs of the queue
//	                        ([Window]), or from what the base policy would start ([Filter])
//	a job past its bound    is given the first place from the end of the budget on, and
//	                        nothing that would delay it is started
//
// What a job draws is worked out from its request when it comes. Jobs that run when the
// budget falls go on, and count. The pass asks to be woken when the budget changes, and
// plans include the change, so that a quote knows that a job waits for the night. New jobs
// take power that others wait for, so each quote is a future of its own.
//
// # Holds
//
// [Engine.Reserve] keeps room for a job from an instant on, for all of its wall time: the first
// at which it leaves alone the limits of running jobs, the starts that are promised, the
// head's reservation and other holds.
//
//	units
//	  ▲        ┌─────────┐
//	  │ ┌────┐ │  held   │     A runs. B would be over in time and starts;
//	  │ │ A  │ ├─────────┤     C, as wide and longer, waits until the hold
//	  │ └────┘ │         │     is over, whatever the policy thinks of it.
//	  │ ┌───┐  │         │
//	  │ │ B │  │         │
//	  └─┴───┴──┴─────────┴─►
//
// Whatever a policy is about to start it asks [ClusterState.Find] for, which looks at the holds as
// well; [ClusterState.Reserve] and [ClusterState.ReserveAll] reserve beside them. So a policy need not
// know of holds. The job that is submitted under the tag of a hold stands in no queue: it
// starts when the hold begins, before the policy's pass, or at once if that is past. Where a
// job past its limit still has the room, or one that came late into its own hold, the hold
// begins as soon as they are gone. Without a job a hold ends with its time.
//
// In plans every hold is used from its start to its end, so that a quote is what happens if
// the job comes. While anything is held each quote is a future of its own, but under
// [PlanReserved]. Without holds nothing of this is looked at.
//
// A machine of partitions has no reservations: the partition would have to be kept over a
// restart. Nor has a budgeted policy, since the power cannot be guaranteed; but it leaves
// alone the reservations that are older than the budget, and counts what they draw once
// they run ([Engine.CanReserve]).
//
// # Time
//
// Every submission, withdrawal and end has its own pass, in the order of the
// calls, at the time that the driver gives. A job's wall time is its estimate
// and its limit. Tick names the jobs that have reached it; their units are free
// when Finished says so. Until then a job past its estimate may end at any
// moment. Tick also starts the jobs whose promised start has come without
// another event.
//
// # Plans
//
// Plan answers when a job would start if it came now and nothing came after it:
// by what the policy promises ([PlanMode]), as cheaply as that allows. Under a
// policy with lookups a newcomer changes nothing for the others while it waits.
// So the engine runs the present queue ahead once and notes what each pass leaves
// over, its [BackfillWindow]:
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
// A newcomer starts at the first opening that admits it. Where the shortest come
// first it may also start before longer jobs of the same pass: these passes offer
// what there was before each start to all that is shorter ([ClusterState.AddWindow]).
//
// The plan is run ahead only as far as quotes need. It is carried over to the
// next state if that is what it foresaw: a job ended in time, or a newcomer waits
// that starts no earlier than the plan was run. Otherwise it is made again. Time
// alone spoils it only if some job would have started at once or is past its
// estimate.
//
// A policy that serves in order is run ahead to the newcomer's place only; one
// that promises starts looks in its profile for the first that is free, unless an
// early end has left promises that may yet move: then jobs are planned one by one
// until they do not. All others, and machines that are no pools, get a future of
// their own for each quote, by the same code.
package engine
