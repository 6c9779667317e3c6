package peer

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// offer begins a hand-off at a new epoch: the partner is asked to reserve what the job needs.
// The row is durable before the Offer is sent. After a crash the offer is repeated from the row.
func (p *Peer) offer(j *tables.Job, site protocol.SiteName, awt protocol.Duration) {
	j.NextEpoch()
	p.moveJob(j, row.JobOffered)
	j.Site, j.QuotedAWT, j.Reason, j.Asked = site, new(awt), view.ReasonHandOff, p.now
	p.settlePlace(j)
	p.queue.Remove(j.Spec.Job)
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogJobOffered, Job: j.Spec.Job, Site: site, Epoch: j.Epoch})
	p.sendForPhase(j.Spec.Job)
}

// settlePlace says of a job that is offered to a partner whether it runs in place there.
func (p *Peer) settlePlace(j *tables.Job) {
	if one := p.partners.Of(j.Site); one != nil && j.SharedWith(one) {
		j.StayInPlace()
	} else {
		j.LeavePlace()
	}
}

// sendForPhase sends what the job's phase asks for, and sets the timer to send it
// again until it is answered. It is the job's outbox: nothing is sent about a hand-off
// in any other way, so a restart that finds the row sends the same message again.
// While the store may not act (StopReason) nothing is sent.
func (p *Peer) sendForPhase(id protocol.JobID) {
	j := p.rows.Jobs[id]
	if j == nil {
		return
	}
	if p.site.StopReason() != "" {
		p.after(p.cfg.RetryMax, due.OfJob(due.JobTimer, id))
		return
	}
	step, messages := handoff.Due(&j.Job, j.Tries, j.OwnershipPending)
	switch step { //nolint:exhaustive // the steps that follow from a phase
	case handoff.DecideGroup:
		p.tryGrantGroup(j)
		return
	case handoff.EndAttempts:
		p.giveUpOffer(j)
		return
	case handoff.ReserveLocally:
		p.reserveLocal(j)
	case handoff.SendOffer:
		p.send(j.Site, handoff.OfferOf(&j.Job, j.PayloadAbroad(p.cfg.ExportRemote, p.cfg.MaxStaging), j.Tolerance()))
	case handoff.SendMessages:
		for _, m := range messages {
			p.send(m.To, m.Body)
		}
	default:
		return
	}
	p.after(p.backoff(j.Tries), due.OfJob(due.JobTimer, id))
	j.Tries++
}

// giveUpOffer gives up on a site that does not answer an offer. The epoch was not
// granted, so the site can never start it: it is the tombstone.
func (p *Peer) giveUpOffer(j *tables.Job) {
	p.excludeSite(j, j.Site)
	if j.Phase == row.JobReserving {
		p.abortGroupOf(j, "the local scheduler does not answer")
		return
	}
	if one := p.partners.Of(j.Site); one != nil {
		p.markUnresponsive(one)
	}
	if j.ReserveFrom != 0 {
		p.abortGroupOf(j, string(j.Site)+" does not answer")
		return
	}
	p.send(j.Site, protocol.Abort{Tag: j.Tag()})
	p.requeue(j, event.LogJobRequeued, "no answer to the offer")
}

// handlePrepared takes a partner's word that it has what the job needs: the origin grants, durably.
// This is the point of no return.
func (p *Peer) handlePrepared(one *partner.Partner, m protocol.Prepared) {
	if p.site.StopReason() != "" {
		return
	}
	j := p.rows.At(one.Site, m.Tag)
	if j != nil && j.Phase == row.JobOffered {
		if why := p.ledger().Agree(j, m); why != "" {
			p.rejectPrice(j, one, why)
			return
		}
	}
	_, fenced := p.rows.FencedAt(one.Site, m.Tag)
	answer := handoff.OnPrepared(j.Row(), m, fenced, p.now)
	switch answer.Do { //nolint:exhaustive // the steps of a job that was offered
	case handoff.Grant:
		p.grant(j, one)
	case handoff.NoteReservation:
		p.setReserved(j, m.Start)
	case handoff.ExcludeAndAbort:
		p.excludeSite(j, one.Site)
		p.abortGroupOf(j, answer.Reason)
	case handoff.AbortGroup:
		p.abortGroupOf(j, answer.Reason)
	case handoff.SendAgain:
		j.Tries = 0
		p.sendForPhase(m.Tag.Job)
	}
	if answer.Send != nil {
		p.send(one.Site, answer.Send)
	}
}

