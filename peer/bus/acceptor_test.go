package bus_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// siege holds many connections to an address, each made anew a while after it was
// ended, and does the same on each: nothing, or a part of what a partner does.
func siege(t *testing.T, address, from string, n int, again time.Duration, act func(net.Conn)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg, first sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	first.Add(n)
	for range n {
		wg.Go(func() {
			arrived := sync.OnceFunc(first.Done)
			for ctx.Err() == nil {
				if conn, err := dialer.DialContext(ctx, "tcp", address); err == nil {
					stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
					arrived()
					act(conn)
					_, _ = bufio.NewReader(conn).WriteTo(nowhere{}) // until it is ended
					stop()
					_ = conn.Close()
				}
				arrived()
				select {
				case <-ctx.Done():
				case <-time.After(again):
				}
			}
		})
	}
	first.Wait()
}

// nowhere is where what a server says to a stranger goes.
type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

// Whoever cannot show a partner's key, however many connections it holds, keeps no
// partner out, be the partner behind another address or the same.
//
//nolint:paralleltest // it takes the whole machine for a while
func TestFiveHundredConnectionsKeepNoPartnerOut(t *testing.T) {
	stranger := newSite(t, "kit")
	acts := map[string]func(at *site) func(net.Conn){
		"mute":            func(*site) func(net.Conn) { return func(net.Conn) {} },
		"half a hello":    func(*site) func(net.Conn) { return func(c net.Conn) { _, _ = c.Write([]byte{22, 3, 1, 2}) } },
		"a byte a second": func(*site) func(net.Conn) { return drip },
		"plain text": func(*site) func(net.Conn) {
			return func(c net.Conn) { _, _ = c.Write([]byte("CONNECT {}\r\nPING\r\n")) }
		},
		"unknown key": func(at *site) func(net.Conn) {
			config := pin(t, stranger, at.key.Public())
			return func(c net.Conn) {
				if _, err := bufio.NewReader(c).ReadSlice('\n'); err == nil { // INFO
					_ = tls.Client(c, config).HandshakeContext(t.Context())
				}
			}
		},
	}
	for name, act := range acts {
		for where, from := range map[string]string{"elsewhere": "127.0.0.2", "same address": "127.0.0.1"} {
			t.Run(name+", "+where, func(t *testing.T) {
				a, b := newSite(t, "cern"), newSite(t, "desy")
				log, again := new(logged), time.Second
				if name == "unknown key" { // a handshake costs both sides, here one machine
					again = time.Minute
				}
				a.start(t, loopback, log.into, b.partner())
				siege(t, a.bus.ListenAddr().String(), from, 500, again, act(a))
				start := time.Now()
				b.start(t, "", nil, a.partner())
				a.connected(t, b, 1)
				b.connected(t, a, 1)
				b.sends(t, a, protocol.Grant{Tag: tag})
				a.receives(t, b, protocol.Grant{Tag: tag})
				a.sends(t, b, protocol.Accept{Tag: tag})
				b.receives(t, a, protocol.Accept{Tag: tag})
				t.Logf("connected and exchanged messages in %v", time.Since(start))
				a.eventually(t, "the count", func() bool {
					return a.rejected[bus.NoHandshake]+a.rejected[bus.UnknownSender] >= 200
				})
				if got := log.count("nats_client_refused"); got > 6 {
					t.Errorf("the log has %d lines about strangers", got)
				}
			})
		}
	}
}

func drip(c net.Conn) {
	for _, b := range []byte{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3} {
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// Of one address so many handshakes are made and no more, whoever makes them; who is behind
// another address is not hindered, and who is behind the same gets in later.
func TestHandshakesArePacedByAddress(t *testing.T) {
	t.Parallel()
	const (
		here, elsewhere = "127.0.0.1", "127.0.0.2"
		atOnce, more    = 100, 20
	)
	for name, c := range map[string]struct {
		from  string
		every time.Duration // between handshakes
		never bool          // beyond those at once
	}{
		"elsewhere":    {elsewhere, 1000 * time.Hour, true},
		"same address": {here, 5 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, stranger := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "kit")
			a.start(t, loopback, func(cfg *bus.Config) { cfg.Timing.Handshake = c.every }, b.partner())
			handshakes(t, a, stranger, c.from, atOnce+more)
			a.eventually(t, "the count of strangers", func() bool {
				return a.rejected[bus.UnknownSender]+a.rejected[bus.TooFast] == atOnce+more
			})
			a.mu.Lock()
			got := a.rejected[bus.TooFast]
			a.mu.Unlock()
			if got == 0 || c.never && got != more {
				t.Errorf("%d of %d handshakes were refused", got, atOnce+more)
			}
			b.start(t, "", nil, a.partner())
			a.connected(t, b, 1)
			b.connected(t, a, 1)
		})
	}
}

