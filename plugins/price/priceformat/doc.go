// Package priceformat reads price curves in the formats in which markets, scripts and people
// keep them, and refuses what looks wrong before it costs money: wrong columns or
// units, hours that are missing, doubled or out of order, and clocks of another time
// zone than the one that is named.
//
// [Read] takes the text of a file and gives a [Set] of curves, one for each price
// area. All that is wrong with a file is an error of type [*problems.FileError], each
// problem with its line. Prices are whole millionths of the currency's unit per MWh,
// read without floating point.
package priceformat
