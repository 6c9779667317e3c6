package peer

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Groups that seek room at one site at the same time are in each other's way: each finds its
// instant taken by what the other holds, and asks for a later one. So of the groups of this
// origin only one at a time seeks room at a site. The others wait for the end of that, which
// is a matter of a few messages, and have another round then, whose quotes know of it. In
// cycles they would wait for the next one, so there they do not.

// awaitTurn has a group wait while another one of this origin seeks room at one of its sites;
// else it is the group's turn.
func (p *Peer) awaitTurn(key broker.GroupKey, members []placement) (waits bool) {
	if p.cfg.Initiation == policy.Cycle {
		return false
	}
	for _, one := range members {
		other, taken := p.turnAt(key, one.site)
		if !taken {
			continue
		}
		why := fmt.Sprintf("a group of application %v seeks room at %s, and this one does next", other.Application, one.site)
		for _, m := range members {
			m.job.Unplace()
			p.hold(m.job, p.jitter(min(p.cfg.Sigma, p.cfg.RetryMax)), view.ReasonGroup, why)
			p.turns.waiting = append(p.turns.waiting, m.job.Spec.Job)
		}
		return true
	}
	for _, one := range members {
		p.turns.at[one.site] = key
	}
	return false
}

// turns are the groups of this origin that seek room now.
type turns struct {
	at      map[protocol.SiteName]broker.GroupKey
	waiting []protocol.JobID // members of others, for the end of a turn
}

// turnAt is the group that seeks room at a site now.
func (p *Peer) turnAt(key broker.GroupKey, site protocol.SiteName) (other broker.GroupKey, taken bool) {
	other, taken = p.turns.at[site]
	if !taken || other == key {
		return other, false
	}
	a := p.applications[other.Application]
	if a == nil || !slices.ContainsFunc(a.jobs, func(id protocol.JobID) bool {
		j := p.jobs[id]
		return j.Together() && j.Component.Together == other.Number && j.SeeksRoom()
	}) {
		return other, false
	}
	return other, true
}

// endTurn lets others seek room where a group did.
func (p *Peer) endTurn(key broker.GroupKey) {
	ended := false
	for site, of := range p.turns.at {
		if of == key {
			delete(p.turns.at, site)
			ended = true
		}
	}
	if !ended {
		return
	}
	for _, id := range p.turns.waiting {
		p.queue.Wake(id)
	}
	p.turns.waiting = p.turns.waiting[:0]
}
