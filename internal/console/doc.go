// Package console lays out what people read at a terminal: tables, and durations, instants,
// parts, money, power and energy as text.
package console
