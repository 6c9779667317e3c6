package bus_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/bus"
)

// Two sites that disagree about a key both tell whose key it is, whoever dials and whoever has
// it wrong, and both forget it once it is right.
func TestRefusedKeysAreNamedAtBothEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bothDial, servedIsWrong bool // the site that is dialled has the wrong key of the other, else the other way round
		served, dialling        []string
	}{
		"the site that is dialled has it wrong": {
			servedIsWrong: true,
			served:        []string{"desy: its key is refused here: a peer that calls itself desy shows ", "DESY", "WRONG", "[[partner]] desy"},
			dialling:      []string{"cern: it refuses this site's key, ", "DESY", "[[partner]] desy there"},
		},
		"the site that dials has it wrong": {
			served:   []string{"desy: a peer that calls itself desy refuses this site's key, ", "CERN", "[[partner]] cern there"},
			dialling: []string{"cern: its key is refused here: its server at nats://127.0.0.1:", "CERN", "WRONG", "[[partner]] cern"},
		},
		"both dial": {
			bothDial: true, servedIsWrong: true,
			served:   []string{"desy: its key is refused here: its server at nats://127.0.0.1:", "DESY", "WRONG"},
			dialling: []string{"cern: it refuses this site's key, ", "DESY"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newSite(t, "cern"), newSite(t, "desy")
			wrong := newSite(t, "kit").key.Public()
			keys := strings.NewReplacer("CERN", a.key.Public(), "DESY", b.key.Public(), "WRONG", wrong)
			// The site that is dialled is there first, and then once more with the right key.
			w := newWire(t, "")
			ofB := b.partner()
			if c.bothDial {
				ofB.URL = "nats://" + w.listener.Addr().String()
			}
			listens := ""
			if c.bothDial {
				listens = loopback
			}
			given := ofB
			if c.servedIsWrong {
				given.PublicKey = wrong
			}
			a.start(t, loopback, nil, given)
			ofA := a.partner()
			given = ofA
			if !c.servedIsWrong {
				given.PublicKey = wrong
			}
			b.start(t, listens, nil, given)
			if c.bothDial {
				w.leadTo(b.bus.ListenAddr().String())
			}
			for _, end := range []struct {
				at   *site
				want []string
			}{{a, c.served}, {b, c.dialling}} {
				end.at.eventually(t, "what is told: "+strings.Join(end.want, "…"), func() bool {
					return slices.ContainsFunc(end.at.refusals, func(reported string) bool {
						return !slices.ContainsFunc(end.want, func(part string) bool { return !strings.Contains(reported, keys.Replace(part)) })
					})
				})
				end.at.mu.Lock()
				if len(end.at.changes) > 0 {
					t.Errorf("%s: a session came up: %v", end.at.name, end.at.changes)
				}
				end.at.mu.Unlock()
			}
			address := a.bus.ListenAddr().String()
			if c.servedIsWrong {
				a.bus.Close()
				a.start(t, address, nil, ofB)
			} else {
				b.bus.Close()
				b.start(t, listens, nil, ofA)
			}
			a.connected(t, b, 1)
			b.connected(t, a, 1)
		})
	}
}

// Whoever calls itself a partner has that told a few times, however often and with however many
// keys it comes, and not at all while the partner is there.
func TestStrangersInAPartnersNameAreReportedRarely(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	const times = 20
	begun := time.Now()
	for range times {
		handshakes(t, a, newSite(t, "desy"), "127.0.0.1", 1)
	}
	a.eventually(t, "the strangers", func() bool { return a.rejected[bus.UnknownSender] == times && len(a.refusals) > 0 })
	a.mu.Lock()
	reported := len(a.refusals)
	a.mu.Unlock()
	if reported > 3+int(time.Since(begun)/time.Minute) {
		t.Errorf("%d strangers were told %d times", times, reported)
	}
	b.start(t, "", nil, a.partner())
	a.connected(t, b, 1)
	handshakes(t, a, newSite(t, "desy"), "127.0.0.1", 1)
	a.eventually(t, "one more", func() bool { return a.rejected[bus.UnknownSender] == times+1 })
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.refusals) != reported {
		t.Errorf("one was told while the partner is there: %q", a.refusals[reported:])
	}
}
