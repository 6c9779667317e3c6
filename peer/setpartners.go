package peer

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// setPartners takes another set of partners. From here on the peer is as one that was started
// with it on the same rows, but that sessions with partners of which no key is removed go on.
func (p *Peer) setPartners(ev event.SetPartners) {
	cfg := p.cfg
	cfg.Partners = slices.SortedFunc(slices.Values(ev.Partners), func(a, b rules.Partner) int { return cmp.Compare(a.Site, b.Site) })
	cfg.Associations, cfg.PublicKey = ev.Associations, cmp.Or(ev.PublicKey, cfg.PublicKey)
	if err := cfg.Validate(); err != nil {
		p.answer(ev.Asked, view.Refusal{Code: view.BadRequest, Reason: err.Error()})
		return
	}
	p.cfg, p.hint = cfg, nil
	p.reconfigured++
	p.dropRound() // its quotes may be of a site that is gone
	left := map[*partner.Partner]bool{}
	for _, one := range p.partners.All() {
		at, stays := slices.BinarySearchFunc(cfg.Partners, one.Site, func(c rules.Partner, site protocol.SiteName) int { return cmp.Compare(c.Site, site) })
		switch {
		case stays:
			p.reconfigure(one, cfg.Partners[at])
		case !one.Departed:
			left[one] = true
			p.resetPartner(one)
			one.Partner, one.Departed = rules.Partner{Site: one.Site}, true
		}
	}
	p.forgetDeparted()
	p.logDeparted(func(one *partner.Partner) bool { return left[one] })
	for _, c := range cfg.Partners {
		if p.partners.Of(c.Site) == nil {
			p.enter(partner.New(c))
		}
	}
	p.judgeCards(nil) // a number may have become free
	if p.site.Listening && !p.overlapped && p.partners.AllSpoke() {
		p.endListening()
	}
	p.queue.UnparkAll(gridqueue.Any)
	p.queue.ResumeAll()
	p.queue.Unblock(gridqueue.Any)
	p.answer(ev.Asked, view.Done{})
}

// reconfigure gives a partner another configuration. Once a key of it is removed, nothing counts any more that was heard of it:
// what came by which of two keys is not kept.
func (p *Peer) reconfigure(one *partner.Partner, cfg rules.Partner) {
	if one.Departed || !one.KeepsKeys(&cfg) {
		p.resetPartner(one)
	}
	one.Partner, one.Departed = cfg, false
}

// resetPartner ends the session with a partner and forgets what was heard of it in this life. What
// the rows say of it and its jobs stays, and so does what the local scheduler is asked for it.
func (p *Peer) resetPartner(one *partner.Partner) {
	if one.Linked {
		p.disconnected(event.Disconnected{Site: one.Site})
	}
	for _, kind := range []due.Kind{due.ProbeTimer, due.PaceTimer, due.OwnershipTimer} {
		p.timers.Stop(due.OfSite(kind, one.Site))
	}
	for tag, origin := range p.impactChecks {
		if origin == one.ID() {
			p.endImpactCheck(tag)
		}
	}
	one.Again()
}

// keepDeparted gives a place to the sites that open jobs and guests name and the configuration
// does not.
func (p *Peer) keepDeparted() {
	for site := range p.rows.Concerned() {
		if site != p.cfg.Site && p.partners.Of(site) == nil {
			one := partner.New(rules.Partner{Site: site})
			one.Departed = true
			p.enter(one)
		}
	}
}

// enter gives a site its place among the partners.
func (p *Peer) enter(one *partner.Partner) {
	p.partners.Enter(one)
	one.SeenSeq = max(one.SeenSeq, p.rows.HighestSeq(one.Site))
}

// logDeparted says how many jobs missing partners concern.
func (p *Peer) logDeparted(which func(*partner.Partner) bool) {
	all := p.rows.PartnerJobs()
	for _, one := range p.partners.All() {
		if one.Departed && which(one) {
			p.logEvent(event.LogEvent{Kind: event.LogPartnerMissing, Site: one.Site, Text: all[one.Site].Missing()})
		}
	}
}

// forgetDeparted takes their places from the missing partners that no job concerns any more.
func (p *Peer) forgetDeparted() { p.partners.Depart(p.rows.Concerned()) }
