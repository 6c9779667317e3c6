// Package event is the contract between a peer and its shell: what goes into a step, and what
// comes out of it.
//
// An [Event] goes in, with the time. A [Ready] comes out: rows to be kept, messages, calls,
// answers and facts. Each [Call] is carried out by the shell and answered by [CallDone]. Whoever drives,
// records, asks or watches a peer needs this, and not the state machine, which is package peer.
package event
