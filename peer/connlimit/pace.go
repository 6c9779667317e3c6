package connlimit

import (
	"sync"
	"time"
)

// Pace bounds how often something happens, such as a line in the log about a
// stranger: one in every span on average, and so many at once.
type Pace struct {
	every time.Duration
	burst int

	mu   sync.Mutex
	free time.Time // when the burst is there in full again
}

// NewPace makes a pace of one in every span, and burst at once.
func NewPace(every time.Duration, burst int) *Pace { return &Pace{every: every, burst: burst} }

// Allows says whether one more may happen, and counts it if so.
func (p *Pace) Allows(now time.Time) bool {
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

// full says whether the burst is there in full.
func (p *Pace) full(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.free.After(now)
}
