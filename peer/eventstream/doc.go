// Package eventstream keeps the latest events of a peer for those who follow them.
//
// A [Stream] numbers its events and keeps the last ones. Each [Follower] has a place in it, and reads on from there when it likes.
// If events are dropped that a follower has not read, it gets a [Gap]. Who only wants to know that something has happened watches
// the stream, which keeps nothing for that.
package eventstream
