// Package protocol holds the grid's nouns as plain Go: jobs, what their users want of them, sites, quotes,
// loads and the messages that peers exchange.
//
// Everything that decides anything is an integer: time in milliseconds
// ([Instant], [Duration]), money in micro-units ([Micro]), shares in parts per
// million. The package imports only the standard library and starts nothing;
// how nouns look on the wire is the business of protocol/peer/v1.
package protocol
