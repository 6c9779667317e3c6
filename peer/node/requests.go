package node

import (
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// requests are the last quote request to each partner that has no answer yet. The zero requests has none.
type requests struct {
	mu   sync.Mutex
	open map[protocol.SiteName]request
}

type request struct {
	round protocol.RoundID
	at    time.Time
}

// sent notes a request. It replaces an earlier one to the partner, which then has no answer.
func (r *requests) sent(to protocol.SiteName, round protocol.RoundID, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = make(map[protocol.SiteName]request)
	}
	r.open[to] = request{round, at}
}

// answered returns how long the partner took to answer. It is false if the last request to the partner was
// of another round, or has its answer already.
func (r *requests) answered(from protocol.SiteName, round protocol.RoundID, at time.Time) (after time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.open[from]
	if !ok || last.round != round {
		return 0, false
	}
	delete(r.open, from)
	return at.Sub(last.at), true
}