// grant commits the hand-off: the partner gets the job. Precondition: the partner has
// answered Prepared at the present epoch. The row is durable BEFORE the Grant is sent;
// a crash before that leaves the job offered, and the partner asks for the decision.
func (p *Peer) grant(j *tables.Job, one *partner.Partner) {
	p.moveJob(j, row.JobGranted)
	j.CommittedAt = p.now
	if p.site.TracksLives() {
		j.Holder = one.Incarnation()
	}
	j.ReplacedAt(one.Site)
	j.CountsThere = true
	one.JobsThere++
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogJobGranted, Job: j.Spec.Job, Site: one.Site, Epoch: j.Epoch, Text: handoff.StartText(&j.Job)})
	p.sendForPhase(j.Spec.Job)
	p.armReclaimTimer(j)
}

// handleRefused takes a partner's refusal of an offer. It has reserved nothing, and the job is
// requeued; the partner is excluded for a while unless it is only full.
func (p *Peer) handleRefused(one *partner.Partner, m protocol.Refused) {
	j := p.rows.At(one.Site, m.Tag)
	if j == nil || j.Phase != row.JobOffered {
		return
	}
	switch {
	case j.ReserveFrom != 0 && p.learnCrowd(j):
	case !m.Full:
		p.excludeSite(j, one.Site)
		if one.JobsThere == 0 && !one.PlansNone(m.Reason) { // else its limit may have been reached by what it got of the same round
			p.recordConduct(one, row.Refused)
		}
	case p.cfg.Initiation != policy.Cycle: // else the next cycle may ask it again
		p.excludeFor(j, one.Site, min(p.cfg.CycleInterval, p.cfg.CheckInterval))
	}
	if j.ReserveFrom != 0 {
		p.abortGroupOf(j, string(one.Site)+" refused: "+m.Reason)
		return
	}
	p.requeue(j, event.LogOfferRefused, m.Reason)
}

// handleAccept takes the partner's confirmation of a grant, or that it still has the job after
// [Peer.requestOwnershipCheck]. One that comes again changes nothing.
func (p *Peer) handleAccept(one *partner.Partner, tag protocol.Tag) {
	j := p.rows.At(one.Site, tag)
	switch {
	case j == nil:
	case j.Phase == row.JobGranted:
		p.setHandedOff(j)
	case j.Phase == row.JobHandedOff && j.OwnershipPending:
		j.OwnershipPending = false
		if j.Restored {
			j.Restored = false
			p.rows.SaveJob(tag.Job)
		}
		p.timers.Stop(due.OfJob(due.JobTimer, tag.Job))
	}
}

// requestOwnershipCheck sends the Grant again for every job that was handed off to the
// partner. It runs at the first contact and whenever the partner's incarnation changes,
// because its store may have been replaced. A partner that still has the job answers
// Accept, or with its Result if it has ended. One that does not answers UnknownJob: see [Peer.handleUnknown]. It looks at each
// job, so it runs once in [rules.Config.RetryMax] at most, the last time for the last store.
func (p *Peer) requestOwnershipCheck(one *partner.Partner) {
	if one.JobsThere == 0 {
		return
	}
	again := due.OfSite(due.OwnershipTimer, one.Site)
	if next := one.Rechecks.Next(p.now, p.cfg.RetryMax); next > p.now {
		if !p.timers.Has(again) {
			p.timers.Set(again, next)
		}
		return
	}
	p.timers.Stop(again)
	for _, id := range p.rows.JobIDs() {
		if j := p.rows.Jobs[id]; j.Phase == row.JobHandedOff && j.Site == one.Site && j.OperatorReason == "" {
			j.OwnershipPending, j.Tries = true, 0
			p.sendForPhase(id)
		}
	}
}

// setHandedOff notes that the partner has accepted the job. From now on it reports on it
// (Status, Result), and this site sends nothing unless it recalls the job.
func (p *Peer) setHandedOff(j *tables.Job) {
	p.moveJob(j, row.JobHandedOff)
	p.watchStart(j)
	p.timers.Stop(due.OfJob(due.JobTimer, j.Spec.Job))
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{
		Kind: event.LogJobHandedOff, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Duration: p.now.Sub(j.Asked),
	})
}

// notStarted takes a partner's proof that the job did not start in this epoch and never
// will (PrepareExpired, Recalled), and requeues it. The proof may come again: a job that
// is not at the partner any more is left as it is.
func (p *Peer) notStarted(one *partner.Partner, tag protocol.Tag, why string) {
	p.fencedOver(one, tag, false)
	j := p.rows.At(one.Site, tag)
	if j == nil || !j.AtPartner() && j.Phase != row.JobOffered {
		return
	}
	if j.Moving == "" {
		p.excludeSite(j, one.Site)
	}
	if said, its := strings.CutPrefix(why, string(one.Site)+": "); its {
		j.Excluded.Explain(one.Site, said)
	}
	if j.Phase == row.JobHandedOff && !one.PlansNone(strings.TrimPrefix(why, string(one.Site)+": ")) {
		p.recordConduct(one, row.Returned)
	}
	j.State, j.Started = protocol.Pending, 0 // it may have seemed to run
	p.requeueGroup(j, event.LogJobRequeued, why)
}

