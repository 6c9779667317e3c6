package peer

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// cancel makes the cancellation durable and starts it. The outcome is whichever becomes durable first: the
// job's own end or its recall.
func (p *Peer) cancel(ev event.Cancel) {
	if a := p.rows.Arrays[ev.Job]; a != nil {
		wanted := ev.Elements
		if wanted.IsZero() {
			wanted = a.Asked.Indexes
		}
		p.cancelElements(ev, a, wanted)
		return
	}
	if a, index, ok := p.rows.ElementOf(ev.Job); ok && p.rows.Jobs[ev.Job] == nil {
		p.cancelElements(ev, a, protocol.IndexesOf(index))
		return
	}
	j, refusal := p.answers().MayChange(ev.Job, ev.User, ev.Admin, "cancel")
	r := p.answers().RunAs(ev.User, ev.Job)
	if j == nil && r == nil {
		p.answer(ev.Asked, refusal)
		return
	}
	p.answer(ev.Asked, view.Done{})
	if p.rows.Guests[ev.Job] != nil {
		p.cancelGuest(r)
		return
	}
	p.cancelJob(p.rows.Jobs[ev.Job], ev.User)
}

// cancelGuest ends a job of another site as its account here wants, for example the job itself. That is durable with its run.
// Its origin hears of it by the job's end, also of a job that has not started.
func (p *Peer) cancelGuest(r *localrun.Run) {
	if !r.Cancel(fmt.Sprintf("cancelled at %s by its account there, %s", p.cfg.Site, r.Account)) {
		return
	}
	p.logEvent(event.LogEvent{Kind: event.LogCancelRequested, Job: r.Tag.Job, Site: p.cfg.Site, Epoch: r.Tag.Epoch, Text: "by its account here, " + r.Account})
	p.rows.SaveRun(r.Tag)
	if r.Fetching {
		p.discard(r.Tag) // which ends the call
	}
	p.continueWithdrawal(r)
}

// cancelJob does so for one job.
func (p *Peer) cancelJob(j *tables.Job, user string) {
	id := j.Spec.Job
	why := cmp.Or(p.answers().NeedsOperator(j), p.site.MayHaveRun(j.Phase))
	all := p.cancelsAny(j)
	if why == "" && j.Cancelling && j.CancelsAny == all && j.Phase != row.JobStagingOut && j.Phase != row.JobEnding {
		return
	}
	p.noteCancelling(j, user)
	j.Requeueing = false
	switch {
	case why != "":
		p.closeUnknown(j, why)
		return
	case j.Phase == row.JobStagingOut:
		p.discard(j.Tag())
		p.endWithoutOutput(j, "cancelled by "+user+" while it was on its way")
		return
	case j.Phase == row.JobEnding: // its user does not want to wait
		p.closeUnknown(j, status.UnheardReason(&j.Job))
		return
	}
	j.Cancelling, j.CancelsAny = true, all
	p.rows.SaveJob(id)
	switch j.Phase {
	case row.JobInGridQueue:
		p.finish(j, protocol.Cancelled, "")
		if why := p.answers().NeedsOperator(j); p.rows.Jobs[id] == j && why != "" {
			p.closeUnknown(j, why)
		}
	case row.JobOffered, row.JobReserving:
		p.endOffered(j, "")
	case row.JobCommittedLocal, row.JobGranted, row.JobHandedOff, row.JobRecalling, row.JobStagingOut, row.JobEnding:
		p.recallPlacement(j, true)
	}
}

// cancelsAny says whether the end of a job is that of placements which its row does not know, too.
func (p *Peer) cancelsAny(j *tables.Job) bool {
	return j.CancelsAny || j.Restored || p.site.StopReason() != ""
}

// noteCancelling notes who asks for the end of a job.
func (p *Peer) noteCancelling(j *tables.Job, user string) {
	p.logEvent(event.LogEvent{Kind: event.LogCancelRequested, Job: j.Spec.Job, Text: "by " + user})
	j.CancelledBy = cmp.Or(j.CancelledBy, user)
}

// discard deletes the part of a job's output that has arrived. No user would learn where it is.
func (p *Peer) discard(tag protocol.Tag) { p.call(event.DiscardOp{Tag: tag}, discardOutput{tag}) }

// discardOutput deletes that part.
type discardOutput struct{ tag protocol.Tag }

func (c discardOutput) answered(p *Peer, _ event.Result, err error) {
	if err != nil {
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: c.tag.Job, Epoch: c.tag.Epoch, Text: clip("discard: " + err.Error())})
	}
}
