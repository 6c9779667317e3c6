package gossip

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/switchyard-hpc/switchyard/peer/connlimit"
)

// addresses puts the configured addresses into conf. memberlist takes anything
// that is not an IP address for "listen everywhere", hence the checks.
func (c *Config) addresses(conf *memberlist.Config) error {
	bind, err := netip.ParseAddrPort(c.Bind)
	if err != nil {
		return fmt.Errorf("gossip: [gossip] bind %q must be an IP address and a port, as 192.0.2.7:7601: %w", c.Bind, err)
	}
	conf.BindAddr, conf.BindPort = bind.Addr().String(), int(bind.Port())
	conf.AdvertiseAddr, conf.AdvertisePort = "", int(bind.Port())
	if c.Advertise == "" {
		if bind.Addr().IsUnspecified() {
			return fmt.Errorf("gossip: [gossip] bind %q is every address of this machine;"+
				" set [gossip] advertise to the IP address and port that the other sites reach", c.Bind)
		}
		return nil
	}
	advertise, err := netip.ParseAddrPort(c.Advertise)
	if err != nil || advertise.Addr().IsUnspecified() || advertise.Port() == 0 {
		return fmt.Errorf("gossip: [gossip] advertise %q must be the IP address and port that the other sites reach", c.Advertise)
	}
	conf.AdvertiseAddr, conf.AdvertisePort = advertise.Addr().String(), int(advertise.Port())
	return nil
}

// Limits of the TCP streams in which members exchange their states. When a stream begins,
// the sender has not proved that it has a key of the keyring, and memberlist keeps what it
// reads in memory until the stream ends, after 10 s at the latest.
const (
	maxStreams      = 64
	maxStreamsOfOne = 32      // from one address
	maxStreamBytes  = 1 << 20 // a member takes some 500 bytes of a state
)

// sockets are real UDP and TCP, with dials that end when the gossip does, and a
// bound on the streams that others open.
type sockets struct {
	*memberlist.NetTransport
	ctx     context.Context //nolint:containedctx // memberlist's interface has no other way in
	streams chan net.Conn
	waiting *connlimit.Limiter
	closing chan struct{} // closed when memberlist takes no more streams
	stopped chan struct{} // closed when NetTransport gives no more streams
}

// newSockets listens on the address of conf.
func newSockets(ctx context.Context, conf *memberlist.Config, logger *log.Logger) (*sockets, error) {
	tries := 1
	if conf.BindPort == 0 { // the kernel's choice of a TCP port may be taken for UDP
		tries = 10
	}
	var transport *memberlist.NetTransport
	var err error
	for range tries {
		transport, err = memberlist.NewNetTransport(&memberlist.NetTransportConfig{
			BindAddrs: []string{conf.BindAddr}, BindPort: conf.BindPort, Logger: logger,
		})
		if err == nil {
			s := &sockets{
				NetTransport: transport, ctx: ctx, streams: make(chan net.Conn),
				waiting: connlimit.New(maxStreams, maxStreamsOfOne),
				closing: make(chan struct{}), stopped: make(chan struct{}),
			}
			go s.admit()
			return s, nil
		}
	}
	at := net.JoinHostPort(conf.BindAddr, strconv.Itoa(conf.BindPort))
	switch {
	case strings.Contains(err.Error(), "address already in use"): // memberlist drops the error number
		return nil, fmt.Errorf("gossip: [gossip] bind %s is in use, perhaps by another peer;"+
			" stop that or choose another port: %w", at, err)
	case strings.Contains(err.Error(), "cannot assign requested address"):
		return nil, fmt.Errorf("gossip: [gossip] bind %s is no address of this machine;"+
			" put the outer one into [gossip] advertise: %w", at, err)
	}
	return nil, fmt.Errorf("gossip: [gossip] bind %s: %w", at, err)
}

// StreamCh gives the streams that others open.
func (s *sockets) StreamCh() <-chan net.Conn { return s.streams }

// admit passes streams on until the transport has shut down.
func (s *sockets) admit() {
	for {
		select {
		case <-s.stopped:
			return
		case conn := <-s.NetTransport.StreamCh():
			s.pass(conn)
		}
	}
}

func (s *sockets) pass(conn net.Conn) {
	added := s.waiting.Add(conn)
	if added == nil {
		return
	}
	bounded := &stream{Conn: conn, left: maxStreamBytes, leave: func() { s.waiting.Remove(added) }}
	select {
	case s.streams <- bounded:
	case <-s.closing:
		_ = bounded.Close()
	}
}

// Shutdown ends the transport, and the streams that it has.
func (s *sockets) Shutdown() error {
	close(s.closing)
	err := s.NetTransport.Shutdown() // waits until its last stream is taken
	close(s.stopped)
	s.waiting.Close()
	return err
}

// stream is what another has opened, of which so much is read.
type stream struct {
	net.Conn
	left  int
	leave func()
}

var errLongStream = fmt.Errorf("gossip: the other side sends more than %d bytes", maxStreamBytes)

// Read reads until the bound.
func (s *stream) Read(b []byte) (int, error) {
	if s.left <= 0 {
		return 0, errLongStream
	}
	n, err := s.Conn.Read(b[:min(len(b), s.left)])
	s.left -= n
	return n, err
}

// Close makes room for another.
func (s *stream) Close() error {
	s.leave()
	return s.Conn.Close()
}

// DialTimeout connects to a member.
func (s *sockets) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout}
	return dialer.DialContext(s.ctx, "tcp", addr)
}

// DialAddressTimeout connects to a member.
func (s *sockets) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return s.DialTimeout(a.Addr, timeout)
}

func hostPort(ip net.IP, port int) string { return net.JoinHostPort(ip.String(), strconv.Itoa(port)) }
