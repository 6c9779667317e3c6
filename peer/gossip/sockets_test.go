package gossip_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("after 30 s still not: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestLoopback runs two sites over real UDP and TCP, and one with another key.
func TestLoopback(t *testing.T) {
	t.Parallel()
	keys := keyring(t, gossip.NewKey())
	one, two, stranger := configure(1, 3, keys), configure(2, 3, keys), configure(3, 3, keyring(t, gossip.NewKey()))
	for _, s := range []*site{&one, &two, &stranger} {
		s.config.Bind = "127.0.0.1:0"
		if s != &one {
			s.config.Join = []string{one.Address()}
		}
		s.start(t)
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error("second Close:", err)
			}
		}()
		s.Advertise(load(1))
	}
	hears := func(s *site, of protocol.SiteName) bool { _, ok := s.handler.digest(of); return ok }
	eventually(t, "the two sites hear each other", func() bool { return hears(&one, "site-2") && hears(&two, "site-1") })
	eventually(t, "they see each other", func() bool { return len(one.Members()) == 1 && len(two.Members()) == 1 })
	if hears(&one, "site-3") || len(stranger.Members()) != 0 {
		t.Errorf("a site with another key: %v, %v", one.Members(), stranger.Members())
	}

	late := configure(3, 3, keys)
	late.config.Bind = one.Address()
	_, err := gossip.Start(late.config)
	if err == nil || !strings.Contains(err.Error(), "[gossip] bind "+one.Address()+" is in use") ||
		!strings.Contains(err.Error(), "choose another port") {
		t.Errorf("a second site at the same address: %v", err)
	}

	if err := two.Leave(2 * time.Minute); err != nil {
		t.Error(err)
	}
	eventually(t, "site-2 is gone", func() bool { return one.handler.left("site-2") })
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	keys := keyring(t, gossip.NewKey())
	for name, c := range map[string]struct{ bind, advertise, word string }{
		"none":          {"", "", "must be an IP address and a port"},
		"name":          {"localhost:7601", "", "must be an IP address and a port"},
		"no port":       {"127.0.0.1", "", "must be an IP address and a port"},
		"everywhere":    {"0.0.0.0:0", "", "set [gossip] advertise"},
		"everywhere, 6": {"[::]:0", "", "set [gossip] advertise"},
		"bad advertise": {"127.0.0.1:0", "head.example.org:7601", "[gossip] advertise"},
		"no use":        {"127.0.0.1:0", "0.0.0.0:7601", "[gossip] advertise"},
		"not ours":      {"192.0.2.7:0", "", "no address of this machine"},
	} {
		s := configure(1, 1, keys)
		s.config.Bind, s.config.Advertise = c.bind, c.advertise
		_, err := gossip.Start(s.config)
		if err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v; want it to say %q", name, err, c.word)
		}
	}
	s := configure(1, 1, keys)
	s.config.Bind, s.config.Advertise = "127.0.0.1:0", "192.0.2.7:7601"
	s.start(t)
	if s.Address() != "192.0.2.7:7601" {
		t.Errorf("advertised address %s", s.Address())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestIncompleteConfig(t *testing.T) {
	t.Parallel()
	if _, err := gossip.Start(gossip.Config{}); err == nil {
		t.Error("an empty configuration was accepted")
	}
	s := configure(1, 1, keyring(t, gossip.NewKey()))
	s.config.Bind = "127.0.0.1:0"
	s.config.Self.Site = "Not A Name"
	if _, err := gossip.Start(s.config); err == nil || !strings.Contains(err.Error(), "Not A Name") {
		t.Errorf("a bad site name: %v", err)
	}
}

// Whoever reaches the port, with many connections that say nothing or announce 20
// megabytes, takes little memory and keeps no member from joining.
func TestStreamsOfStrangersAreBounded(t *testing.T) {
	t.Parallel()
	keys := keyring(t, gossip.NewKey())
	one, two := configure(1, 2, keys), configure(2, 2, keys)
	one.config.Bind, two.config.Bind = "127.0.0.1:0", "127.0.0.1:0"
	one.start(t)
	defer func() { _ = one.Close() }()
	const encrypted, announced = 10, 20 << 20
	hello := binary.BigEndian.AppendUint32([]byte{encrypted}, announced)
	var conns []net.Conn
	open := 0
	for i := range 200 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", one.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if conns = append(conns, conn); i%2 == 0 {
			_, _ = conn.Write(hello)
		}
	}
	two.config.Join = []string{one.Address()}
	two.start(t)
	defer func() { _ = two.Close() }()
	eventually(t, "the two sites see each other", func() bool { return len(one.Members()) == 1 && len(two.Members()) == 1 })
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			open++
		}
	}
	if open > 32 {
		t.Errorf("%d of %d connections of one address are still held", open, len(conns))
	}
	conn := conns[len(conns)-2] // one that has announced much
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	sent, piece := 0, make([]byte, 64<<10)
	for sent < announced {
		n, err := conn.Write(piece)
		if sent += n; err != nil {
			break
		}
	}
	if sent >= announced {
		t.Errorf("all of %d bytes were taken", sent)
	}
}

// A stranger that has the key ring invents members without end: they stop at a
// bound, are counted, and a partner is taken in all the same.
func TestInventedMembersAreBounded(t *testing.T) {
	t.Parallel()
	const invented = gossip.MaxMembers + 50
	one := configure(1, 2, keyring(t, gossip.NewKey()))
	one.config.Bind = "127.0.0.1:0"
	one.start(t)
	defer func() { _ = one.Close() }()
	for i := range invented {
		other := configure(2, 2, "")
		other.signer = newSigner(fmt.Sprintf("invented %d", i))
		other.config.Self.PublicKey = other.signer.public()
		one.Meet(other.config.Self, other.signer.sign)
	}
	eventually(t, "the refusals", func() bool { return one.handler.refusals("too-many-members") >= 50 })
	if got := len(one.Members()); got != gossip.MaxMembers {
		t.Errorf("%d members, want %d", got, gossip.MaxMembers)
	}
	partner := configure(2, 2, "")
	one.Meet(partner.config.Self, partner.signer.sign)
	if !slices.ContainsFunc(one.Members(), func(m gossip.Member) bool { return m.Trusted }) {
		t.Error("the partner found no room")
	}
}
