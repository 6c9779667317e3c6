package node

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/peer"
)

// freed keeps the order of what depends on room: a quote or a hold that was asked for after
// room was given up is answered after that, so that it does not count the room as taken.
// The calls of a node are begun by one goroutine.
type freed struct {
	last chan struct{} // closed when the last release that was begun, and all before it, are over
}

// freeing is how long a quote waits at most for room to be given up.
const freeing = 2 * time.Second

// enter says what to wait for before a call, and what to do when it is over.
func (f *freed) enter(op peer.Op) (before <-chan struct{}, over func()) {
	switch op.(type) { //nolint:gochecksumtype // all others neither give room up nor look at it
	case peer.QuoteOp, peer.ReserveOp:
		return f.last, func() {}
	case peer.ReleaseOp:
		earlier, mine := f.last, make(chan struct{})
		f.last = mine
		return nil, func() {
			if earlier != nil {
				<-earlier
			}
			close(mine)
		}
	}
	return nil, func() {}
}

// awaitRoom waits until the room is free, for a while.
func awaitRoom(ctx context.Context, before <-chan struct{}) {
	if before == nil {
		return
	}
	timer := time.NewTimer(freeing)
	defer timer.Stop()
	select {
	case <-before:
	case <-timer.C:
	case <-ctx.Done():
	}
}
