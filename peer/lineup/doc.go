// Package lineup selects the jobs of the grid queue for the next round, and those that are kept from it.
//
// A job that neither this site nor any partner that may be asked now could ever run waits for a
// site to come back. However often its round were repeated, the outcome would be the same. So it
// has one round, which says why it waits, and is then blocked in the grid queue. It costs
// nothing there until a site can be asked that could run it, whatever made that possible: the
// end of an outage, another card, another configuration. Many jobs may wait so for long.
//
// What a refusal says for a while only ([rounds.Exclusions]) does not block a job, nor does what the
// local scheduler says: these are looked at again by the clock.
package lineup
