// Package rules is the configuration of a peer: which site it is, its partners, who
// may run jobs there, and how rounds are opened and decided. [Runtime] is the part that may change
// while the peer runs.
package rules
