// Package quoting is what a site tells others of the room that it has: the tentative allocations
// that its quotes count, how many jobs and CPUs a partner may have here, whom it delays, how the
// wait rises with each further job, and what of all that one message holds.
//
// Its objects take nouns and answer; the core asks the local scheduler and sends.
package quoting
