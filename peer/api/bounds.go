package api

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/switchyard-hpc/switchyard/peer/view"
)

// What one user, by the kernel's word, may have at the socket at once.
const (
	maxConns  = 1024 // connections that are served
	spare     = 64   // of these connections over the bound get an answer, the rest are closed without one
	maxBodies = 2    // submissions that are read; more wait
	maxReads  = 32   // over TCP: requests for output
	maxWaits  = 1000 // over TCP: requests that wait for the end of a job
	maxEvents = 16   // requests that follow events
	maxMoves  = 2    // over TCP: requests that move files
)

// bounds keep one user from taking all connections, or all memory, from the others. The zero
// value is ready for use.
type bounds struct {
	mu     sync.Mutex
	open   map[net.Conn]int // uid
	ofUser map[int]int
	bodies map[int]chan struct{}
	long   map[longRequest]int
}

// longRequest is a kind of request of a user that may take as long as a job.
type longRequest struct {
	uid  int
	most int // of them: [maxReads], [maxWaits], [maxEvents] or [maxMoves]
}

// enter counts a connection of a user and says whether it is one too many.
func (b *bounds) enter(conn net.Conn, uid int) (tooMany bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		b.open, b.ofUser = map[net.Conn]int{}, map[int]int{}
	}
	b.open[conn] = uid
	b.ofUser[uid]++
	if b.ofUser[uid] > maxConns+spare {
		_ = conn.Close() // the server notices when it reads
	}
	return b.ofUser[uid] > maxConns
}

// leave is the hook of [http.Server] by which connections that have ended leave the count.
func (b *bounds) leave(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	uid, counted := b.open[conn]
	if !counted {
		return
	}
	delete(b.open, conn)
	if b.ofUser[uid]--; b.ofUser[uid] == 0 {
		delete(b.ofUser, uid)
	}
}

// read has a request of a user wait until its body may be read; done ends that.
func (b *bounds) read(ctx context.Context, uid int) (done func(), err error) {
	b.mu.Lock()
	places := b.bodies[uid]
	if b.bodies == nil {
		b.bodies = map[int]chan struct{}{}
	}
	if places == nil {
		places = make(chan struct{}, maxBodies)
		b.bodies[uid] = places
	}
	b.mu.Unlock()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin counts a request that may take as long as a job; end takes it off.
func (b *bounds) begin(kind longRequest) (end func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.long[kind] >= kind.most {
		return nil, refuse(view.Unavailable, "%d such requests of yours are under way; end some first", kind.most)
	}
	if b.long == nil {
		b.long = map[longRequest]int{}
	}
	b.long[kind]++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.long[kind]--; b.long[kind] == 0 {
			delete(b.long, kind)
		}
	}, nil
}

func tooManyConns() error {
	return refuse(view.Unavailable, "more than %d connections to the peer are open for your account; close some, or wait until they end", maxConns)
}
