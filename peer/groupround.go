package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// review checks what the policy has decided about the groups of a round. It says whether the policy
// is to be asked again.
func (p *Peer) review(r *round, decisions []policy.Decision) (again bool) {
	rooms := func(group broker.GroupKey, site int) (broker.Room, bool) { return p.roomOf(r, group, site) }
	return r.fitting.Review(decisions, rooms, r.reconfigured != p.reconfigured)
}

// roomOf is what a site of a round has for a group; false: its machine is not known.
func (p *Peer) roomOf(r *round, group broker.GroupKey, site int) (broker.Room, bool) {
	in := &r.fitting.In
	row := &in.Sites[site]
	capacity := p.ledger().Capacity(row.Name)
	if capacity == nil {
		return broker.Room{}, false
	}
	room := broker.Room{Site: eligible.Site{Name: row.Name, Capacity: capacity}, MaxJobs: row.MaxJobs, Learned: p.rows.LearnedCrowd(group, row.Name, p.now)}
	if site == in.Self && p.cfg.MaxJobsPerCycle == 0 {
		room.MaxJobs = -1
	}
	for _, a := range r.Asks {
		if a.Partner.Site == row.Name && a.Reply != nil {
			room.MaxCPUs = a.Reply.MaxCPUs
		}
	}
	return room, true
}

// excludeReservingSite keeps a member from a site that has no room for it, or the group from having as many
// members there.
func (p *Peer) excludeReservingSite(j *tables.Job) {
	if !p.learnCrowd(j) {
		p.excludeSite(j, j.Site)
	}
}

// learnCrowd notes that a site refused a member of a group, and says whether the members there were too
// many. Fewer are asked for there for a while.
func (p *Peer) learnCrowd(j *tables.Job) (tooMany bool) {
	g, rows := p.rows.Group(j)
	return g != nil && j.App.Crowds.Refused(rows, &j.Job, func() protocol.Instant { return p.now.Add(p.dice.Jitter(p.exclusionTime())) })
}
