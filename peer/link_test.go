package peer_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Why no link to a partner comes up is reported once in the log and shown with it, until one does.
func TestRefusedKeyIsShown(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	shown := func() (link, why string) {
		l.answers = nil
		l.step(event.AskSites{Asked: 1})
		sites, _ := l.answers[0].(view.Sites)
		i := slices.IndexFunc(sites.Sites, func(s view.Site) bool { return s.Site == "b" })
		return sites.Sites[i].Link, sites.Sites[i].Reason
	}
	reported := func() (n int) {
		for _, f := range l.facts {
			if f.Kind == event.LogKeyRefused && f.Site == "b" && f.Text == "its key is refused here" {
				n++
			}
		}
		return n
	}
	l.step(event.Disconnected{Site: "b"})
	if link, why := shown(); link != "down" || why != "" || reported() != 0 {
		t.Errorf("down for no known reason: %s, %q, told %d times", link, why, reported())
	}
	l.step(event.Disconnected{Site: "b", Reason: "its key is refused here"})
	l.step(event.Disconnected{Site: "nobody", Reason: "its key is refused here"})
	if link, why := shown(); link != "down" || why != "its key is refused here" || reported() != 1 {
		t.Errorf("a refused key: %s, %q, told %d times", link, why, reported())
	}
	l.step(event.Connected{Card: protocol.Card{
		Site: "b", Number: 2, Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
		Capacity: protocol.Capacity{CPUs: 8, Nodes: 8},
	}})
	if link, why := shown(); link != "up" || why != "" {
		t.Errorf("with a session: %s, %q", link, why)
	}
	l.step(event.Disconnected{Site: "b"})
	if link, why := shown(); link != "down" || why != "" {
		t.Errorf("down again: %s, %q", link, why)
	}
}
