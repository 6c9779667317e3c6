package connlimit_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/connlimit"
)

// conn is a connection from an address, which can be closed.
type conn struct {
	net.Conn
	from   string
	closed bool
}

func (c *conn) RemoteAddr() net.Addr {
	address, err := net.ResolveTCPAddr("tcp", c.from)
	if err != nil {
		panic(err)
	}
	return address
}

func (c *conn) Close() error { c.closed = true; return nil }

func TestTheOldestOfTheBusiestAddressGoes(t *testing.T) {
	t.Parallel()
	const most, mostOfOne = 10, 4
	cases := map[string]struct {
		from   []string
		closed []int
	}{
		"room for all":             {[]string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1"}, nil},
		"one address":              {repeat("192.0.2.1:%d", 6), []int{0, 1}},
		"others stay":              {append([]string{"192.0.2.9:1"}, repeat("192.0.2.1:%d", 100)...), span(1, 97)},
		"one IPv6 network":         {repeat("[2001:db8:0:1::%d]:1", 6), []int{0, 1}},
		"several IPv6 networks":    {repeat("[2001:db8:0:%d::1]:1", 6), nil},
		"IPv4 in IPv6 is IPv4":     {append(repeat("192.0.2.1:%d", 3), repeat("[::ffff:192.0.2.1]:%d", 2)...), []int{0}},
		"many addresses, all full": {append(repeat("192.0.2.1:%d", 4), repeat("192.0.3.%d:1", 7)...), []int{0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := connlimit.New(most, mostOfOne)
			var conns []*conn
			var waiting []*connlimit.Conn
			for _, from := range c.from {
				one := &conn{from: from}
				conns, waiting = append(conns, one), append(waiting, all.Add(one))
			}
			want := map[int]bool{}
			for _, i := range c.closed {
				want[i] = true
			}
			for i, one := range conns {
				if one.closed != want[i] {
					t.Errorf("connection %d from %s: closed %v", i, one.from, one.closed)
				}
				if stayed := all.Remove(waiting[i]); stayed == want[i] {
					t.Errorf("connection %d from %s: still waiting %v", i, one.from, stayed)
				}
			}
		})
	}
}

func repeat(form string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(form, i+1))
	}
	return out
}

func span(first, end int) []int {
	var out []int
	for i := first; i < end; i++ {
		out = append(out, i)
	}
	return out
}

// Places of removed connections are free again, and a closed limiter takes none.
func TestRemoveAndClose(t *testing.T) {
	t.Parallel()
	all := connlimit.New(2, 2)
	for i := range 100 {
		one := &conn{from: "192.0.2.1:1"}
		if !all.Remove(all.Add(one)) || one.closed {
			t.Fatalf("connection %d found no place", i)
		}
	}
	waits, late := &conn{from: "192.0.2.1:1"}, &conn{from: "192.0.2.2:1"}
	all.Add(waits)
	all.Close()
	if got := all.Add(late); got != nil || !late.closed || !waits.closed {
		t.Errorf("after Close: added %v, closed %v and %v", got, waits.closed, late.closed)
	}
}
