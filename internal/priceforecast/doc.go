// Package priceforecast tells what electricity will cost: the prices that are published, as far
// as they go, and forecasts beyond. [Of] is pure and serves the simulator too, which cuts a
// series off where it was known at the time; [Live] asks a feed.
package priceforecast
