package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/protocol"
)

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
	p.logEvent(event.LogEvent{Kind: event.LogMemberConflict, Site: m.Site, Text: fmt.Sprintf(
		"gossip has a site %s with number %d and key %s, and this site is %s with number %d; nothing is done about it: "+
			"ask its operator, and make a new gossip keyring if no operator knows that site",
		m.Site, m.Number, m.PublicKey, p.cfg.Site, p.cfg.Number)})
}

// claimNumber notes which number the partner's card says.
func (p *Peer) claimNumber(one *partner.Partner) {
	if p.partners.ClaimNumber(one) {
		p.rows.SavePartner(one.Site)
	}
}

// judgeCards says of each partner why no jobs can be exchanged with it, if so. One card may
// give a number up that another one waits for.
func (p *Peer) judgeCards() {
	for _, one := range p.partners.All() {
		if one.Card == nil {
			continue
		}
		p.claimNumber(one)
		if p.partners.Bar(one, p.cfg.Number) {
			p.logEventAbout(one, event.LogEvent{Kind: event.LogSiteIDConflict, Text: one.Barred})
		}
	}
}
