// Package fairshare orders the jobs of many users by what they have used, as Slurm's plugin
// priority/multifactor does (https://slurm.schedmd.com/priority_multifactor.html, and for shares
// https://slurm.schedmd.com/classic_fair_share.html, NO_FAIR_TREE):
//
//	S = the user's share of the machine, the product of its shares of its siblings' on the way to the root
//	U = use of the user / use of all, both decayed
//	F = 2^(-U/S/d)
//
//	priority = age·(waited/max age, at most 1) + fair share·F + size·(CPUs/CPUs of the site) + QOS·(factor/largest) - nice
//
// The use of a user's siblings does not count, as it does in Slurm's E in place of U: with E an account of many users
// gets less than its shares, since E/S of a user with exactly its share is nearly 2 there, and 1 for a
// user alone in its account.
//
// All numbers are integers: shares, use and factors are fixed-point numbers of 32 bits ([One] is 1), and
// use decays by one multiplication in each whole hour. So every machine computes the same, however often
// it is asked, and in which order.
package fairshare
