package bus

import (
	"sync"
	"time"
)

// pace bounds how often something happens: one in every span on average, and
// burst at once.
type pace struct {
	every time.Duration
	burst int

	mu   sync.Mutex
	free time.Time // when the burst is there in full again
}

// allows says whether one more may happen, and counts it if so.
func (p *pace) allows(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free.Before(now) {
		p.free = now
	}
	if p.free.Sub(now) > time.Duration(p.burst-1)*p.every {
		return false
	}
	p.free = p.free.Add(p.every)
	return true
}
