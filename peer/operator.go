package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// An operator decides about a job that may or may not have run: it waits as NeedsOperator until it is
// cancelled, which ends it with its outcome unknown, or requeued by force, and it may run twice.

// closeUnknown ends a job of which only an operator could say what became of it.
func (p *Peer) closeUnknown(j *tables.Job, why string) {
	if j.Phase == row.JobStagingOut {
		p.discard(j.Tag())
		j.Undelivered = handoff.Undelivered(j.Outcome, j.Spec.StageOut, nil, nil)
		j.Outcome = handoff.WithOutput(j.Outcome, "its output was not fetched from "+string(j.Site))
		p.finishWith(j)
		return
	}
	p.abandon(j)
	held := j.ReserveFrom != 0
	if held {
		p.recallOtherMembers(j, "")
	}
	p.concludeUnknown(j, why)
}

// abandon ends what any site may still have of a job in doubt, without waiting for that.
func (p *Peer) abandon(j *tables.Job) {
	if r := p.rows.Runs[j.Tag()]; r != nil {
		_, ended := p.watched.HeldEnd(r.Tag)
		p.removeRun(r.Tag)
		if ended {
			p.forget(r.Tag)
		} else {
			p.endPlacement(r.Tag)
		}
	}
	for _, f := range j.Fenced {
		p.send(f.Site, protocol.Fenced{Tag: protocol.Tag{Job: j.Spec.Job, Epoch: f.Epoch}, Current: j.Epoch + 1})
	}
	if one := p.partners.Of(j.Site); one != nil && j.Epoch > 0 {
		p.send(one.Site, protocol.Fenced{Tag: j.Tag(), Current: j.Epoch + 1})
	}
}

// endPlacement has the local scheduler give a placement up that no row is about.
func (p *Peer) endPlacement(tag protocol.Tag) { p.call(event.WithdrawOp{Tag: tag}, endPlacement{tag}) }

// endPlacement takes a placement that no row is about out of the local queue.
type endPlacement struct{ tag protocol.Tag }

func (c endPlacement) answered(p *Peer, result event.Result, err error) {
	if done, failed := step.ResultAs[event.WithdrawResult](result, err); failed == nil && done.Withdrawal == localsched.Started {
		p.call(event.KillOp{Tag: c.tag}, killPlacement(c))
	}
}

// killPlacement ends one that has started. The peer does not wait for that.
type killPlacement struct{ tag protocol.Tag }

func (killPlacement) answered(*Peer, event.Result, error) {}

// requeueForced puts a job in doubt back into the grid queue, at an operator's word: it may
// run twice.
func (p *Peer) requeueForced(ev event.Requeue) {
	j, refusal := p.answers().MayChange(ev.Job, ev.User, ev.Admin, "requeue")
	if j == nil {
		p.answer(ev.Asked, refusal)
		return
	}
	why := p.answers().NeedsOperator(j)
	if refusal := p.answers().Standing(j).RequeueRefusal(why); refusal != "" {
		p.answer(ev.Asked, view.Refusal{Code: view.BadRequest, Reason: refusal})
		return
	}
	p.answer(ev.Asked, view.Done{})
	p.force(j, fmt.Sprintf("%s (uid %d)", ev.User, ev.UID), why)
}

// force puts a job in doubt back into the grid queue.
func (p *Peer) force(j *tables.Job, by, why string) {
	p.logEvent(event.LogEvent{Kind: event.LogRequeueForced, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(
		"by " + by + "; it may run twice: " + why)})
	p.abandon(j)
	j.Fence(j.OperatorReason != "")
	j.Forced = true
	if j.Restored {
		j.Restored, j.SkipEpochs = false, true
	}
	p.requeueGroup(j, event.LogJobReclaimed, "requeued by force")
}

// setAside leaves a placement that these rows do not know with the local scheduler, and says
// so once.
func (p *Peer) setAside(c localsched.Change) {
	if p.watched.Put(c) {
		p.logEvent(event.LogEvent{Kind: event.LogUnknownLocalJob, Job: c.Tag.Job, Site: p.cfg.Site, Epoch: c.Tag.Epoch, State: c.State, Text: "the local " +
			"scheduler has a job that this store does not know; it is left there, and `switchyard recover` lists it"})
	}
	if c.State == protocol.Pending {
		p.scheduleQueueCheck()
	}
	if j := p.rows.Jobs[c.Tag.Job]; j != nil && j.Restored && p.site.StopReason() == "" {
		p.adoptHere(j)
	}
}

// fencedOver takes a partner's word that a placement that was given up is over. It is no proof
// when the records that it comes from may be of another store than the one that held room;
// seen says that the partner names the end itself.
func (p *Peer) fencedOver(one *partner.Partner, tag protocol.Tag, seen bool) {
	at, ok := p.rows.FencedAt(one.Site, tag)
	if !ok {
		return
	}
	j := p.rows.Jobs[tag.Job]
	j.FencedOver(at, seen || j.Fenced[at].Holder == one.Incarnation() || !p.site.TracksLives())
	p.rows.SaveJob(tag.Job)
	if j.Phase == row.JobEnding && !j.AwaitsFenced() {
		p.endFenced(j, j.Reason)
	}
}

// endCancelled ends a job as CANCELLED once nothing of it can start any more. Until then it waits,
// and the sites that it was taken from get a message to end what they have of it.
func (p *Peer) endCancelled(j *tables.Job, reason string) {
	if !j.AwaitsFenced() {
		p.endFenced(j, reason)
		return
	}
	id := j.Spec.Job
	p.stopTimers(j)
	p.leaveSite(j)
	p.queue.Remove(id)
	p.moveJob(j, row.JobEnding)
	j.Reason = clip(reason)
	p.rows.SaveJob(id)
	p.logEvent(event.LogEvent{Kind: event.LogJobDeferred, Job: id, Epoch: j.Epoch, Text: clip(status.EndingReason(&j.Job))})
	p.sendForPhase(id)
}

// endFenced ends a job as CANCELLED of which no site has anything more to say.
func (p *Peer) endFenced(j *tables.Job, reason string) {
	if len(j.Fenced) > 0 {
		reason = joined("outcome unknown: "+status.LostRecords(j.Fenced[0].Site), reason)
	}
	p.conclude(j, protocol.Cancelled, reason)
}
