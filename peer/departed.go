package peer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// A partner that leaves the configuration while rows name it keeps a place among the partners:
// it has no session and is never asked, but its guests count, and its jobs say why they wait.

// keepDeparted gives a place to the sites that open jobs and guests name and the configuration
// does not.
func (p *Peer) keepDeparted() {
	for _, j := range p.jobs {
		if j.atPartner() || j.Phase == Offered {
			p.depart(j.Site)
		}
	}
	for _, g := range p.guests {
		if g.open() || g.Untold {
			p.depart(g.Origin)
		}
	}
}

func (p *Peer) depart(site protocol.SiteName) {
	if site == p.cfg.Site || p.byName[site] != nil {
		return
	}
	one := &partner{Partner: Partner{Site: site}, departed: true}
	p.byName[site] = one
	at, _ := slices.BinarySearchFunc(p.partners, one, func(a, b *partner) int { return cmp.Compare(a.Site, b.Site) })
	p.partners = slices.Insert(p.partners, at, one)
}

// tellDeparted says how many jobs the missing partners concern.
func (p *Peer) tellDeparted() {
	sent, here := map[protocol.SiteName]int{}, map[protocol.SiteName]int{}
	for _, j := range p.jobs {
		if one := p.byName[j.Site]; one != nil && one.departed {
			sent[j.Site]++
		}
	}
	for _, g := range p.guests {
		if p.byName[g.Origin] != nil && p.byName[g.Origin].departed && g.open() {
			here[g.Origin]++
		}
	}
	for _, site := range slices.Sorted(maps.Keys(p.byName)) {
		if p.byName[site].departed {
			p.fact(Fact{Kind: PartnerMissing, Site: site, Text: missing(sent[site], here[site])})
		}
	}
}

// missing says what a partner that is not configured leaves.
func missing(sent, here int) string {
	return fmt.Sprintf("not configured, but it has %d open jobs of this site, and %d of its jobs are here; "+
		"configure it again until they have ended, or cancel those of this site", sent, here)
}

// atPartner says whether a partner has the job, or may have it.
func (j *job) atPartner() bool {
	return j.Phase == Granted || j.Phase == Handed || j.Phase == Recalling || j.Phase == Collecting
}

// open says whether the guest is more than a tombstone.
func (g *guest) open() bool { return g.Phase == GuestIsPrepared || g.Phase == GuestIsOwned }
