package bus_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// setPartners fails on an error.
func (s *site) setPartners(t testing.TB, partners ...bus.Partner) {
	t.Helper()
	if err := s.bus.SetPartners(s.key, partners); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
}

// undisturbed checks that a session has never ended.
func (s *site) undisturbed(t testing.TB, other *site) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count("+"+string(other.name)) != 1 || s.count("-"+string(other.name)) != 0 {
		t.Errorf("%s: the session with %s was disturbed: %v", s.name, other.name, s.changes)
	}
}

// A partner joins and leaves while the buses run, whether it is dialled, dials, or both; the
// session of another partner goes on.
func TestPartnersAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, second bool }{ // who dials
		"the one that has partners already dials": {first: true},
		"the new one dials":                       {second: true},
		"both dial":                               {first: true, second: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, added := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "kit")
			a.start(t, loopback, nil, b.partner())
			b.start(t, "", nil, a.partner())
			added.start(t, loopback, nil)
			a.connected(t, b, 1)
			ofAdded, ofA := added.partner(), a.partner()
			if !c.first {
				ofAdded.URL = ""
			}
			if !c.second {
				ofA.URL = ""
			}
			for round := 1; round <= 2; round++ {
				a.setPartners(t, b.partner(), ofAdded)
				added.setPartners(t, ofA)
				a.eventually(t, "the new partner", func() bool { return a.bus.LinksUp("kit") > 0 })
				added.eventually(t, "the first one", func() bool { return added.bus.LinksUp("cern") > 0 })
				one := protocol.Tag{Job: tag.Job, Epoch: protocol.Epoch(round)}
				a.sends(t, added, protocol.Prepared{Tag: one})
				added.receives(t, a, protocol.Prepared{Tag: one})
				added.sends(t, a, protocol.Grant{Tag: one})
				a.receives(t, added, protocol.Grant{Tag: one})

				a.setPartners(t, b.partner())
				if err := a.bus.Send("kit", protocol.Abort{Tag: one}); !errors.Is(err, bus.ErrUnknownPartner) {
					t.Errorf("to a partner that was removed: %v", err)
				}
				a.mu.Lock()
				if last := a.changes[len(a.changes)-1]; last != "-kit" {
					t.Errorf("the handler was not told that the partner is gone: %v", a.changes)
				}
				a.mu.Unlock()
				added.eventually(t, "the end of the session", func() bool { return added.bus.LinksUp("cern") == 0 })
				added.setPartners(t)
			}
			a.undisturbed(t, b)
			b.undisturbed(t, a)
		})
	}
}

// A partner that is removed can neither hear nor speak at this site's server any more: its
// connections end, and its key gets none.
func TestARemovedPartnerIsPutOut(t *testing.T) {
	t.Parallel()
	a, b, left := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "kit")
	a.start(t, loopback, nil, b.partner(), left.partner())
	closed := make(chan struct{})
	dial := func(opts ...nats.Option) (*nats.Conn, error) {
		return nats.Connect(a.partner().URL, append(opts, nats.Secure(pin(t, left, a.key.Public())))...)
	}
	conn, err := dial(nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err = conn.Flush(); err != nil {
		t.Fatal(err)
	}
	a.setPartners(t, b.partner())
	<-closed
	if again, refused := dial(); refused == nil {
		again.Close()
		t.Error("its key still gets a connection")
	}
	a.refuses(t, bus.UnknownSender)

	a.setPartners(t, b.partner(), left.partner())
	again, err := dial()
	if err != nil {
		t.Fatalf("it is a partner once more: %v", err)
	}
	again.Close()
}

// A key that was replaced lets nobody in, and the new one does, at both ends.
func TestKeysChange(t *testing.T) {
	t.Parallel()
	a, b, old := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "desy")
	a.start(t, loopback, nil, old.partner())
	old.start(t, "", nil, a.partner())
	a.connected(t, old, 1)
	a.setPartners(t, b.partner())
	old.eventually(t, "the refusal of the old key", func() bool {
		return slices.ContainsFunc(old.refusals, func(text string) bool { return strings.Contains(text, "it refuses this site's key") })
	})
	a.eventually(t, "that the old key is named", func() bool {
		return slices.ContainsFunc(a.refusals, func(text string) bool {
			return strings.Contains(text, old.key.Public()) && strings.Contains(text, b.key.Public())
		})
	})
	a.mu.Lock()
	if !slices.Equal(a.changes, []string{"+desy", "-desy"}) {
		t.Errorf("cern was told %v", a.changes)
	}
	a.mu.Unlock()
	old.bus.Close()
	b.start(t, "", nil, a.partner())
	a.connected(t, b, 2)
	b.sends(t, a, protocol.Grant{Tag: tag})
	a.receives(t, b, protocol.Grant{Tag: tag})

	// Two partners swap their keys.
	c := newSite(t, "kit")
	swapped := func() []bus.Partner {
		return []bus.Partner{{Site: "desy", PublicKey: c.key.Public()}, {Site: "kit", PublicKey: b.key.Public()}}
	}
	a.setPartners(t, b.partner(), c.partner())
	a.setPartners(t, swapped()...)
	a.eventually(t, "the end of desy's session", func() bool { return a.bus.LinksUp("desy") == 0 })
	a.setPartners(t, b.partner(), c.partner())
	a.connected(t, b, 3)
}

