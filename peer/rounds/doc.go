// Package rounds has rounds. A round is one collection of quotes for some jobs, from this site and from partners, and
// what follows from it [SS 2.1.1]: whom to ask about which job, which answers count, what the policy
// is shown, and what people read of the quotes.
//
// A [Round] is data. It asks no site and decides nothing: the core makes the calls, sends the
// messages, and carries out what the policy has decided.
package rounds