// handleReturn takes a job back (Recalled) and acknowledges it, since the partner repeats the
// message until then. A job that a lost life of this store issued is acknowledged, too: it
// has not started and never will.
func (p *Peer) handleReturn(one *partner.Partner, tag protocol.Tag) {
	p.notStarted(one, tag, handoff.ReturnReason(p.rows.At(one.Site, tag).Row(), one.Site))
	if p.site.IssuedHere(tag.Job) || p.site.InGap(tag.Job) {
		p.send(one.Site, protocol.ResultAck{Tag: tag})
	}
}

// handleDecisionQuery answers a partner that has a reservation and knows no decision. Without
// a durable grant the hand-off did not happen, and the answer is Abort (presumed abort).
func (p *Peer) handleDecisionQuery(one *partner.Partner, tag protocol.Tag) {
	if j := p.rows.At(one.Site, tag); j != nil && j.Phase == row.JobOffered && j.ReserveFrom != 0 {
		j.Tries = 0             // it answers
		p.sendForPhase(tag.Job) // the instant that it holds room from may be unknown here
		return
	}
	p.handlePrepared(one, protocol.Prepared{Tag: tag})
}

// handleStatus takes a partner's report on a job that it has. Reports are numbered at each epoch;
// one that comes again, or late, is acknowledged and changes nothing. A report on a granted job
// also stands for the Accept that was lost. The row is durable before StatusAck is sent.
func (p *Peer) handleStatus(one *partner.Partner, m protocol.Status) {
	p.adopt(one, m.Tag)
	j := p.rows.At(one.Site, m.Tag)
	if j == nil {
		p.site.NoteUnknown(one.Site, m.Tag, p.rows.JobRow(m.Tag.Job))
		p.sendFenced(one, m.Tag)
		return
	}
	if j.Phase == row.JobGranted {
		p.setHandedOff(j)
	}
	if j.Phase != row.JobHandedOff && j.Phase != row.JobRecalling {
		return
	}
	p.send(one.Site, protocol.StatusAck{Tag: m.Tag, Seq: m.Seq})
	if m.Seq <= j.StatusSeq {
		return
	}
	began := j.TakeStatus(&m, p.now)
	p.rows.SaveJob(m.Tag.Job)
	if j.Phase == row.JobRecalling && m.State == protocol.Running && !j.EndWanted() { // too late to recall it
		p.moveJob(j, row.JobHandedOff)
		p.timers.Stop(due.OfJob(due.JobTimer, m.Tag.Job))
	}
	if began {
		p.noteStarted(j)
		p.recordStart(j)
		p.rows.Fair.Start(p.elsewhere(j), false, p.now)
		p.useChanged()
		p.logEvent(event.LogEvent{Kind: event.LogJobStarted, Job: m.Tag.Job, Site: one.Site, Epoch: m.Tag.Epoch, State: m.State})
	}
}

// sendFenced tells a site that reports on an epoch that is over to end it. Nothing
// is said about a job that this site does not remember to have had.
func (p *Peer) sendFenced(one *partner.Partner, tag protocol.Tag) {
	if p.site.Mute() {
		return
	}
	if m := handoff.FencedOf(p.rows.JobRow(tag.Job), tag, p.site.Over(tag.Job)); m != nil {
		p.send(one.Site, m)
	}
}

// handleResult takes the end of a job that a partner ran. Its output is staged out before
// ResultAck lets the partner drop it. One that comes again after that is acknowledged again.
func (p *Peer) handleResult(one *partner.Partner, m protocol.Result) {
	p.fencedOver(one, m.Tag, true)
	p.adopt(one, m.Tag)
	j := p.rows.At(one.Site, m.Tag)
	if j == nil {
		p.site.NoteUnknown(one.Site, m.Tag, p.rows.JobRow(m.Tag.Job))
		if p.rows.Jobs[m.Tag.Job] == nil && p.site.Over(m.Tag.Job) {
			p.send(one.Site, protocol.ResultAck{Tag: m.Tag}) // the acknowledgement was lost
			return
		}
		p.sendFenced(one, m.Tag)
		return
	}
	if !j.AtPartner() {
		return
	}
	judged := p.judgeEnd(j, m.Outcome.State, j.Restored)
	if judged == handoff.MayBePlacedSince { // the partner keeps it, and its output, until an operator has decided, or a later one is heard of
		p.mayRun(j, lives.RestoredReason, false)
		return
	}
	if m.Outcome.Ran > 0 || j.Started != 0 {
		p.recordStart(j)
	}
	outcome := m.Outcome
	outcome.Reason = clip(outcome.Reason)
	p.recordEnd(j, &outcome)
	if wrong := j.Bound(&outcome, one.CPUs(), p.now); wrong != "" {
		p.logEvent(event.LogEvent{Kind: event.LogUnexpectedMessage, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: "a result that cannot be, of which the possible counts: " + wrong})
	}
	j.TakeTimes(&m, p.now)
	if j.Disputed = pricing.CheckBill(&j.Job, &outcome, p.now); j.Disputed != "" { // it counts with what was agreed
		p.logEvent(event.LogEvent{Kind: event.LogBillDisputed, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(j.Disputed)})
	}
	p.ledger().CountSaved(j, &outcome)
	j.Outcome = &outcome
	if judged == handoff.PlacedSince { // then its output has come home before
		p.send(one.Site, protocol.ResultAck{Tag: m.Tag})
		p.placedSince(j, placedLater)
		return
	}
	j.Restored = false
	if why := p.rerunReason(j, &outcome); why != "" {
		p.send(one.Site, protocol.ResultAck{Tag: m.Tag})
		p.rerun(j, why)
		return
	}
	p.timers.Stop(due.OfJob(due.JobTimer, m.Tag.Job))
	p.timers.Stop(due.OfJob(due.ReclaimTimer, m.Tag.Job))
	p.moveJob(j, row.JobStagingOut)
	p.rows.SaveJob(m.Tag.Job)
	p.collect(j)
}

