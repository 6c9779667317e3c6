// Package budget tells which power budget holds when, from what a site says of it: the
// hours of the week at which it does ([Hours]), the price above which it does
// ([AbovePrice]), or a budget of its own for every hour, as demand response has it
// ([Series]). [Rules] join them to one signal for the batch engine.
//
// Hours are those that a clock on the wall shows, with its changes. The package has no
// clock and no files: callers pass the time and the prices.
package budget
