// Package contract is what electricity costs by contract: a price that is fixed or goes
// by the month, the weekday and the hour of the clock ([Tariff]), and what grid fee
// and tax make of any price ([Adjustment], [Adjusted]). All of it is arithmetic on
// whole millionths; hours of the clock are those of a time zone, with its changes.
package contract