// recall asks a partner for a job back, which is granted to it.
func (p *Peer) recall(j *tables.Job) {
	p.moveJob(j, row.JobRecalling)
	p.rows.SaveJob(j.Spec.Job)
	p.sendForPhase(j.Spec.Job)
}

// handleUnknown is a partner's word that it has no trace of the job, or that its local scheduler cannot
// tell whether it has it: no proof that it did not start.
func (p *Peer) handleUnknown(one *partner.Partner, m protocol.UnknownJob) {
	if !m.InDoubt {
		p.fencedOver(one, m.Tag, false)
	}
	j := p.rows.At(one.Site, m.Tag)
	switch answer := handoff.OnUnknown(j.Row(), m, one.Incarnation()); answer.Do { //nolint:exhaustive // the two of a job that the partner had
	case handoff.Requeue:
		p.notStarted(one, m.Tag, answer.Reason)
	case handoff.MayHaveRun:
		p.mayRun(j, answer.Reason, !m.InDoubt)
	}
}

// mayRun goes on with a job of which its site cannot say what became of it; lost says that the site
// has no records of it.
func (p *Peer) mayRun(j *tables.Job, why string, lost bool) {
	switch answer := handoff.InDoubt(&j.Job, why, lost, p.rows.EndsUnheard(j, p.now)); answer.Do { //nolint:exhaustive // the others follow
	case handoff.CloseUnknown:
		p.closeUnknown(j, answer.Reason)
		return
	case handoff.FenceAndRequeue:
		p.fence(j, answer.Reason, lost)
		return
	}
	if j.OwnershipPending {
		j.OwnershipPending = false
		p.timers.Stop(due.OfJob(due.JobTimer, j.Spec.Job))
	}
	if j.OperatorReason != "" {
		return
	}
	j.OperatorReason = why
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogNeedsOperator, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: j.OperatorReason + status.Remedy})
	if j.Restored {
		p.settleJob(j)
	}
}

// armReclaimTimer sets the time at which a job that may run twice is taken from a
// site that is silent.
func (p *Peer) armReclaimTimer(j *tables.Job) {
	if j.Spec.Requeue && j.Reclaimable() {
		p.after(p.cfg.ReclaimAfter, due.OfJob(due.ReclaimTimer, j.Spec.Job))
	}
}

func (p *Peer) reclaim(id protocol.JobID) {
	j := p.rows.Jobs[id]
	if j == nil || !j.Reclaimable() {
		return
	}
	if p.site.StopReason() != "" {
		p.after(p.cfg.RetryMax, due.OfJob(due.ReclaimTimer, id))
		return
	}
	if one := p.partners.Of(j.Site); one != nil {
		if left := p.cfg.ReclaimAfter - one.Silence(p.now); left > 0 {
			p.after(left, due.OfJob(due.ReclaimTimer, id))
			return
		}
	}
	if p.rows.EndsUnheard(j, p.now) {
		p.after(p.cfg.ReclaimAfter, due.OfJob(due.ReclaimTimer, id))
		return
	}
	p.fence(j, "its site was not heard for "+p.cfg.ReclaimAfter.Text(), false)
}

// fence gives a job with Requeue up at its site, for another one at a higher
// epoch. What the old one still says is refused. lost says that the site has no records of it.
func (p *Peer) fence(j *tables.Job, why string, lost bool) {
	p.excludeSite(j, j.Site)
	j.Fence(lost)
	p.requeueGroup(j, event.LogJobReclaimed, why)
}
