// Package commonv1 is version 1 of what the protocols of peers and of local-scheduler plugins
// have in common: the generated code of common.proto, and for each noun of package protocol
// one conversion to its message, one back, and one check.
//
// Encode… and Decode… convert without judging: what does not fit, such as a count above
// 2147483647 or an enumerator that is not known, becomes what Check… refuses, on 32-bit
// machines too. Decoders return an error only where the noun has no place for what is wrong.
// A message that says nothing is left out where absence means the same.
//
// Check… says what is wrong with a noun, in words that begin with the field of its message.
// It allows what any protocol allows; what one demands beyond that, it checks itself.
package commonv1

//go:generate sh ../../generate.sh common.proto
