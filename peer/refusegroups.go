package peer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// refuseGroups says of which components that start together it is certain that all sites have
// never room for at one instant.
func (p *Peer) refuseGroups(jobs []NewJob) (Refusal, bool) {
	for i := range jobs {
		number := jobs[i].Component.Together
		first := slices.IndexFunc(jobs, func(one NewJob) bool { return one.Component.Together == number })
		if number == 0 || first < i {
			continue
		}
		members := slices.DeleteFunc(slices.Clone(jobs), func(one NewJob) bool { return one.Component.Together != number })
		if refusal, ok := p.refuseGroup(members); ok {
			return refusal, true
		}
	}
	return Refusal{}, false
}

// bin is what a site has for the members of a group at one instant.
type bin struct {
	site     protocol.SiteName
	capacity *protocol.Capacity
	jobs     int // that it may take; below 0: any number
	cpus     int // that are left
}

// refuseGroup goes by the site cards: the CPUs of all machines that can hold room, and what
// this site takes in a period. Partners say only when asked how many jobs they take.
func (p *Peer) refuseGroup(members []NewJob) (Refusal, bool) {
	bins, certain := p.bins()
	if !certain {
		return Refusal{}, false
	}
	least := func(one NewJob) int {
		cpus := one.Spec.CPUs
		for _, s := range one.Component.Shapes {
			cpus = min(cpus, s.CPUs)
		}
		return cpus
	}
	slices.SortStableFunc(members, func(a, b NewJob) int { return cmp.Compare(least(b), least(a)) })
	steps := mostGroupSteps
	if p.haveRoom(bins, members, &steps) {
		return Refusal{}, false
	}
	total := 0
	for _, one := range members {
		total += least(one)
	}
	refusal := Refusal{Code: NoSite, Reason: fmt.Sprintf(
		"the sites that can hold room have never enough for the %d components that start together, %d CPUs, at one instant", len(members), total)}
	for _, one := range bins {
		why := "has " + protocol.Count(one.capacity.CPUs, "CPU")
		if one.jobs >= 0 {
			why += " and takes " + protocol.Count(one.jobs, "job") + " in a period"
		}
		refusal.Sites = append(refusal.Sites, SiteNo{Site: one.site, Reason: why})
	}
	return refusal, true
}

// bins are the sites that can hold room. It is not certain that these are all while the card
// of a partner is not known.
func (p *Peer) bins() (bins []bin, certain bool) {
	if p.cfg.Reserves {
		own := bin{site: p.cfg.Site, capacity: &p.cfg.Capacity, jobs: -1, cpus: p.cfg.Capacity.CPUs}
		if p.cfg.MaxQ > 0 {
			own.jobs = p.cfg.MaxQ
		}
		bins = append(bins, own)
	}
	if p.cfg.Policy.Alone {
		return bins, true
	}
	for _, one := range p.partners {
		switch {
		case one.card == nil:
			return nil, false
		case one.refused == "" && one.card.Reserves:
			bins = append(bins, bin{site: one.Site, capacity: &one.card.Capacity, jobs: -1, cpus: one.card.Capacity.CPUs})
		}
	}
	return bins, true
}

// mostGroupSteps bounds the search for room for a group. One that was not searched to the end
// is taken to have room.
const mostGroupSteps = 10_000

// haveRoom says whether the members can be at the sites at once, each in one of its shapes.
func (p *Peer) haveRoom(bins []bin, members []NewJob, steps *int) bool {
	if *steps--; len(members) == 0 || *steps < 0 {
		return true
	}
	one := &members[0]
	for i := range bins {
		b := &bins[i]
		cpus, fits := p.leastAt(one, b)
		if !fits || cpus > b.cpus || b.jobs == 0 {
			continue
		}
		b.cpus, b.jobs = b.cpus-cpus, b.jobs-1
		found := p.haveRoom(bins, members[1:], steps)
		b.cpus, b.jobs = b.cpus+cpus, b.jobs+1
		if found {
			return true
		}
	}
	return false
}

// leastAt are the fewest CPUs on which a site can run a member.
func (p *Peer) leastAt(one *NewJob, b *bin) (cpus int, fits bool) {
	spec := one.Spec
	p.stateSpeed(&spec)
	if !spec.Allows(b.site) {
		return 0, false
	}
	own := Shape{CPUs: spec.CPUs, Nodes: spec.Nodes, WallTime: spec.WallTime}
	for _, s := range append([]Shape{own}, one.Component.Shapes...) {
		spec.CPUs, spec.Nodes, spec.WallTime = s.CPUs, s.Nodes, s.WallTime
		if b.capacity.Holds(spec.On(b.capacity)) && (!fits || s.CPUs < cpus) {
			cpus, fits = s.CPUs, true
		}
	}
	return cpus, fits
}
