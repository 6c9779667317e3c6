// Package pricev1 is version 1 of the protocol of price plugins: the generated code
// of price.proto, and strict conversions between its messages and the nouns of
// package price.
//
// Decoders check every known field and name the one that is wrong; no message makes
// them panic, and what they decode encodes and decodes again to an equal value.
package pricev1

//go:generate sh ../../generate.sh price.proto
