// Package policyv1 is version 1 of the protocol of policy plugins: the generated
// code of policy.proto, and strict conversions between its messages and the nouns of
// package policy.
//
// # Strictness
//
// Decoders check every known field and name the one that is wrong, with its entry;
// no message makes them panic, and what they decode encodes and decodes again to an
// equal value. Encoders trust their side: what cannot be is sent as something that
// the other side refuses, and what is merely too long for people is cut. Spans are
// in ms, and [protocol.Never] is -1 in each of them.
//
// # Speed
//
// A round may be 10,000 jobs and 58 sites, so all columns are converted without an
// allocation for an entry. BenchmarkRound says what that takes.
package policyv1

//go:generate sh ../../generate.sh policy.proto
