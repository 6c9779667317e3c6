package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// groupOf names the group of a job, if it has one.
func (p *Peer) groupOf(id protocol.JobID) (broker.GroupKey, bool) {
	j := p.jobs[id]
	if j == nil || !j.Together() {
		return broker.GroupKey{}, false
	}
	return broker.KeyOf(&j.Job), true
}

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
	capacity := p.capacityOf(row.Name)
	if capacity == nil {
		return broker.Room{}, false
	}
	room := broker.Room{Site: eligible.Site{Name: row.Name, Capacity: capacity}, MaxJobs: row.MaxJobs, Learned: p.learnedCrowd(group, row.Name)}
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

// learnedCrowd is how many members of a group a site takes at once, as it has shown; 0: nothing is
// known.
func (p *Peer) learnedCrowd(key broker.GroupKey, site protocol.SiteName) int {
	if a := p.applications[key.Application]; a != nil {
		return a.crowds.Max(key.Number, site, p.now)
	}
	return 0
}

// excludeReservingSite keeps a member from a site that has no room for it, or the group from having as many
// members there.
func (p *Peer) excludeReservingSite(j *job) {
	if !p.learnCrowd(j) {
		p.excludeSite(j, j.Site)
	}
}

// learnCrowd notes that a site refused a member of a group, and says whether the members there were too
// many. Fewer are asked for there for a while.
func (p *Peer) learnCrowd(j *job) (tooMany bool) {
	g, rows := p.group(j)
	return g != nil && j.application.crowds.Refused(rows, &j.Job, func() protocol.Instant { return p.now.Add(p.dice.Jitter(p.exclusionTime())) })
}
