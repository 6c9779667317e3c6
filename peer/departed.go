package peer

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A partner that leaves the configuration while rows name it keeps a place among the partners:
// it has no session and is never asked, but its guests count, and its jobs say why they wait.

// keepDeparted gives a place to the sites that open jobs and guests name and the configuration
// does not.
func (p *Peer) keepDeparted() {
	for site := range p.concerned() {
		if site != p.cfg.Site && p.byName[site] == nil {
			one := newPartner(rules.Partner{Site: site})
			one.departed = true
			p.enter(one)
		}
	}
}

// concerned are the sites that open jobs and guests name.
func (p *Peer) concerned() map[protocol.SiteName]bool {
	sites := map[protocol.SiteName]bool{}
	for site := range p.partnerJobs() {
		sites[site] = true
	}
	for _, g := range p.guests {
		if g.Untold {
			sites[g.Origin] = true
		}
	}
	return sites
}

// enter gives a site its place among the partners, with what an earlier life or an earlier time
// as a partner has left of it.
func (p *Peer) enter(one *partner) {
	one.instance, one.row = p.nextInstance(), p.former[one.Site]
	delete(p.former, one.Site)
	for id, g := range p.guests {
		if g.Origin == one.Site {
			one.seenSeq = max(one.seenSeq, id.Seq())
		}
	}
	p.byName[one.Site] = one
	at, _ := slices.BinarySearchFunc(p.partners, one, func(a, b *partner) int { return cmp.Compare(a.Site, b.Site) })
	p.partners = slices.Insert(p.partners, at, one)
}

// tellDeparted says how many jobs missing partners concern.
func (p *Peer) tellDeparted(which func(*partner) bool) {
	all := p.partnerJobs()
	for _, one := range p.partners {
		if one.departed && which(one) {
			p.fact(event.Fact{Kind: event.PartnerMissing, Site: one.Site, Text: all[one.Site].Missing()})
		}
	}
}

// forgetDeparted takes their places from the missing partners that no job concerns any more.
func (p *Peer) forgetDeparted() {
	concerned := p.concerned()
	p.partners = slices.DeleteFunc(p.partners, func(one *partner) bool {
		if !one.departed || concerned[one.Site] {
			return false
		}
		delete(p.byName, one.Site)
		p.former[one.Site] = one.row
		return true
	})
}

// partnerJobs counts the jobs that concern each partner.
func (p *Peer) partnerJobs() row.PartnerCount {
	all := row.PartnerCount{}
	for _, j := range p.jobs {
		all.Add(j.Job)
	}
	for _, g := range p.guests {
		all.Add(g.Guest)
	}
	return all
}
