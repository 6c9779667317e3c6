// Package peer is one site's part of the grid as a deterministic state machine.
//
// A [Peer] has no goroutine, clock, network or file. A shell feeds it events and
// carries out what it asks for:
//
//	events (with the time)                      effects
//	  messages, API questions,   ──► Step ──►   rows in one transaction, then messages,
//	  answers to calls, ticks                   calls, the next wake, digest, facts, answers
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
//  3. Answer each [event.Call] at most once by [event.CallDone]; after a time-out with Err.
//  4. Tick at [event.Ready.Wake]. After [New], Tick at once: that first step takes up
//     again what the rows say was under way.
//  5. Hand in only messages that are authentic and from a configured partner.
//
// # What is where
//
// In an order in which it can be read; a room below peer stands where it is used first.
//
//	event/               what goes in, and what comes out
//	rules/, reconfigure.go
//	                     what a peer is told before its first step, and what of that may change
//	peer.go, receive.go  [Peer] and its step; which message goes where
//	row/                 what is kept durably: rows, their phases, their JSON
//	step/, tables/       what the parts share in a step; the rows in memory
//	phases.go            how rows change their phase, and what a step has changed
//	calls.go             what waits for the shell; each kind stands beside what makes the call
//	due/, timers.go      what waits for an instant
//	admission/, jobs.go, cancel.go
//	                     jobs of this origin, from submission to archive
//	eligible/            whether a site may run a job
//	leaving.go           what of a job leaves the site
//	gridqueue/           jobs that have no place
//	rounds/, round.go, decide.go
//	                     rounds: own quote, φ, partners' quotes, decision [SS 2.1.1]
//	lineup/, initiation.go, cycle.go
//	                     who begins a round, and who is asked [SS 2.1.2, 2.1.3], [MC 2]
//	intake/              how many jobs the site takes in a period
//	testsubmit.go        rounds that only answer a question
//	quoting/, hosting/, quotes.go
//	                     what partners are quoted, and the tentative allocations of jobs
//	pricing/, energy.go  prices: of jobs here, and of electricity
//	handoff/             what the messages of a hand-off mean for the rows that they are about
//	origin.go            the origin's side of the hand-off
//	target.go            the other side
//	localrun/, runs.go, watch.go
//	                     placements in the own local queue, for both, and what happens to them
//	collect.go           output on its way home
//	ledger/              what runs are charged and draw, and what that comes to
//	application.go, objectives.go, limits.go
//	                     what users want of several jobs [IS 4.1]
//	broker/, predictions.go
//	                     what is known of their runs: before and after them [IS 4.3]
//	coallocation.go      components that start at one instant
//	groupround.go        where they have room
//	missed.go            starts that were missed
//	partner/             what is known of a partner, and of all of them
//	partners.go, quality.go
//	                     sessions, cards, silence, and how well their jobs went
//	setpartners.go, conflicts.go
//	                     other partners, those that have left, and two with one number
//	lives/               which store of a site goes on, and what may have run
//	life.go, restore.go  the present life and what partners say of it; from rows back to work
//	recover.go, operator.go, fenced.go
//	                     what people decide: which store goes on, what became of a job, where it is given up
//	clockset.go          the clock was set
//	view/, status/, answers/, views.go
//	                     what they are answered
//
// The outbox is not a table of its own: what must be sent again follows from the
// phase of a job, guest or run, so that a state and its messages cannot part
// (docs/decisions/0002). All of a [Peer] is data, pending calls and random numbers too, but for what
// is behind the interfaces of its [rules.Config].
package peer