// handshakes begins so many TLS handshakes with a site's server, one after the other, with a
// key that it does not know.
func handshakes(t *testing.T, at, as *site, from string, n int) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	config := pin(t, as, at.key.Public())
	for range n {
		conn, err := dialer.DialContext(t.Context(), "tcp", at.bus.ListenAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = bufio.NewReader(conn).ReadSlice('\n'); err == nil { // INFO
			secured := tls.Client(conn, config)
			if err = secured.HandshakeContext(t.Context()); err == nil {
				_, _ = secured.Read(make([]byte, 1)) // until it is ended
			}
		}
		_ = conn.Close()
	}
}

// A partner has a few connections; one more ends its oldest.
func TestAPartnersConnectionsAreFew(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	ended := make(chan int, 100)
	for i := range 10 {
		conn, err := nats.Connect(a.partner().URL, nats.Secure(pin(t, b, a.key.Public())), nats.NoReconnect(),
			nats.ClosedHandler(func(*nats.Conn) { ended <- i }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
	}
	closed := map[int]bool{}
	for len(closed) < 6 {
		closed[<-ended] = true
	}
	for i := range 6 {
		if !closed[i] {
			t.Errorf("of connections 0 to 9 these ended: %v, want 0 to 5", closed)
		}
	}
}

// That the connections between two sites have closed is noticed by both, whoever dialled them,
// and without waiting for silence. While one is left the partner counts as there.
func TestAClosedConnectionIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	through := func(t *testing.T, w *wire, to *site) bus.Partner {
		t.Helper()
		p := to.partner()
		p.URL = "nats://" + w.listener.Addr().String()
		return p
	}
	gone := func(t *testing.T, a, b *site) {
		t.Helper()
		a.eventually(t, "the disconnection", func() bool { return a.count("-"+string(b.name)) == 1 })
	}
	t.Run("one dials", func(t *testing.T) {
		t.Parallel()
		a, b := newSite(t, "cern"), newSite(t, "desy")
		a.start(t, loopback, nil, b.partner())
		w := newWire(t, a.bus.ListenAddr().String())
		b.start(t, "", nil, through(t, w, a))
		a.connected(t, b, 1)
		b.connected(t, a, 1)
		w.close()
		gone(t, a, b)
		gone(t, b, a)
	})
	t.Run("both dial", func(t *testing.T) {
		t.Parallel()
		a, b := newSite(t, "cern"), newSite(t, "desy")
		toB := newWire(t, "")
		a.start(t, loopback, nil, through(t, toB, b))
		toA := newWire(t, a.bus.ListenAddr().String())
		b.start(t, loopback, nil, through(t, toA, a))
		toB.leadTo(b.bus.ListenAddr().String())
		for _, s := range []struct{ at, to *site }{{a, b}, {b, a}} {
			// Two sessions may have been told of as one.
			s.at.eventually(t, "a session on each link", func() bool { return s.at.bus.LinksUp(s.to.name) == 2 })
		}
		toA.close()
		send := func() bool { return a.bus.Send(b.name, protocol.Accept{Tag: tag}) == nil }
		b.eventually(t, "a message over the other link", func() bool { return send() && len(b.got) > 0 })
		a.mu.Lock()
		if n := a.count("-desy"); n != 0 {
			t.Errorf("%d disconnections while a link is left", n)
		}
		a.mu.Unlock()
		toB.close()
		gone(t, a, b)
		gone(t, b, a)
	})
}

// Whatever a partner says about itself in its login, it is who its key shows.
func TestALoginIsThePartners(t *testing.T) {
	t.Parallel()
	a, b, c := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "kit")
	a.start(t, loopback, nil, b.partner(), c.partner())
	for _, user := range []string{"cern", "kit", ""} {
		refused := make(chan error, 16)
		conn, err := nats.Connect(a.partner().URL, nats.Secure(pin(t, b, a.key.Public())), nats.UserInfo(user, "x"),
			nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		for _, subject := range []string{"switchyard.v1.cern.in.kit.hello", "switchyard.v1.kit.in.cern.hello"} {
			if err := conn.Publish(subject, nil); err != nil {
				t.Fatal(err)
			}
			expectDenied(t, refused, fmt.Sprintf("%s as %q", subject, user))
		}
	}
}
