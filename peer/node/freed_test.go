package node_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/node"
)

// Quotes and holds wait for the releases begun before them, all of them, and for no later one.
func TestRoomIsFreedInOrder(t *testing.T) {
	t.Parallel()
	var f node.Freed
	open := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return c == nil
		}
	}
	if before, over := f.Enter(peer.QuoteOp{}); before != nil {
		t.Error("a quote waits for nothing that was begun")
	} else {
		over()
	}
	_, first := f.Enter(peer.ReleaseOp{})
	_, second := f.Enter(peer.ReleaseOp{})
	quote, _ := f.Enter(peer.QuoteOp{})
	_, third := f.Enter(peer.ReleaseOp{})
	hold, _ := f.Enter(peer.ReserveOp{})
	done := make(chan struct{})
	go func() { second(); close(done) }()
	if open(quote) {
		t.Error("the quote did not wait for the first release")
	}
	first()
	<-done
	if !open(quote) || open(hold) {
		t.Errorf("after two releases: quote may go %t, hold %t", open(quote), open(hold))
	}
	third()
	if !open(hold) {
		t.Error("the hold still waits")
	}
	if before, _ := f.Enter(peer.SubmitOp{}); before != nil {
		t.Error("a submission waits for room to be freed")
	}
}
