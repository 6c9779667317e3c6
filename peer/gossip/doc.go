// Package gossip tells the sites of a grid, by way of memberlist, who is there
// and how busy each is. What it says is a hint: it chooses whom to ask, and
// never decides over a job.
//
// Packets are encrypted with a key that all sites share, which shows that the
// sender is a member, but not which one. Therefore each site signs its identity,
// which travels as memberlist's node metadata, and its digests, which travel as
// user broadcasts and in every exchange of full states. A digest counts only if
// the configured partner of that name has signed it; identities of others are
// reported, so that two sites with one name or number can notice each other.
//
// Nothing here depends on clocks of other sites: a digest carries how long the
// relaying member has held it.
package gossip
