// Package wire holds the checks and conversions that the protocols below
// protocol/<kind>/v1 have in common: with peers, and with plugins of each kind.
//
// A check returns nil, or an error that begins with the field and says what the
// field should be, so that a decoder reads as a list of its fields inside [First].
// All checks of such a list run, also after one has failed: none may rely on
// another.
package wire
