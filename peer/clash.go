package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Site numbers make job ids unique, so no two sites may have one number. What decides about
// that is this site's configuration, and the cards of configured partners in their own
// sessions; and all that it decides is whether jobs are exchanged with that partner. Of two
// partners with one number the one keeps it that this store knew first by it: a card cannot
// say that it is the older. What gossip says is a hint to operators.

// hintPause is the time between two hints, however many sites are seen.
const hintPause = protocol.Hour

// memberSeen warns the operator of another site that says it has this one's name or number.
func (p *Peer) memberSeen(m event.MemberSeen) {
	if m.PublicKey == p.cfg.PublicKey || (m.Site != p.cfg.Site && m.Number != p.cfg.Number) {
		return
	}
	if p.hinted != 0 && p.now.Sub(p.hinted) < hintPause {
		return
	}
	p.hinted = p.now
	p.fact(event.Fact{Kind: event.MemberClash, Site: m.Site, Text: fmt.Sprintf(
		"gossip has a site %s with number %d and key %s, and this site is %s with number %d; nothing is done about it: "+
			"ask its operator, and make a new gossip keyring if nobody knows that site",
		m.Site, m.Number, m.PublicKey, p.cfg.Site, p.cfg.Number)})
}

// claimNumber notes which number the partner's card says, if no other partner has it. A
// partner whose card says another one than before gives that up.
func (p *Peer) claimNumber(one *partner) {
	number := one.card.Number
	if one.row.Number == number {
		return
	}
	one.row.Number = 0
	if p.holderOf(number) == nil {
		one.row.Number = number
	}
	p.savePartner(one)
}

// holderOf is the configured partner that this store knew first by the number; nil: none.
func (p *Peer) holderOf(number protocol.SiteNumber) *partner {
	for _, one := range p.partners {
		if one.row.Number == number && !one.departed {
			return one
		}
	}
	return nil
}

// judgeCards says of each partner why no jobs can be exchanged with it, if so. One card may
// give a number up that another one waits for.
func (p *Peer) judgeCards() {
	for _, one := range p.partners {
		if one.card == nil {
			continue
		}
		p.claimNumber(one)
		why := p.incompatible(one)
		if why != "" && why != one.refused && why != one.doubtful() {
			p.factOf(one, event.Fact{Kind: event.NameClash, Text: why})
		}
		one.refused = why
	}
}

// incompatible says why no jobs can be exchanged with the partner; empty: they can.
func (p *Peer) incompatible(one *partner) string {
	card := one.card
	if why := one.doubtful(); why != "" {
		return why
	}
	if card.Protocol != protocol.ProtocolVersion {
		return fmt.Sprintf("speaks protocol %d, this site %d", card.Protocol, protocol.ProtocolVersion)
	}
	if card.Number == p.cfg.Number {
		return fmt.Sprintf("has site number %d, as this site has; one of the two needs another [site] number", card.Number)
	}
	if other := p.holderOf(card.Number); other != nil && other != one {
		return fmt.Sprintf("has site number %d, by which %s was known here first; one of the two needs another [site] number",
			card.Number, other.Site)
	}
	return ""
}
