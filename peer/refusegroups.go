package peer

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// refuseGroups says of which components that start together it is certain that all sites have
// never room for at one instant.
func (p *Peer) refuseGroups(jobs []protocol.Job) (view.Refusal, bool) {
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
	return view.Refusal{}, false
}

// refuseGroup goes by the site cards: the machines that can hold room, what partners take of
// this site's jobs at once, and what this site takes in a period.
func (p *Peer) refuseGroup(members []protocol.Job) (view.Refusal, bool) {
	bins, certain := p.bins()
	if !certain {
		return view.Refusal{}, false
	}
	s := broker.Seating{Rooms: bins}
	total := 0
	for i := range members {
		seats := p.seatsOf(&members[i], bins)
		s.Members = append(s.Members, seats)
		least := members[i].Spec.CPUs
		for _, one := range seats {
			least = min(least, one.Need.CPUs)
		}
		total += least
	}
	if s.Find() != nil || s.CutOff {
		return view.Refusal{}, false
	}
	refusal := view.Refusal{Code: view.NoSite, Reason: fmt.Sprintf(
		"the sites that can hold room have never enough for the %d components that start together, %d CPUs, at one instant", len(members), total)}
	for i := range bins {
		refusal.Sites = append(refusal.Sites, view.SiteRefusal{Site: bins[i].Name, Reason: bins[i].Text(p.cfg.Site)})
	}
	return refusal, true
}

// bins are the sites that can hold room. It is not certain that these are all while the card
// of a partner is not known.
func (p *Peer) bins() (bins []broker.Room, certain bool) {
	if p.cfg.Reserves {
		own := broker.Room{Site: p.here(), MaxJobs: -1}
		if p.cfg.MaxQ > 0 {
			own.MaxJobs = p.cfg.MaxQ
		}
		bins = append(bins, own)
	}
	if p.cfg.Policy.KeepsAll() {
		return bins, true
	}
	for _, one := range p.partners.All() {
		switch {
		case one.Departed:
		case one.Card == nil:
			return nil, false
		case one.Barred == "" && one.Card.Reserves:
			b := broker.Room{Site: one.AsSite(), MaxJobs: -1, MaxCPUs: one.Card.MaxCPUs}
			if one.Card.MaxJobs > 0 {
				b.MaxJobs = one.Card.MaxJobs
			}
			bins = append(bins, b)
		}
	}
	return bins, true
}

// seatsOf are the places that a member could have by the site cards, in all its shapes.
func (p *Peer) seatsOf(one *protocol.Job, bins []broker.Room) (seats []broker.Seat) {
	spec := one.Spec
	p.stateSpeed(&spec)
	own := protocol.Shape{CPUs: spec.CPUs, Nodes: spec.Nodes, WallTime: spec.WallTime}
	for row, s := range append([]protocol.Shape{own}, one.Component.Shapes...) {
		spec.CPUs, spec.Nodes, spec.WallTime = s.CPUs, s.Nodes, s.WallTime
		for i := range bins {
			if bins[i].Judge(&spec, true) == eligible.Eligible {
				need := broker.NeedOf(spec.On(bins[i].Capacity), bins[i].Capacity)
				seats = append(seats, broker.Seat{Room: i, Row: row, Need: need, Weight: int64(s.CPUs)})
			}
		}
	}
	return seats
}
