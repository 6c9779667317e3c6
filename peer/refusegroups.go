package peer

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// refuseGroups says of which components that start together it is certain that all sites have
// never room for at one instant.
func (p *Peer) refuseGroups(jobs []protocol.Job) (Refusal, bool) {
	for i := range jobs {
		number := jobs[i].Component.Together
		first := slices.IndexFunc(jobs, func(one protocol.Job) bool { return one.Component.Together == number })
		if number == 0 || first < i {
			continue
		}
		members := slices.DeleteFunc(slices.Clone(jobs), func(one protocol.Job) bool { return one.Component.Together != number })
		if refusal, ok := p.refuseGroup(members); ok {
			return refusal, true
		}
	}
	return Refusal{}, false
}

// refuseGroup goes by the site cards: the machines that can hold room, what partners take of
// this site's jobs at once, and what this site takes in a period.
func (p *Peer) refuseGroup(members []protocol.Job) (Refusal, bool) {
	bins, certain := p.bins()
	if !certain {
		return Refusal{}, false
	}
	s := seating{bins: bins}
	total := 0
	for i := range members {
		seats := p.seatsOf(&members[i], bins)
		s.members = append(s.members, seats)
		least := members[i].Spec.CPUs
		for _, one := range seats {
			least = min(least, one.need.cpus)
		}
		total += least
	}
	if s.find() != nil || s.cutOff {
		return Refusal{}, false
	}
	refusal := Refusal{Code: NoSite, Reason: fmt.Sprintf(
		"the sites that can hold room have never enough for the %d components that start together, %d CPUs, at one instant", len(members), total)}
	for i := range bins {
		refusal.Sites = append(refusal.Sites, SiteNo{Site: bins[i].site, Reason: bins[i].text(p.cfg.Site)})
	}
	return refusal, true
}

// bins are the sites that can hold room. It is not certain that these are all while the card
// of a partner is not known.
func (p *Peer) bins() (bins []bin, certain bool) {
	if p.cfg.Reserves {
		own := bin{site: p.cfg.Site, capacity: &p.cfg.Capacity, jobs: -1}
		if p.cfg.MaxQ > 0 {
			own.jobs = p.cfg.MaxQ
		}
		bins = append(bins, own)
	}
	if p.cfg.Policy.KeepsAll() {
		return bins, true
	}
	for _, one := range p.partners {
		switch {
		case one.departed:
		case one.card == nil:
			return nil, false
		case one.refused == "" && one.card.Reserves:
			b := bin{site: one.Site, capacity: &one.card.Capacity, jobs: -1, most: one.card.MaxCPUs}
			if one.card.MaxJobs > 0 {
				b.jobs = one.card.MaxJobs
			}
			bins = append(bins, b)
		}
	}
	return bins, true
}

// heardLimits keeps what the card says no lower than what the partner takes now: its
// configuration may have changed since.
func (one *partner) heardLimits(jobs, cpus int) {
	if one.card == nil {
		return
	}
	if one.card.MaxJobs > 0 {
		one.card.MaxJobs = max(one.card.MaxJobs, jobs)
	}
	if one.card.MaxCPUs > 0 && cpus > 0 {
		one.card.MaxCPUs = max(one.card.MaxCPUs, cpus)
	}
}

// seatsOf are the places that a member could have by the site cards, in all its shapes.
func (p *Peer) seatsOf(one *protocol.Job, bins []bin) (seats []seat) {
	spec := one.Spec
	p.stateSpeed(&spec)
	own := protocol.Shape{CPUs: spec.CPUs, Nodes: spec.Nodes, WallTime: spec.WallTime}
	for row, s := range append([]protocol.Shape{own}, one.Component.Shapes...) {
		spec.CPUs, spec.Nodes, spec.WallTime = s.CPUs, s.Nodes, s.WallTime
		for i := range bins {
			if r := spec.On(bins[i].capacity); spec.Allows(bins[i].site) && bins[i].capacity.Holds(r) {
				seats = append(seats, seat{bin: i, row: row, need: needOf(r, bins[i].capacity), weight: int64(s.CPUs)})
			}
		}
	}
	return seats
}
