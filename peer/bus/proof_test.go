package bus_test

import (
	"encoding/binary"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var theLife = protocol.Life{Incarnation: 5, Boot: 3, Begun: 1_800_000_000_000, Generation: 40}

// provenBy is a life with the proof that the signer makes of it for a site, as peer.proto
// has it.
func provenBy(signer *site, of protocol.SiteName, life protocol.Life) protocol.Life {
	statement := append([]byte(of), 0)
	for _, n := range []uint64{life.Incarnation, life.Boot, uint64(life.Begun), life.Generation} {
		statement = binary.BigEndian.AppendUint64(statement, n)
	}
	life.Proof = protocol.Proof(signer.key.Sign("life", statement))
	return life
}

// claims are what a partner may say of theLife of a site without its word.
func claims(partner, of *site) map[string]protocol.Life {
	more, begun, bare := provenBy(of, of.name, theLife), provenBy(of, of.name, theLife), theLife
	more.Generation++
	begun.Begun++
	return map[string]protocol.Life{
		"no proof":                           bare,
		"the proof of an earlier generation": more,
		"the proof of another start":         begun,
		"the partner's own proof":            provenBy(partner, of.name, theLife),
		"the proof of the partner's life":    provenBy(partner, partner.name, theLife),
		"a proof of another site's name":     provenBy(of, partner.name, theLife),
	}
}

// A partner stops a site by what that site has said of itself, and by nothing else: a claim
// that is not signed by the site is dropped and counted, and the log says so once.
func TestAPartnerProvesWhatItHasSeen(t *testing.T) {
	t.Parallel()
	log := new(logged)
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.life, b.life = protocol.Life{Incarnation: 1, Boot: 1, Begun: 1, Generation: 1}, theLife
	b.start(t, loopback, log.into, a.partner())
	a.start(t, "", nil, b.partner())
	a.connected(t, b, 1)
	b.connected(t, a, 1)
	for name, claim := range claims(a, b) {
		b.mu.Lock()
		before := b.rejected[bus.BadProof]
		b.got = nil
		b.mu.Unlock()
		a.sends(t, b, protocol.Watermark{Life: a.life, Seen: claim, SeenSeq: 7, Twin: claim, Stopped: true})
		b.receives(t, a, protocol.Watermark{Life: provenBy(a, a.name, a.life), SeenSeq: 7, Stopped: true})
		b.mu.Lock()
		if counted := b.rejected[bus.BadProof] - before; counted != 2 {
			t.Errorf("%s: %d claims are counted, want 2", name, counted)
		}
		b.mu.Unlock()
	}
	if n := log.count("proof_rejected"); n != 1 {
		t.Errorf("the log says so %d times, want once", n)
	}
	a.mu.Lock()
	card := a.cards[b.name]
	stated := card.Life()
	a.mu.Unlock()
	if stated != provenBy(b, b.name, theLife) {
		t.Errorf("the card states %+v", stated)
	}
	proven := protocol.Watermark{Life: a.life, Seen: stated, Twin: stated}
	a.sends(t, b, proven)
	proven.Life = provenBy(a, a.name, a.life)
	b.receives(t, a, proven)
}

// The same holds for cards.
func TestACardProvesWhatItsSiteHasSeen(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	cases := claims(a, b)
	good := provenBy(b, b.name, theLife)
	cases["the proof"] = good
	for name, claim := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, at := &site{name: a.name, key: a.key, seen: claim}, &site{name: b.name, key: b.key}
			for _, s := range []*site{from, at} {
				s.rejected, s.cards = map[bus.Reason]int{}, map[protocol.SiteName]protocol.Card{}
			}
			at.start(t, loopback, nil, from.partner())
			from.start(t, "", nil, at.partner())
			at.connected(t, from, 1)
			at.mu.Lock()
			defer at.mu.Unlock()
			want, counted := protocol.Life{}, true
			if claim == good {
				want, counted = good, false
			}
			if got := at.cards[from.name].Seen; got != want {
				t.Errorf("of the card %+v is left, want %+v", got, want)
			}
			if (at.rejected[bus.BadProof] > 0) != counted {
				t.Errorf("counted %v", at.rejected)
			}
		})
	}
}
