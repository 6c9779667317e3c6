// Package powerbudget keeps the power budget of a site's batch system: it makes it by the hours
// and prices of the configuration and by what feeds tell, gives it to the batch system when it
// has become another, and says what is wrong with the feeds meanwhile.
//
//	feed of prices ──┐                          ┌──► batch system (Attach)
//	feed of budgets ─┼─► latest answers ─► budget ──► log, metrics, alarms, status
//	configuration ───┘         │
//	                     budget.json
//
// # Contract
//
// A [Keeper] is made by [New], gets its feed of budgets by [Keeper.SetSeries], and makes its
// first budget in [Keeper.Start]. Until that has returned it must not be used otherwise. From then
// on all methods may be called from any goroutine, and [Keeper.Run] renews the budget: when it is
// woken, and else after a time that depends on the feeds.
//
// One lock guards the configuration, the answers and the active budget. It is free while
// feeds are asked, so a slow feed holds up only those who need its answer. The function that
// was given to [Keeper.Attach] is called with the lock held, one call at a time, and must not
// call the keeper.
//
// # What lasts
//
// The latest answers of the feeds are written to budget.json in the state directory before a
// budget made of them is given to the batch system, so that a restart while a feed is silent
// lifts no budget. That the file cannot be written is logged and changes nothing else. A silent
// feed, one that tells only hours that have passed, and one whose answer is beyond what the
// machine can draw change nothing either: its last answer goes on to hold.
package powerbudget
