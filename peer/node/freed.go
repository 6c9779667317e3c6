package node

import (
	"context"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer"
)

// freed keeps the order of what depends on room: a quote or a hold that was asked for after
// room was given up is answered after that, so that it does not count the room as taken.
// The calls of a node are begun by one goroutine, and end in any.
type freed struct {
	mu   sync.Mutex
	open []*releasing // in the order of their beginning; the first is not over
}

// releasing is a release that was begun.
type releasing struct {
	over  bool
	all   chan struct{} // closed when it and all before it are over
	until time.Time     // nobody waits for it any longer
}

// freeing is how long after its beginning a release is waited for at most.
const freeing = 2 * time.Second

// enter says what to wait for before a call, nil: nothing; and what to do when it is over.
func (f *freed) enter(op peer.Op) (before *releasing, over func()) {
	switch op.(type) { //nolint:gochecksumtype // all others neither give room up nor look at it
	case peer.QuoteOp, peer.ReserveOp:
		return f.last(), func() {}
	case peer.ReleaseOp:
		one := f.begin()
		return nil, func() { f.end(one) }
	}
	return nil, func() {}
}

// last is the latest release, while it or one before it is not over.
func (f *freed) last() *releasing {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.open) == 0 {
		return nil
	}
	return f.open[len(f.open)-1]
}

func (f *freed) begin() *releasing {
	one := &releasing{all: make(chan struct{}), until: time.Now().Add(freeing)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open, one)
	return one
}

// end notes that a release is over. It waits for none of those before it.
func (f *freed) end(one *releasing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.over = true
	for len(f.open) > 0 && f.open[0].over {
		close(f.open[0].all)
		f.open = f.open[1:]
	}
}

// await waits until the room is free, for a while. A nil release is over.
func (r *releasing) await(ctx context.Context) {
	if r == nil {
		return
	}
	timer := time.NewTimer(time.Until(r.until))
	defer timer.Stop()
	select {
	case <-r.all:
	case <-timer.C:
	case <-ctx.Done():
	}
}
