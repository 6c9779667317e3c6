package connlimit

import (
	"maps"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Paces bound how often something happens for each address, such as a costly handshake: an IPv4
// address, or an IPv6 network of 64 bits.
type Paces struct {
	every time.Duration
	burst int
	most  int

	mu sync.Mutex
	of map[netip.Prefix]*rate.Limiter
}

// NewPaces makes paces of one in every span, and burst at once. It remembers at most this
// number of addresses.
func NewPaces(every time.Duration, burst, most int) *Paces {
	return &Paces{every: every, burst: burst, most: most, of: map[netip.Prefix]*rate.Limiter{}}
}

// Allows says whether one more may happen for the address, and counts it if so.
func (p *Paces) Allows(address net.Addr, now time.Time) bool {
	from := NetworkOf(address.String())
	p.mu.Lock()
	pace := p.of[from]
	if pace == nil {
		p.makeRoom(now)
		pace = rate.NewLimiter(rate.Every(p.every), p.burst)
		p.of[from] = pace
	}
	p.mu.Unlock()
	return pace.AllowN(now, 1)
}

// makeRoom forgets the addresses that have their burst in full again when there are too many,
// and if there are none, all. The caller holds the lock.
func (p *Paces) makeRoom(now time.Time) {
	if len(p.of) < p.most {
		return
	}
	maps.DeleteFunc(p.of, func(_ netip.Prefix, pace *rate.Limiter) bool { return pace.TokensAt(now) >= float64(p.burst) })
	if len(p.of) >= p.most {
		clear(p.of)
	}
}
