package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// countPlaced has a job count among those of its user and account that are placed, or no more.
func (p *Peer) countPlaced(j *tables.Job) {
	if j.Phase == row.JobInGridQueue {
		p.countUnplaced(j)
		return
	}
	p.rows.Fair.Place(&j.Spec)
}

// countUnplaced has a job count no more. Others that a limit keeps in the grid queue may be placed instead.
func (p *Peer) countUnplaced(j *tables.Job) {
	if p.rows.Fair.Unplace(j.Spec.Job) {
		p.queue.OpenAll()
	}
}

// withinLimits says whether the limits of their users and accounts let jobs be placed now, all of them. Otherwise they go back
// into the grid queue, and state why they wait there.
func (p *Peer) withinLimits(jobs ...*tables.Job) bool {
	specs := make([]*protocol.Spec, len(jobs))
	for i, j := range jobs {
		specs[i] = &j.Spec
	}
	reason, detail := p.rows.Fair.LimitReason(specs...)
	if reason == "" {
		return true
	}
	for _, j := range jobs {
		j.Unplace()
		p.holdByLimit(j, reason, detail)
		if len(jobs) > 1 || len(j.Shapes()) > 0 { // alone, or in its first shape, it may seem to be within them again at once
			p.requeueLater(j, reason, detail)
		} else {
			p.queue.Put(j.Spec.Job)
		}
	}
	return false
}

// holdByLimit states that a job of the grid queue waits because of a limit. It keeps its place in the queue.
func (p *Peer) holdByLimit(j *tables.Job, reason, detail string) {
	if j.Reason != reason {
		p.logEvent(event.LogEvent{Kind: event.LogJobDeferred, Job: j.Spec.Job, Text: clip(view.Detailed(reason, detail))})
	}
	p.explain(j, reason, detail)
}

// countUse counts what the run of a job of this site used, wherever that was. Its site states how long the run was; it
// cannot have begun before the job was placed there, and a partner cannot charge the user for more than the time limit.
func (p *Peer) countUse(j *tables.Job) {
	if j.Outcome == nil {
		return
	}
	end := min(j.Ended, p.now)
	since := max(end.Add(-j.Outcome.Ran), j.Spec.Submitted, j.CommittedAt)
	if j.Site != p.cfg.Site {
		since = max(since, end.Add(-j.Spec.WallTime))
	}
	p.rows.SaveUse(p.rows.Fair.Count(j.Site, p.cfg.Site, &j.Spec, since, end))
	p.useChanged()
}

// countGuestUse counts what a guest used here since its commit, in its account of this site.
func (p *Peer) countGuestUse(g *tables.Guest, r *localrun.Run) {
	end, spec := min(r.Over(), p.now), g.Spec
	spec.Account = p.rows.Fair.AccountOf(fairness.Local{Origin: g.Origin, Account: r.Association.Account, Spec: &g.Spec})
	p.rows.SaveUse(p.rows.Fair.Count(p.cfg.Site, g.Origin, &spec, max(end.Add(-r.Outcome.Ran), r.Since), end))
	p.useChanged()
}
