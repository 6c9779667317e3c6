package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// watchStartBy sets the time from which on a placement must not start any more.
func (p *Peer) watchStartBy(tag protocol.Tag) {
	if by, limited := p.rows.StartBy(tag); limited {
		p.timers.Set(due.OfTag(due.StartByTimer, tag), max(p.now, by.Add(1)))
	}
}

// startByDue withdraws a placement that has not started in time.
func (p *Peer) startByDue(tag protocol.Tag) {
	r := p.rows.Runs[tag]
	if r == nil || (r.Phase != row.RunSubmitting && r.Phase != row.RunQueued) {
		return
	}
	if p.site.StopReason() != "" {
		p.after(p.cfg.RetryMax, due.OfTag(due.StartByTimer, tag))
		return
	}
	p.missStart(r)
	p.withdrawRun(r, false)
}

// missStart says of a placement why it does not start any more.
func (p *Peer) missStart(r *localrun.Run) {
	by, _ := p.rows.StartBy(r.Tag)
	why := fmt.Sprintf("%sit has not started by %s at %s", broker.MissedStart, by.Text(), p.cfg.Site)
	if r.Returned == why {
		return
	}
	p.rows.ReturnRun(r, why)
	if p.rows.Guests[r.Tag.Job] != nil {
		p.report(r, protocol.Pending, why) // Recalled, which follows, has no words
	}
}

// neverBegan says whether the local scheduler has found only after it took a placement for running that
// it was too late for that to begin.
func (p *Peer) neverBegan(r *localrun.Run, c localsched.Change) bool {
	by, limited := p.rows.StartBy(r.Tag)
	return limited && p.now > by && c.State == protocol.Cancelled && c.Started == 0
}

// missedAtLast gives back what never began.
func (p *Peer) missedAtLast(r *localrun.Run) {
	p.moveRun(r, row.RunQueued)
	if j := p.rows.Jobs[r.Tag.Job]; j != nil {
		j.State, j.Started, j.TimeLimit = protocol.Pending, 0, 0
	}
	p.missStart(r)
	p.neverStarted(r)
	p.queueMoved()
}

// tooLate says whether a placement that is about to be submitted may not start any more. Then it
// is given back, once the local scheduler has said that it does not have it.
func (p *Peer) tooLate(r *localrun.Run) bool {
	by, limited := p.rows.StartBy(r.Tag)
	if !limited || p.now <= by {
		return false
	}
	p.missStart(r)
	r.Withdraw = true
	p.rows.SaveRun(r.Tag)
	p.after(0, due.OfTag(due.RunTimer, r.Tag))
	return true
}

// groupMissed says what becomes of a group of which a member has missed its start, and ends what
// has started of it.
func (p *Peer) groupMissed(j *tables.Job, why string) {
	p.logEvent(event.LogEvent{Kind: event.LogStartMissed, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(why)})
	g, rows := p.rows.Group(j)
	if ended := g.EndOfMissed(rows, &j.Job); ended != "" {
		p.endGroup(j, fmt.Sprintf("job %v did not start with its group, %s: %s", j.Spec.Job, ended, why))
	}
	p.partOthers(j)
}

// endGroup ends the group of a member: what comes back of it is not placed again.
func (p *Peer) endGroup(j *tables.Job, why string) {
	g, rows := p.rows.Group(j)
	if g.End(rows.App, clip(why)) {
		p.rows.SaveApplication(rows.App.ID)
		must(p.rows.Follow(j.App, g.Key.Number))
	}
}

// partOthers recalls the other members of a group that did not start together, whether they have
// started or not.
func (p *Peer) partOthers(j *tables.Job) {
	_, rows := p.rows.Group(j)
	for _, other := range p.rows.Of(rows.Others(&j.Job)) {
		p.partMember(other)
	}
}

func (p *Peer) partMember(j *tables.Job) {
	switch {
	case j.Parted || j.Cancelling || j.Restored:
	case j.Phase == row.JobInGridQueue:
		if why := p.rows.GroupEndReason(j); why != "" && p.site.StopReason() == "" { // else it may run, by what these rows do not know
			p.finish(j, protocol.Cancelled, why)
		}
	case j.Phase == row.JobRecalling:
		j.Parted = true
		p.recall(j)
	case j.Phase == row.JobCommittedLocal || j.Phase == row.JobGranted || j.Phase == row.JobHandedOff:
		j.Parted = true
		p.rows.SaveJob(j.Spec.Job)
		must(p.rows.Follow(j.App, j.Component.Together))
		p.recallPlacement(j, true)
	}
}

// rerunReason says why a job that has ended is placed again; empty: it is not.
func (p *Peer) rerunReason(j *tables.Job, outcome *protocol.Outcome) (why string) {
	after := broker.AfterRun(&j.Job, outcome, p.rows.GroupEndReason(j))
	switch {
	case after.Again != "" || j.Cancelling:
		return after.Again
	case after.Ran:
		p.ranToEnd(j)
		return ""
	case after.Ends != "":
		p.endGroup(j, after.Ends)
		p.partOthers(j)
	}
	outcome.Reason = p.rows.GroupEndReason(j)
	return ""
}

// ranToEnd notes that a member has run to its end.
func (p *Peer) ranToEnd(j *tables.Job) {
	g, rows := p.rows.Group(j)
	if g == nil {
		return
	}
	changed, ends := g.RanToEnd(rows, &j.Job)
	if changed {
		p.rows.SaveApplication(rows.App.ID)
	}
	if ends != "" {
		p.endGroup(j, ends)
		p.partOthers(j)
	}
}
