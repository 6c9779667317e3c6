package gossip_test

import (
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
