// Package forecast continues the known electricity prices of an area.
//
// A [Curve] is a [price.Series] laid out by the local clock: slots of one length, a
// day always as long as the next, so that "the same hour yesterday" is a fixed number
// of slots away. On the day that has no 2 o'clock there is a hole, and where an hour
// comes twice the two are averaged; slots of a forecast are laid back on real time.
//
// A [Forecaster] sees nothing but the past of a curve. [Auto], the default, takes the
// one that would have been best on the days before; [Backtest] measures any of them.
package forecast