// A partner with a second key comes in by either of the two, whoever dials, with evidence and files; the removal of one ends
// what came by it, and it comes in no more.
func TestNextKey(t *testing.T) {
	t.Parallel()
	for name, dialled := range map[string]bool{"the partner dials": false, "the partner is dialled": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, old, next := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "desy")
			a.start(t, loopback, func(c *bus.Config) { c.Streams = 1 })
			next.file = []byte("output")
			configured := bus.Partner{Site: "desy", PublicKey: old.key.Public(), NextPublicKey: next.key.Public()}
			run := func(s *site) {
				given := a.partner()
				if dialled {
					given.URL = ""
				}
				listens := ""
				if dialled {
					listens = loopback
				}
				s.start(t, listens, func(c *bus.Config) { c.Streams = 1 }, given)
				if dialled {
					configured.URL = s.partner().URL
				}
			}
			for times, s := range []*site{old, next} {
				run(s)
				a.setPartners(t, configured)
				a.connected(t, s, times+1)
				s.connected(t, a, 1)
				if key := a.cards["desy"].PublicKey; key != s.key.Public() {
					t.Errorf("the card has the key %s", key)
				}
				s.sends(t, a, protocol.Grant{Tag: protocol.Tag{Job: tag.Job, Epoch: protocol.Epoch(times + 1)}})
				a.receives(t, s, protocol.Grant{Tag: protocol.Tag{Job: tag.Job, Epoch: protocol.Epoch(times + 1)}})
				if s == next {
					got, err := a.bus.Fetch(t.Context(), "desy", bus.FetchRequest{Tag: tag, Stream: protocol.Stdout, Size: 100})
					if err != nil || string(got) != "output" {
						t.Errorf("fetched %q, %v", got, err)
					}
				}
				s.bus.Close()
				a.eventually(t, "the end of the session", func() bool { return a.bus.LinksUp("desy") == 0 })
			}
			run(old)
			a.setPartners(t, configured)
			a.connected(t, old, 3)
			configured.PublicKey, configured.NextPublicKey = next.key.Public(), ""
			a.setPartners(t, configured)
			a.eventually(t, "the end of the session by the old key", func() bool { return a.changes[len(a.changes)-1] == "-desy" })
			a.eventually(t, "the refusal of the old key", func() bool {
				return slices.ContainsFunc(a.refusals, func(text string) bool { return strings.Contains(text, old.key.Public()) })
			})
			if a.bus.LinksUp("desy") > 0 {
				t.Error("a link is up by the old key")
			}
		})
	}
}

