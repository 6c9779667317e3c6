// Package node is the live shell around [peer.Peer]: one loop that steps it, and
// everything that its Readies ask for.
//
// # The pipeline
//
// Three stages pass batches on, each with one batch in hand:
//
//	events, questions, timer ──► step ──► write ──► release ──► messages, calls, digest, facts, answers
//
// While one batch is being written, the loop steps the next. A batch is one
// transaction, and none of its effects leaves before that is durable. Effects
// leave in the order of the steps. When the store fails, nothing more leaves and
// [Node.Run] returns the reason: what is in memory is then ahead of the rows, so
// the process must restart.
//
// # The clock
//
// The machine is stepped with the wall clock's time, which never runs back for it: when the wall
// clock is set forward the time follows at once and the machine gets [event.ClockSet], when
// it is set back the time goes on at half its pace until the wall clock has caught up.
//
// The node knows its surroundings only as the ports declared here; peer/daemon
// adapts the real ones.
package node
