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

// sockets are real UDP and TCP, with dials that end when the gossip does.
type sockets struct {
	*memberlist.NetTransport
	ctx context.Context //nolint:containedctx // memberlist's interface has no other way in
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
			return &sockets{transport, ctx}, nil
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
