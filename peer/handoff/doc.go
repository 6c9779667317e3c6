// Package handoff judges what the messages of a hand-off mean for the rows that they are about.
//
// The origin offers a job (Offer), the target reserves what it needs durably (Prepared), the origin
// commits (Grant), and the target confirms (Accept). A hand-off without a grant did not happen
// (presumed abort). A message is repeated until the other side has answered; which one follows from
// the phase of the row alone (docs/decisions/0002), so a restart repeats the same messages.
//
// The functions take rows and messages and change nothing. The core makes the rows durable, and sends
// what is said here after that.
//
// Invariant: of one epoch of a job at most one site gets a Grant, and only after Prepared.
// TestGrantOnlyAfterPrepared checks it.
package handoff
