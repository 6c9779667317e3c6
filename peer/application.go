package peer

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The limits of applications: a limit that is broken is reported with the reason, and components that can no
// longer keep the limits end.

// watchLimit sets the time at which an application has used up its max_time.
func (p *Peer) watchLimit(a *tables.Application) {
	if a.MaxTime != protocol.Never {
		p.timers.Set(due.OfJob(due.LimitTimer, a.ID), max(p.now, a.Deadline()))
	}
}

// limitDue looks at an application whose time is over.
func (p *Peer) limitDue(id protocol.JobID) {
	a := p.rows.Applications[id]
	if a == nil {
		return
	}
	if p.site.StopReason() != "" {
		p.after(p.cfg.RetryMax, due.OfJob(due.LimitTimer, id))
		return
	}
	p.endUnreachable(a)
}

// endUnreachable ends what has not started of an application that cannot keep its limits. What a site
// has is recalled, and ends once it is proven not to have started; what runs goes on.
func (p *Peer) endUnreachable(a *tables.Application) {
	why := p.ledger().UnreachableReason(a)
	if why == "" {
		return
	}
	for _, id := range slices.Clone(a.Jobs) {
		j := p.rows.Jobs[id]
		if j == nil || j.State != protocol.Pending || j.Restored || p.answers().NeedsOperator(j) != "" {
			continue
		}
		switch j.Phase {
		case row.JobInGridQueue:
			p.finish(j, protocol.Cancelled, why)
		case row.JobOffered, row.JobReserving:
			p.endOffered(j, why)
		case row.JobCommittedLocal, row.JobGranted, row.JobHandedOff, row.JobRecalling, row.JobStagingOut, row.JobEnding:
			p.recallPlacement(j, false)
		}
	}
}

// recallPlacement asks for a job back that a local queue has, or may have: the own one, where it is ended
// if that is said and it has started, or that of its partner. It says whether it did.
func (p *Peer) recallPlacement(j *tables.Job, end bool) bool {
	switch j.Phase {
	case row.JobCommittedLocal:
		p.withdrawRun(p.rows.Runs[j.Tag()], end)
	case row.JobGranted, row.JobHandedOff:
		p.recall(j)
	case row.JobInGridQueue, row.JobOffered, row.JobReserving, row.JobRecalling, row.JobStagingOut, row.JobEnding:
		return false
	}
	return true
}

// endOffered ends a job for which room is only being asked.
func (p *Peer) endOffered(j *tables.Job, why string) {
	held := j.ReserveFrom != 0
	p.cancelReservation(j)
	if held {
		p.recallOtherMembers(j, "")
	}
	j.Unplace() // it costs nothing
	p.finish(j, protocol.Cancelled, why)
}

// rejectPrice gives the room of a job up that its site prices above a limit.
func (p *Peer) rejectPrice(j *tables.Job, one *partner.Partner, why string) {
	p.excludeSite(j, one.Site)
	if j.ReserveFrom != 0 {
		p.releaseGroup(j, why, false)
		return
	}
	p.send(one.Site, protocol.Abort{Tag: j.Tag()})
	p.requeue(j, event.LogOfferRefused, why)
}

// takeApplication enters the application of jobs that are about to be submitted.
func (p *Peer) takeApplication(ev event.Submit) *tables.Application {
	if ev.Application == nil {
		return nil
	}
	a := &tables.Application{Application: row.Application{
		Application: *ev.Application, ID: protocol.NewJobID(p.cfg.Number, p.site.NextSeq),
		Count: len(ev.Jobs), User: ev.User, Submitted: p.now,
	}}
	p.rows.Applications[a.ID] = a
	p.rows.SaveApplication(a.ID)
	p.watchLimit(a)
	return a
}

// leaveApplication takes an ended component off its application. With its last one that is over.
func (p *Peer) leaveApplication(j *tables.Job) {
	a := j.App
	if a == nil {
		return
	}
	j.App = nil
	p.rows.SaveApplication(a.ID)
	if j.Together() {
		must(p.rows.Follow(a, j.Component.Together))
	}
	if len(a.Jobs) == 0 {
		delete(p.rows.Applications, a.ID)
		p.timers.Stop(due.OfJob(due.LimitTimer, a.ID))
		return
	}
	if p.ledger().UnreachableReason(a) != "" {
		p.after(0, due.OfJob(due.LimitTimer, a.ID))
	}
}
