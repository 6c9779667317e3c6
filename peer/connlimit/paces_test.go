package connlimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/connlimit"
)

// Each address has a pace of its own, an IPv6 network of 64 bits counts as one address, and
// what is remembered of them is bounded.
func TestPacesAreByAddress(t *testing.T) {
	t.Parallel()
	const most = 100
	p := connlimit.NewPaces(time.Second, 2, most)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	allowed := func(from string, at time.Duration) bool {
		return p.Allows((&conn{from: from}).RemoteAddr(), start.Add(at))
	}
	for i, c := range []struct {
		from string
		at   time.Duration
		want bool
	}{
		{"192.0.2.1:1", 0, true},
		{"192.0.2.1:2", 0, true},
		{"192.0.2.1:3", 0, false},
		{"[::ffff:192.0.2.1]:4", 0, false},
		{"192.0.2.2:1", 0, true},
		{"192.0.2.1:5", time.Second, true},
		{"[2001:db8:0:1::1]:1", 0, true},
		{"[2001:db8:0:1::2]:1", 0, true},
		{"[2001:db8:0:1::3]:1", 0, false},
		{"[2001:db8:0:2::3]:1", 0, true},
	} {
		if got := allowed(c.from, c.at); got != c.want {
			t.Errorf("step %d, %s at %v: got %v", i, c.from, c.at, got)
		}
	}
	for i := range most - 10 { // others do not have it forgotten
		allowed(fmt.Sprintf("198.51.100.%d:1", i), time.Second)
	}
	if allowed("192.0.2.1:6", time.Second) {
		t.Error("the pace of an address was forgotten with few others")
	}
	for i := range 10 * most {
		allowed(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256), time.Hour)
	}
	if n := p.Remembered(); n > most {
		t.Errorf("%d addresses are remembered", n)
	}
}

// Whoever floods an address takes no more than its pace, and so leaves it to others behind the
// same address as often as that lets anything through.
func TestAFloodLeavesThePace(t *testing.T) {
	t.Parallel()
	p := connlimit.NewPaces(20*time.Millisecond, 100, 10)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	from := (&conn{from: "192.0.2.1:1"}).RemoteAddr()
	n := 0
	for at := time.Duration(0); at < time.Minute; at += 2 * time.Millisecond {
		if p.Allows(from, start.Add(at)) {
			n++
		}
	}
	if n < 3000 || n > 3101 {
		t.Errorf("%d of 30,000 in a minute were let through, want 50 a second and 100 at once", n)
	}
}
