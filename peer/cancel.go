package peer

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// cancel notes the wish durably and begins to carry it out. What is terminal is
// whichever becomes durable first here, the job's own end or its recall.
func (p *Peer) cancel(ev event.Cancel) {
	j, refusal := p.jobOf(ev.Job, ev.User, ev.Admin, "cancel")
	if j == nil {
		p.answer(ev.Asked, refusal)
		return
	}
	p.answer(ev.Asked, view.Done{})
	if why := cmp.Or(p.needsOperatorReason(j), p.site.MayHaveRun(j.Phase)); why != "" {
		p.logEvent(event.LogEvent{Kind: event.LogCancelRequested, Job: ev.Job, Text: "by " + ev.User})
		p.closeUnknown(j, why)
		return
	}
	if j.Phase == row.JobStagingOut {
		p.logEvent(event.LogEvent{Kind: event.LogCancelRequested, Job: ev.Job, Text: "by " + ev.User})
		p.discard(j.Tag())
		p.endWithoutOutput(j, "cancelled by "+ev.User+" while it was on its way")
		return
	}
	if j.Phase == row.JobEnding { // its user does not want to wait
		p.logEvent(event.LogEvent{Kind: event.LogCancelRequested, Job: ev.Job, Text: "by " + ev.User})
		p.closeUnknown(j, status.UnheardReason(&j.Job))
		return
	}
	if j.Cancelling {
		return
	}
	j.Cancelling = true
	p.rows.SaveJob(ev.Job)
	p.logEvent(event.LogEvent{Kind: event.LogCancelRequested, Job: ev.Job, Text: "by " + ev.User})
	switch j.Phase {
	case row.JobInGridQueue:
		p.finish(j, protocol.Cancelled, "")
		if why := p.needsOperatorReason(j); p.rows.Jobs[ev.Job] == j && why != "" {
			p.closeUnknown(j, why)
		}
	case row.JobOffered, row.JobReserving:
		p.endOffered(j, "")
	case row.JobCommittedLocal, row.JobGranted, row.JobHandedOff, row.JobRecalling, row.JobStagingOut, row.JobEnding:
		p.recallPlacement(j, true)
	}
}

// jobOf is the open job of this site that somebody wants to do something with, or why it may
// not be done.
func (p *Peer) jobOf(id protocol.JobID, user string, admin bool, what string) (*tables.Job, view.Refusal) {
	j := p.rows.Jobs[id]
	if j == nil {
		return nil, p.noSuchJob(id)
	}
	if user != j.Spec.User && !admin {
		return nil, view.Refusal{Code: view.Denied, Reason: fmt.Sprintf(
			"job %v belongs to %s; only that user and root may %s it", id, j.Spec.User, what)}
	}
	return j, view.Refusal{}
}

func (p *Peer) noSuchJob(id protocol.JobID) view.Refusal {
	if g := p.rows.Guests[id]; g != nil {
		return view.Refusal{Code: view.Denied, Reason: fmt.Sprintf("job %v was submitted at %s; only that site decides about it", id, g.Origin)}
	}
	return view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf("job %v is not known here, or has ended", id)}
}

// discard gives up what has come of a job's output. Nobody would be told where it is.
func (p *Peer) discard(tag protocol.Tag) { p.call(event.DiscardOp{Tag: tag}, discardOutput{tag}) }

// discardOutput gives up what has come of a job's output.
type discardOutput struct{ tag protocol.Tag }

func (c discardOutput) answered(p *Peer, _ event.Result, err error) {
	if err != nil {
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: c.tag.Job, Epoch: c.tag.Epoch, Text: clip("discard: " + err.Error())})
	}
}