// A site replaces its own key while its bus runs, at one that dials it and one that it dials: sessions come back with the new key,
// and what partners say of its life by a signature of the former key still counts.
func TestOwnKeyChanges(t *testing.T) {
	t.Parallel()
	a, b, c := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "kit")
	former, next := a.key, newSite(t, "cern").key
	a.life = theLife
	b.start(t, loopback, nil)
	a.start(t, loopback, nil, b.partner(), c.partner())
	knownAs := func(dialled bool) bus.Partner {
		p := a.partner()
		p.PublicKey, p.NextPublicKey = former.Public(), next.Public()
		if dialled {
			return p
		}
		p.URL = ""
		return p
	}
	b.setPartners(t, knownAs(false))
	c.start(t, "", nil, knownAs(true))
	for _, s := range []*site{b, c} {
		s.connected(t, a, 1)
		a.connected(t, s, 1)
	}
	b.mu.Lock()
	signed := b.cards["cern"]
	b.mu.Unlock()
	stated := signed.Life()

	a.mu.Lock()
	a.key = next // its card has it
	a.mu.Unlock()
	a.setPartners(t, b.partner(), c.partner())
	for _, s := range []*site{b, c} {
		s.connected(t, a, 2)
		a.connected(t, s, 2)
		s.mu.Lock()
		if got := s.cards["cern"].PublicKey; got != next.Public() {
			t.Errorf("%s got a card with the key %s", s.name, got)
		}
		s.mu.Unlock()
		a.sends(t, s, protocol.Grant{Tag: tag})
		s.receives(t, a, protocol.Grant{Tag: tag})
	}
	life := protocol.Life{Incarnation: 1, Boot: 1, Begun: 1, Generation: 1}
	b.sends(t, a, protocol.Watermark{Life: life, Seen: stated})
	a.receives(t, b, protocol.Watermark{Life: provenBy(b, b.name, life), Seen: stated})

	// The former key is removed where it is configured: the site goes on with the new one.
	only := knownAs(true)
	only.PublicKey, only.NextPublicKey = next.Public(), ""
	c.setPartners(t, only)
	c.connected(t, a, 3)
	a.connected(t, c, 3)
	// It goes back to the former key, which counts no more.
	a.mu.Lock()
	a.key = former
	a.mu.Unlock()
	a.setPartners(t, b.partner(), c.partner())
	a.connected(t, b, 3)
	c.eventually(t, "the refusal of the former key", func() bool {
		return slices.ContainsFunc(c.refusals, func(text string) bool { return strings.Contains(text, former.Public()) })
	})
}

func TestAddressesChange(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	nowhere := a.partner()
	nowhere.URL = "nats://127.0.0.1:1"
	b.start(t, "", nil, nowhere)
	b.setPartners(t, a.partner())
	a.connected(t, b, 1)
	b.connected(t, a, 1)
}

func TestExternalPartnersChange(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	a, b, added := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "alps")
	a.start(t, "", external(url), b.partner())
	b.start(t, "", external(url), a.partner())
	added.start(t, "", external(url))
	a.connected(t, b, 1)
	for round := 1; round <= 2; round++ {
		added.setPartners(t, a.partner())
		a.setPartners(t, b.partner(), added.partner())
		a.connected(t, added, round)
		added.connected(t, a, round)
		a.sends(t, added, protocol.Grant{Tag: tag})
		added.receives(t, a, protocol.Grant{Tag: tag})
		a.setPartners(t, b.partner())
		added.eventually(t, "the end of the session", func() bool { return added.bus.LinksUp("cern") == 0 })
		added.setPartners(t)
	}
	a.undisturbed(t, b)
}

// A set with a fault changes nothing.
func TestSetPartnersRefuses(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	for want, partners := range map[string][]bus.Partner{
		"duplicate name":               {b.partner(), b.partner()},
		"duplicate name or public key": {{Site: "kit", PublicKey: newSite(t, "kit").key.Public(), NextPublicKey: a.key.Public()}},
		"of this site":                 {a.partner()},
		"nats://":                      {{Site: "kit", PublicKey: newSite(t, "kit").key.Public(), URL: "kit"}},
		"partner kit":                  {{Site: "kit", PublicKey: "U"}},
		"neither can re":               {{Site: "kit", PublicKey: newSite(t, "kit").key.Public()}},
	} {
		at := a
		if want == "neither can re" {
			at = b
		}
		if err := at.bus.SetPartners(at.key, partners); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	a.sends(t, b, protocol.Accept{Tag: tag})
	b.receives(t, a, protocol.Accept{Tag: tag})
	a.undisturbed(t, b)
}

// Partners are set while others are used, and while the bus closes.
func TestPartnersChangeUnderLoad(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	others := []*site{newSite(t, "alps"), newSite(t, "kit"), newSite(t, "psi")}
	for _, other := range others {
		other.start(t, "", nil, a.partner())
	}
	var users sync.WaitGroup
	users.Go(func() {
		for range 30 {
			for i := range others {
				a.setPartners(t, b.partner(), others[i].partner(), others[(i+1)%len(others)].partner())
			}
		}
	})
	users.Go(func() {
		for i := range 500 {
			a.sends(t, b, protocol.StatusAck{Tag: tag, Seq: uint32(i)})
			_ = a.bus.Send("kit", protocol.Abort{Tag: tag}) // it may not be there
		}
	})
	users.Wait()
	b.receives(t, a, protocol.StatusAck{Tag: tag, Seq: 499})
	a.undisturbed(t, b)
	users.Go(func() {
		for range 10 {
			a.setPartners(t, b.partner())
			a.setPartners(t, b.partner(), others[0].partner())
		}
	})
	a.bus.Close()
	users.Wait()
}
