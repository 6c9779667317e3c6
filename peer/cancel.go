package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// cancel makes the cancellation durable and starts it. The outcome is whichever becomes durable first: the
// job's own end or its recall.
func (p *Peer) cancel(ev event.Cancel) {
	j, refusal := p.answers().MayChange(ev.Job, ev.User, ev.Admin, "cancel")
	if j == nil {
		p.answer(ev.Asked, refusal)
		return
	}
	p.answer(ev.Asked, view.Done{})
	why := cmp.Or(p.answers().NeedsOperator(j), p.site.MayHaveRun(j.Phase))
	if why == "" && j.Cancelling && j.Phase != row.JobStagingOut && j.Phase != row.JobEnding {
		return
	}
	p.logEvent(event.LogEvent{Kind: event.LogCancelRequested, Job: ev.Job, Text: "by " + ev.User})
	switch {
	case why != "":
		p.closeUnknown(j, why)
		return
	case j.Phase == row.JobStagingOut:
		p.discard(j.Tag())
		p.endWithoutOutput(j, "cancelled by "+ev.User+" while it was on its way")
		return
	case j.Phase == row.JobEnding: // its user does not want to wait
		p.closeUnknown(j, status.UnheardReason(&j.Job))
		return
	}
	j.Cancelling = true
	p.rows.SaveJob(ev.Job)
	switch j.Phase {
	case row.JobInGridQueue:
		p.finish(j, protocol.Cancelled, "")
		if why := p.answers().NeedsOperator(j); p.rows.Jobs[ev.Job] == j && why != "" {
			p.closeUnknown(j, why)
		}
	case row.JobOffered, row.JobReserving:
		p.endOffered(j, "")
	case row.JobCommittedLocal, row.JobGranted, row.JobHandedOff, row.JobRecalling, row.JobStagingOut, row.JobEnding:
		p.recallPlacement(j, true)
	}
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
