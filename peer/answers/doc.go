// Package answers answers questions of users and operators about a peer: its jobs and guests, its queue,
// its site and partners, and what an operator must decide. An answer changes nothing.
//
// What a row alone says of a job is in peer/status; here are the answers that need several rows, the
// accounts, the partners and the store.
package answers
