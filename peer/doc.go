// Package peer is one site's part of the grid as a deterministic state machine.
//
// A [Peer] has no goroutine, clock, network or file. A shell feeds it events and
// carries out the effects:
//
//	events (with the time)                      effects
//	  messages, API questions,   ──► Step ──►   rows in one transaction, then messages,
//	  answers to calls, ticks                   calls, the next wake, digest, log events, answers
//
// The live shell is peer/node; the simulator is another. Neither decides
// anything.
//
// # Duties of the shell
//
//  1. Step from one goroutine, with a now that never decreases.
//  2. Make the Records of a [event.Ready] durable, in order, before any other part of
//     it is carried out. Many steps may share one transaction; effects are then
//     released in the order of the steps.
//  3. Answer each [event.Call] at most once by [event.CallDone]; after a timeout with Err.
//  4. Tick at [event.Ready.Wake]. After [New], Tick at once: the first step continues
//     everything that the rows have in progress.
//  5. Pass in only messages that are authentic and from a configured partner.
//
// # What is where
//
// In an order in which it can be read; a room below peer stands where it is used first.
//
//	event/               what goes in, and what comes out
//	rules/, reconfigure.go
//	                     the configuration of a peer, and what of it may change while it runs
//	peer.go, receive.go  [Peer] and its step; which message goes where
//	row/                 durable rows, their phases, their JSON
//	step/, tables/       what the parts share in a step; the rows in memory
//	view/, status/, answers/
//	                     answers to users and operators
//	phases.go            how rows change their phase, and what a step has changed
//	calls.go             calls to the shell; each kind is next to the code that makes the call
//	due/, timers.go      timers, and what happens when the clock is set
//	admission/, jobs.go, cancel.go, requeue.go
//	                     jobs of this origin, from submission to archive
//	arrays.go            arrays, whose elements become jobs when they are to be placed
//	gridqueue/, hold.go, depends.go, correspond.go, outcomes.go, counterparts.go
//	                     jobs that have no site, and what keeps some of them from getting one
//	drain.go             sites that take, get or start no new jobs, as operators say
//	update.go            what of a job that has not started is changed, and when
//	fairness/, fairness.go, priorities.go, usereports.go
//	                     whose job is next, and the limits of users and accounts
//	rounds/, round.go, decide.go
//	                     rounds: local quote, φ, quotes of partners, decision [SS 2.1.1]
//	lineup/, initiation.go, cycle.go
//	                     what opens a round, and which partners are asked [SS 2.1.2, 2.1.3], [MC 2]
//	moves/, trial.go     jobs that wait in local queues and are placed again where they end sooner
//	intake/              how many jobs the site takes in a period
//	testsubmit.go        rounds that only answer a question
//	quoting/, hosting/, quotes.go
//	                     quotes for partners, and the tentative allocations of jobs
//	pricing/, energy.go  prices: of jobs at this site, and of electricity
//	handoff/             what the messages of a hand-off mean for the rows that they are about
//	origin.go            the origin's side of the hand-off
//	target.go            the target's side
//	localrun/, runs.go, watch.go
//	                     runs in the local queue, for both sides, and what happens to them
//	ends.go              whether the end of a run here is that of its job, and runs that only the local scheduler knows
//	plannedstarts.go     when the local scheduler plans to start runs, for their origins
//	stagein.go           stage in: the files of a guest come from its origin
//	collect.go           stage out: the output of jobs, and files, come to their origin
//	ledger/              what runs are charged and draw, and the totals of that
//	application.go, objectives.go
//	                     applications, their objectives and limits [IS 4.1]
//	broker/              prediction and history of their runs [IS 4.3], co-allocation groups
//	coallocation.go      components that start at one instant
//	missed.go            starts that were missed
//	partner/, partners.go
//	                     partners: sessions, cards, silence, and how well their jobs went
//	setpartners.go       other partners, and those that have left
//	lives/               which store of a site continues, and what may have run
//	life.go, restore.go  the present life and what partners say of it; how the rows continue after a restart
//	recover.go, operator.go
//	                     decisions of operators: which store continues, what became of a job
//
// The outbox is not a table of its own: what must be sent again follows from the
// phase of a job, guest or run, so that a state and its messages cannot diverge
// (docs/decisions/0002). All of a [Peer] is data, pending calls and random numbers too, except for what
// is behind the interfaces of its [rules.Config].
package peer
