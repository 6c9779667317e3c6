// Package crowd bounds what those cost who have not shown who they are: their
// connections, so that whoever opens many and says nothing neither takes a site's
// memory nor keeps others out, and how often something is done on their account.
package crowd

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Crowd is those who wait. When one too many comes, the oldest of the same address
// is sent away if that address has too many, else the oldest of the address that
// has the most: who sits there longest goes first, and a single address never
// displaces others. An address is an IPv4 address or an IPv6 network of 64 bits.
type Crowd struct {
	most      int
	mostOfOne int

	mu      sync.Mutex
	closed  bool
	waiting []*Caller // the oldest first
	from    map[netip.Prefix]int
}

// Caller is one that waits.
type Caller struct {
	conn net.Conn
	from netip.Prefix
}

// New makes a crowd of so many at most, and so many of one address.
func New(most, mostOfOne int) *Crowd {
	return &Crowd{most: most, mostOfOne: mostOfOne, from: map[netip.Prefix]int{}}
}

// Join lets a connection wait, and closes that of another if there are too many.
// It is nil, and the connection closed, after Close.
func (c *Crowd) Join(conn net.Conn) *Caller {
	one := &Caller{conn: conn, from: networkOf(conn.RemoteAddr())}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close()
		return nil
	}
	c.waiting = append(c.waiting, one)
	c.from[one.from]++
	switch {
	case c.from[one.from] > c.mostOfOne:
		c.sendAway(one.from)
	case len(c.waiting) > c.most:
		c.sendAway(c.busiest())
	}
	return one
}

// Leave takes one off who waits no more. It says whether it was still waiting, and
// had not been sent away.
func (c *Crowd) Leave(one *Caller) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, one)
	if i < 0 {
		return false
	}
	c.forget(i)
	return true
}

// Close closes all connections that wait, and those that come.
func (c *Crowd) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, one := range c.waiting {
		_ = one.conn.Close()
	}
}

// busiest returns where most of those who wait are from. The caller holds the lock.
func (c *Crowd) busiest() netip.Prefix {
	var most netip.Prefix
	for from, n := range c.from {
		if n > c.from[most] {
			most = from
		}
	}
	return most
}

// sendAway ends the oldest from there. The caller holds the lock.
func (c *Crowd) sendAway(from netip.Prefix) {
	i := slices.IndexFunc(c.waiting, func(one *Caller) bool { return one.from == from })
	_ = c.waiting[i].conn.Close()
	c.forget(i)
}

// forget takes one off the list. The caller holds the lock.
func (c *Crowd) forget(i int) {
	from := c.waiting[i].from
	c.waiting = slices.Delete(c.waiting, i, i+1)
	if c.from[from]--; c.from[from] == 0 {
		delete(c.from, from)
	}
}

// networkOf is what counts as one address: of IPv6, what one household gets.
func networkOf(address net.Addr) netip.Prefix {
	at, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return netip.Prefix{} // all that are not TCP are one
	}
	ip := at.Addr().Unmap().WithZone("")
	network, _ := ip.Prefix(min(ip.BitLen(), 64)) // the number of bits is right
	return network
}
