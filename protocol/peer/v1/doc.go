// Package peerv1 is version 1 of what peers say to each other on the wire: the
// messages of peer.proto and strict conversions between them and the nouns of
// package protocol.
//
// # Strictness
//
// [Encode] refuses what [Decode] would refuse, so that a fault shows where it is
// made. Every known field is checked: ids and names in range, no negative counts
// or spans, known enumerators, bounded lengths, quotes and outcomes without
// contradictions. Unknown fields are ignored, because minor versions add some.
// Errors name the field. No bytes make a decoder panic, and what it decodes
// encodes and decodes again to an equal value.
//
// # Bounds
//
// An encoded message is at most [MaxMessage] bytes, and one that is neither an
// offer nor about quotes at most [MaxNotice], so that a partner cannot make a
// peer allocate much more than it sends.
package peerv1

//go:generate sh ../../generate.sh peer.proto
