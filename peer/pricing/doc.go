// Package pricing is what a site knows and says of prices and energy: what electricity costs there
// ([Prices]), what the site charges for work ([Desk]), what a run has cost (bills and who disputes
// them), what jobs draw, and the totals of it. All of it is about given instants: nothing here reads a
// clock, and a peer's state has what is kept.
package pricing
