// Package peertest runs whole grids of [peer.Peer] in memory, for tests.
//
// A [World] holds sites, each a peer with a local scheduler of its own, and the
// wires between them. It is one deterministic loop without goroutines or clock:
//
//	            ┌──────────── World ────────────┐
//	commands ─► │ site a ── wires ── site b     │ ─► journal: what every step did
//	Faults   ─► │  peer               peer      │ ─► Problems: what must never happen
//	            │  rows               rows      │
//	            │  Batch              Batch     │
//	            └───────────────────────────────┘
//
// Two ways to drive it: by hand, where messages stay on the wires until a test
// delivers, doubles or drops them ([Script] reads such tests as text); and by
// [World.Run], where [Faults] decide what becomes of each message, call and
// commit ([Nemesis] draws that from a seed).
//
// What keeps it honest: every message and card passes through the wire form of
// protocol/peer/v1, the rows of a crashed site through [row.Encode] and
// [row.Decode]; effects are released only when the records of their step are
// committed, and a crash loses what was not; a [Batch] outlives its site's peer,
// as a batch system does. The invariants of the hand-off are checked at every
// commit and every start of a job.
package peertest
