package bus

import (
	"encoding/binary"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A peer stops when a partner has seen more of its site than its store knows. A partner could
// claim that of any site. So each site signs its life wherever it states it, partners keep the
// signature and return it, and a claim without one is dropped here, before the peer hears it.

// prove signs a life of this site.
func (b *Bus) prove(life protocol.Life) protocol.Proof {
	if life.Boot == 0 {
		return protocol.Proof{}
	}
	return protocol.Proof(b.key().Sign(identity.Life, lifeStatement(b.cfg.Site, life)))
}

// isProven says whether the site with that public key has stated the life.
func isProven(public string, site protocol.SiteName, life protocol.Life) bool {
	return identity.Verify(public, identity.Life, lifeStatement(site, life), life.Proof[:]) == nil
}

// lifeStatement is what a proof signs. Names have no NUL and the numbers a fixed size, so it
// reads one way only.
func lifeStatement(site protocol.SiteName, life protocol.Life) []byte {
	out := append([]byte(site), 0)
	for _, n := range []uint64{life.Incarnation, life.Boot, uint64(life.Begun), life.Generation} { //nolint:gosec // any instant is signed as it is
		out = binary.BigEndian.AppendUint64(out, n)
	}
	return out
}

// proved is a message of this site's, with a proof of the life that it states.
func (b *Bus) proved(m protocol.Message) protocol.Message {
	mark, ok := m.(protocol.Watermark)
	if !ok {
		return m
	}
	mark.Life.Proof = b.prove(mark.Life)
	return mark
}

// proven is a partner's message without what it claims and cannot prove.
func (p *partner) proven(m protocol.Message) protocol.Message {
	mark, ok := m.(protocol.Watermark)
	if !ok {
		return m
	}
	mark.Life.Proof = p.checkProof(mark.Life)
	mark.Seen, mark.Twin = p.provenClaim(mark.Seen), p.provenClaim(mark.Twin)
	return mark
}

// provenCard is a partner's card without what it claims and cannot prove.
func (p *partner) provenCard(card protocol.Card) protocol.Card {
	card.Proof = p.checkProof(card.Life())
	card.Seen = p.provenClaim(card.Seen)
	return card
}

// checkProof is the proof of a life of the partner's own; none, if it is not the partner's.
func (p *partner) checkProof(life protocol.Life) protocol.Proof {
	if life.Proof == (protocol.Proof{}) {
		return life.Proof
	}
	if _, err := p.verify(identity.Life, lifeStatement(p.Site, life), life.Proof[:]); err == nil {
		return life.Proof
	}
	p.reject(reject(BadProof, "its own life (%v) is not signed by its key", life))
	return protocol.Proof{}
}

// provenClaim is what the partner says of a life of this site, if this site has said so
// itself; otherwise the partner has said nothing.
func (p *partner) provenClaim(life protocol.Life) protocol.Life {
	cfg := &p.bus.cfg
	stated := func(key string) bool { return isProven(key, cfg.Site, life) }
	if life == (protocol.Life{}) || slices.ContainsFunc(p.bus.roster.Load().own, stated) {
		return life
	}
	p.reject(reject(BadProof, "it claims %v of this site, which this site has not signed", life))
	if p.unproven.Allow() {
		cfg.Log.Warn("proof_rejected",
			"site", string(p.Site), "claim", life.String())
	}
	return protocol.Life{}
}
