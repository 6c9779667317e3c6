// Package localschedv1 is version 1 of the protocol of local-scheduler plugins: the
// generated code of localsched.proto, and strict conversions between its messages
// and the nouns of package localsched.
//
// # Strictness
//
// Decoders check every known field and name the one that is wrong; no message makes
// them panic, and what they decode encodes and decodes again to an equal value.
// Encoders trust their side: what cannot be is sent as something that the other side
// refuses. They repair and cut native texts, whose form batch systems choose freely,
// and return an error where a mistake could not be seen from afar: quotes in another
// order than the jobs, text that cannot travel.
//
// Spans are in ms, and [protocol.Never] is -1 in each of them but those of what has
// passed. Errors that callers tell apart do not travel in these messages, apart from
// a [localsched.RefusedError]: they are statuses, as the comments of the services
// say.
package localschedv1

//go:generate sh ../../generate.sh localsched.proto
