// Package transfer keeps the direct connections over which files move between two sites.
//
// A [Path] is the way to one partner. It holds a few connections at a time, its streams, on
// which this site asks and the partner answers; what a question and its answer mean is the
// caller's. Streams are opened when something is to be fetched and end when nothing has been
// for a while. Connections come authenticated: this package does no handshake.
//
// Either side may dial. The dialling side writes one byte first:
//
//	1  it will ask on this connection
//	2  it will answer, since the other side has invited it to dial
//
// Then come frames, each with its length (4 bytes, big-endian) before it: questions in one
// direction, answers in the other, in the order of the questions. Many questions may be under
// way at once, so that a long way costs no throughput.
//
// A connection that breaks, or on which nothing moves for [Timing].Stall while an answer is
// due, is closed, and its questions are asked again on another one. When there is none, the
// error is [ErrNoPath], and the caller goes another way.
package transfer
