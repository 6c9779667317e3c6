// Package moves decides which jobs of the local queues are placed again, at a site where they end sooner.
//
// From time to time the jobs that wait at one site get a trial: a round that places nothing. The other sites quote them as if
// they waited in the grid queue. The site where they wait is in the round with what it has said of them already, since a quote of
// it would have the job behind itself: the start that its batch system plans, and the price and the run time with which they were
// placed. The policy of the peer decides as ever. A job moves if the policy places it elsewhere, and it then ends
// sooner by more than a margin ([rules.Moves]). Its local queue gives it back first, unless it has started there, and then it has an ordinary round.
//
// A component of an application stays, since the policy has looked at all of them together, and so does a job that its user holds or
// lets run at one site only. How often a job moves is bounded, so that it does not go to and fro as plans change.
package moves
