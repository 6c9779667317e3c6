// Package connlimit bounds what those cost who have not shown who they are: their
// connections, so that whoever opens many and says nothing neither takes a site's
// memory nor keeps others out, and how often something is done on their account.
package connlimit

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Limiter bounds the connections that wait to be identified. When there is one too
// many, it closes the oldest of the same address if that address has too many, else
// the oldest of the address that has the most, so that a single address never
// displaces others. An address is an IPv4 address or an IPv6 network of 64 bits.
type Limiter struct {
	most     int
	maxOfOne int

	mu      sync.Mutex
	closed  bool
	waiting []*Conn // the oldest first
	from    map[netip.Prefix]int
}

// Conn is a connection that waits.
type Conn struct {
	conn net.Conn
	from netip.Prefix
}

// New makes a limiter of at most this number of connections, and mostOfOne of one address.
func New(most, mostOfOne int) *Limiter {
	return &Limiter{most: most, maxOfOne: mostOfOne, from: map[netip.Prefix]int{}}
}

// Add lets a connection wait, and closes another if there are too many.
// It is nil, and the connection closed, after Close.
func (l *Limiter) Add(conn net.Conn) *Conn {
	one := &Conn{conn: conn, from: NetworkOf(conn.RemoteAddr().String())}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = conn.Close()
		return nil
	}
	l.waiting = append(l.waiting, one)
	l.from[one.from]++
	switch {
	case l.from[one.from] > l.maxOfOne:
		l.closeOldest(one.from)
	case len(l.waiting) > l.most:
		l.closeOldest(l.busiest())
	}
	return one
}

// Remove takes off a connection that waits no more. It says whether it was still
// waiting, and had not been closed to make room.
func (l *Limiter) Remove(one *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, one)
	if i < 0 {
		return false
	}
	l.forget(i)
	return true
}

// Close closes all connections that wait, and those that come.
func (l *Limiter) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, one := range l.waiting {
		_ = one.conn.Close()
	}
}

// busiest returns where most of those who wait are from. The caller holds the lock.
func (l *Limiter) busiest() netip.Prefix {
	var most netip.Prefix
	for from, n := range l.from {
		if n > l.from[most] {
			most = from
		}
	}
	return most
}

// closeOldest closes the oldest connection from there. The caller holds the lock.
func (l *Limiter) closeOldest(from netip.Prefix) {
	i := slices.IndexFunc(l.waiting, func(one *Conn) bool { return one.from == from })
	_ = l.waiting[i].conn.Close()
	l.forget(i)
}

// forget takes one off the list. The caller holds the lock.
func (l *Limiter) forget(i int) {
	from := l.waiting[i].from
	l.waiting = slices.Delete(l.waiting, i, i+1)
	if l.from[from]--; l.from[from] == 0 {
		delete(l.from, from)
	}
}

// NetworkOf is what counts as one address: of IPv6, what one household gets. The text is of an address and a port, as [net.Addr] and requests have it.
func NetworkOf(address string) netip.Prefix {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Prefix{} // all that are not TCP are one
	}
	ip := at.Addr().Unmap().WithZone("")
	network, _ := ip.Prefix(min(ip.BitLen(), 64)) // the number of bits is right
	return network
}
