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
//  2. Make the Records of a [Ready] durable, in order, before any other part of
//     it is carried out. Many steps may share one transaction; effects are then
//     released in the order of the steps.
//  3. Answer each [Call] at most once by [CallDone]; after a time-out with Err.
//  4. Tick at [Ready.Wake]. After [New], Tick at once: that first step takes up
//     again what the rows say was under way.
//  5. Hand in only messages that are authentic and from a configured partner.
//
// # What is where
//
//	jobs.go, cancel.go   jobs of this origin, from submission to archive
//	application.go, wishes.go, prologue.go, money.go
//	                     what users want of several jobs, and what a policy is told of it [IS 4.1]
//	round.go, decide.go  rounds: own quote, φ, partners' quotes, decision [SS 2.1.1]
//	question.go          rounds that only answer a question
//	together.go          components that start at one instant
//	origin.go            the origin's side of the hand-off
//	target.go            the other side
//	quotes.go            what partners are quoted, and the room promised to jobs
//	receive.go           which message goes where
//	epilogue.go          what runs teach: the DataWarehouse [IS 4.3]
//	runs.go              placements in the own local queue, for both
//	energy.go, bill.go   what jobs here cost and draw, and what those elsewhere are billed at: peer/pricing
//	partners.go          partner set, cards, silence
//	clash.go             partners with one number
//	restore.go           from rows back to work
//	calls.go             what waits for the shell; each kind stands beside what makes the call
//
// The outbox is not a table of its own: what must be sent again follows from the
// phase of a job, guest or run, so that a state and its messages cannot part
// (docs/decisions/0002). All of a [Peer] is data, pending calls and random numbers too, but for what
// is behind the interfaces of its [Config].
package peer
