// Package pricefeed holds the price feeds that a peer's configuration names: that of
// electricity in [prices], and that of power budgets in [power.series].
//
//	[Table]   what a table says of its feed; it opens and checks a built-in one
//	[File]    a built-in feed that the peer asks, and its own configuration file
//	[Watch]   asks the feed of the electricity prices for the node, and remembers for
//	          monitoring how that went
//
// # Contract
//
// A [Watch] may be used from any goroutine. Its lock guards only which feed is asked and is
// not held during a question, so a slow feed delays no other caller. When a feed is replaced,
// a question that has begun is asked again of the new one, so no answer of the previous one comes later.
//
// A [File] belongs to whoever serialises reloads of the configuration: [OpenFile], [Reopen]
// and [Reopened.Use] must not run at once. Nothing changes until Use, so a reload that fails
// elsewhere drops what [Reopen] has returned.
//
// Nothing is durable here. A feed that fails is no reason not to schedule: the errors of
// [Watch.Ahead] go to the node, which plans without prices.
package pricefeed
