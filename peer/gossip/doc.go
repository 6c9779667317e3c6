// Package gossip distributes, by memberlist, which sites of a grid are up and
// how busy each is. This is a hint: it selects which partners a round asks, and
// never decides about a job.
//
// Packets are encrypted with a key that all sites share, which shows that the
// sender is a member, but not which one. Therefore each site signs its identity,
// which travels as memberlist's node metadata, and its digests, which travel as
// user broadcasts and in every exchange of full states. A digest counts only if
// the configured partner of that name has signed it; identities of others are
// reported, so that two sites with one name or number can notice each other.
//
// Who has not shown the key ring, or has it and is no partner, is bounded: 64 TCP
// streams (32 of one address, the oldest go first) of 1 MiB each, and 1024 members,
// beyond which only partners are taken in. All that is refused is counted.
//
// Nothing here depends on clocks of other sites: a digest carries how long the
// relaying member has held it.
package gossip
