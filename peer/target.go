package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/hosting"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// handleOffer reserves what a partner's job needs, durably, and answers Prepared; or it answers
// Refused and keeps nothing. An offer that comes again is answered as before. With
// [rules.Protection] the local scheduler is first asked whom the job would delay.
func (p *Peer) handleOffer(one *partner.Partner, m protocol.Offer) {
	switch {
	case p.impactChecks[m.Tag()].Site != "" || !p.admitOffer(one, m):
	case p.host().Protects():
		p.checkImpact(one, m)
	default:
		p.prepare(one, m)
	}
}

// admitOffer says whether the site takes the offered job, and answers it otherwise.
func (p *Peer) admitOffer(one *partner.Partner, m protocol.Offer) bool {
	tag := m.Tag()
	if p.site.Listening {
		p.refuseFor(one, protocol.Refused{Tag: tag, Full: true, Reason: p.site.StopReason()})
		return false
	}
	if !p.identifyOffer(one, m) {
		return false
	}
	if why := cmp.Or(p.host().DeclineGuest(one, &m.Spec, m.Start != 0), hosting.MisstatedFiles(one, &m)); why != "" {
		p.refuse(one, tag, why)
		return false
	}
	if why := cmp.Or(p.intake.FullReason(p.now), one.UndoneReason(p.now)); why != "" {
		p.refuseFor(one, protocol.Refused{Tag: tag, Full: true, Reason: why})
		return false
	}
	return true
}

// identifyOffer says whether the offer is of a job of the partner that may take the place of what is
// kept of it, and answers it otherwise.
func (p *Peer) identifyOffer(one *partner.Partner, m protocol.Offer) bool {
	offered := handoff.Offered{Offer: m, From: one.Site, Card: one.Card, Number: p.cfg.Number, OwnJob: p.rows.Jobs[m.Spec.Job] != nil}
	_, offered.InQueue = p.watched.Aside(m.Tag())
	g := p.rows.Guests[m.Spec.Job]
	offered.Guest = g.Row()
	switch answer := offered.Judge(); answer.Do { //nolint:exhaustive // the replies to an offer
	case handoff.Refuse:
		p.refuse(one, m.Tag(), answer.Reason)
	case handoff.FenceAndRefuse:
		p.stopFencedGuest(g)
		p.refuse(one, m.Tag(), answer.Reason)
	case handoff.Send:
		p.reply(one, answer)
	case handoff.Replace:
		p.tombstone(g, row.GuestAborted)
		return true
	case handoff.Take:
		return true
	}
	return false
}

// reply sends the message of an answer, if it has one.
func (p *Peer) reply(one *partner.Partner, answer handoff.Answer[handoff.Reply]) {
	if answer.Send != nil {
		p.send(one.Site, answer.Send)
	}
}

// checkImpact asks the local scheduler whom the offered job would delay now; since its quote
// others may have come. The room is promised meanwhile, so that offers at the same time
// see each other, but nothing is durable yet: after a crash the origin repeats its offer.
// Each job is weighed by what it adds to those before it, so that the delays of several
// may add up.
func (p *Peer) checkImpact(one *partner.Partner, m protocol.Offer) {
	tag := m.Tag()
	query := p.host().Query()
	mapped, _ := p.host().Associate(one.Site, &m.Spec) // DeclineGuest has asked
	request := p.host().Request(one.Site, &m.Spec, mapped.Account)
	query.Add(request, mapped.Association)
	p.impactChecks[tag] = one.ID()
	p.tentatives.Add(tag, p.now, request, mapped.Association)
	p.call(event.QuoteOp{Query: query}, checkOffer{one.ID(), m})
}

// checkOffer asks whom an offered job would delay. It has the offer as it came, since a later one
// of the same tag may be another.
type checkOffer struct {
	from  partner.ID
	offer protocol.Offer
}

func (c checkOffer) answered(p *Peer, result event.Result, err error) {
	one, tag := p.partners.At(c.from), c.offer.Tag()
	if one == nil || p.impactChecks[tag] != c.from {
		return // the origin has given it up, or is no partner any more
	}
	p.endImpactCheck(tag)
	quoted, err := step.QuotesFor(1, result, err)
	if err != nil {
		p.refuse(one, tag, hosting.NoAnswer(err))
		return
	}
	p.setLoad(quoted.Load)
	if why := cmp.Or(clip(quoted.Quotes[0].Declined), quoting.DelayReason(&quoted.Quotes[0], p.cfg.Protect.Delay)); why != "" {
		p.refuse(one, tag, why)
		return
	}
	if p.admitOffer(one, c.offer) {
		p.prepare(one, c.offer)
	}
}

func (p *Peer) endImpactCheck(tag protocol.Tag) {
	delete(p.impactChecks, tag)
	p.tentatives.Drop(tag)
}

// prepare reserves what the offered job needs: the guest's row is durable BEFORE Prepared is sent.
// A restart finds the guest prepared and asks its origin for the decision.
func (p *Peer) prepare(one *partner.Partner, m protocol.Offer) {
	tag := m.Tag()
	account, _ := p.cfg.Accounts.Guest(one.Site, m.Spec.User) // DeclineGuest has asked
	mapped, _ := p.host().Associate(one.Site, &m.Spec)
	g := &tables.Guest{
		Guest: row.Guest{
			Spec: m.Spec, Origin: one.Site, Account: account, Association: mapped.Association, Epoch: m.Epoch, Phase: row.GuestPrepared, Since: p.now,
		},
		Instance: p.instances.Next(),
		Payload:  m.Payload,
	}
	p.rows.Guests[tag.Job] = g
	g.Tariff = p.host().TariffOf(one.Site, &g.Spec)
	g.CountAt(one, +1)
	g.Intake = p.countIntake()
	one.SeenSeq = max(one.SeenSeq, tag.Job.Seq())
	p.rows.SaveGuest(tag.Job)
	p.rows.SavePayload(tag.Job)
	p.logEvent(event.LogEvent{Kind: event.LogGuestPrepared, Job: tag.Job, Site: one.Site, Epoch: tag.Epoch})
	if g.ReserveFrom, g.Tolerance = m.Start, m.Tolerance; g.ReserveFrom != 0 {
		p.tentatives.Drop(tag) // the batch system holds the room
		p.reserveForGuest(g)
	} else {
		p.tentatives.Add(tag, p.now, p.host().Request(one.Site, &m.Spec, mapped.Account), mapped.Association)
		p.send(one.Site, handoff.PreparedOf(&g.Guest))
	}
	p.after(p.backoff(0), due.OfJob(due.GuestTimer, tag.Job))
}

func (p *Peer) refuse(one *partner.Partner, tag protocol.Tag, why string) {
	p.refuseFor(one, protocol.Refused{Tag: tag, Reason: why})
}

func (p *Peer) refuseFor(one *partner.Partner, m protocol.Refused) {
	p.send(one.Site, m)
	if !one.Refusals.Try(p.now, 1) {
		p.logEvent(event.LogEvent{Kind: event.LogOfferDropped, Site: one.Site, Text: m.Reason})
		return
	}
	p.logEvent(event.LogEvent{Kind: event.LogGuestRefused, Job: m.Tag.Job, Site: one.Site, Epoch: m.Tag.Epoch, Text: m.Reason})
}

// handleGrant takes the origin's decision: the job is this site's now. The rows of the guest and
// its run are durable BEFORE Accept is sent and the local scheduler is called. A grant that
// comes again is confirmed again, by the result of a job that has ended, and starts nothing.
func (p *Peer) handleGrant(one *partner.Partner, tag protocol.Tag) {
	g := p.rows.Guests[tag.Job]
	answer := handoff.OnGrant(g.Row(), one.Site, tag)
	if answer.Do == handoff.NotHere {
		p.replyUnknown(one, tag)
		return
	}
	if r := p.rows.Runs[tag]; r != nil && r.Phase == row.RunEnded && !g.Fenced {
		p.reportGuest(tag) // that it has the job would be no news of one that has ended
		return
	}
	if answer.Do != handoff.Start {
		p.reply(one, answer)
		return
	}
	p.moveGuest(g, row.GuestAccepted)
	p.timers.Stop(due.OfJob(due.GuestTimer, tag.Job))
	p.rows.SaveGuest(tag.Job)
	p.logEvent(event.LogEvent{Kind: event.LogGuestAccepted, Job: tag.Job, Site: one.Site, Epoch: tag.Epoch})
	p.reply(one, answer)
	p.startRun(tag, owner{g.Account, g.Association}, g.Spec)
}

// replyUnknown says that no row knows a job. What waits of it in the local queue is taken out
// first, so that it does not start after its origin has given it to another site, or ended it.
// The origin asks again.
func (p *Peer) replyUnknown(one *partner.Partner, tag protocol.Tag) {
	if p.watched.Waits(tag) && p.answers().OwnsAside(one.Site, tag) {
		p.withdrawAside(tag)
		return
	}
	p.send(one.Site, protocol.UnknownJob{Tag: tag})
}

// repeatGuest does what the row of a guest asks for, and sets the timer to do it again.
func (p *Peer) repeatGuest(id protocol.JobID) {
	g := p.rows.Guests[id]
	if g == nil {
		return
	}
	if p.site.Mute() {
		p.after(p.cfg.RetryMax, due.OfJob(due.GuestTimer, id))
		return
	}
	switch answer := handoff.GuestDue(&g.Guest, g.Tries); answer.Do { //nolint:exhaustive // the replies that follow from a row
	case handoff.Expire:
		p.tombstone(g, row.GuestAborted)
		return
	case handoff.ReserveGuest:
		p.reserveForGuest(g)
	case handoff.Send:
		p.send(g.Origin, answer.Send)
	default:
		return
	}
	p.after(p.backoff(g.Tries+1), due.OfJob(due.GuestTimer, id))
	g.Tries++
}

// handleAbort takes the origin's word that it did not grant and will not.
func (p *Peer) handleAbort(one *partner.Partner, tag protocol.Tag) {
	if by, ok := p.impactChecks[tag]; ok && by == one.ID() {
		p.endImpactCheck(tag)
		return
	}
	g := p.rows.Guests[tag.Job]
	switch handoff.OnAbort(g.Row(), one.Site, tag) { //nolint:exhaustive // the replies to an abort
	case handoff.Expire:
		p.tombstone(g, row.GuestAborted)
	case handoff.Forget:
		p.logEvent(event.LogEvent{Kind: event.LogGuestAborted, Job: tag.Job, Site: one.Site, Epoch: tag.Epoch})
		p.forgetGuest(g)
	}
}

// forgetGuest drops a guest that was never granted.
func (p *Peer) forgetGuest(g *tables.Guest) {
	p.dropPrepared(g)
	p.rows.RemoveGuest(g.Spec.Job)
}

// handleRecall gives the job back if it has not started; otherwise it is ended when
// the origin cancels it, and its result says what happened.
func (p *Peer) handleRecall(one *partner.Partner, m protocol.Recall) {
	g := p.rows.Guests[m.Tag.Job]
	answer := handoff.OnRecall(g.Row(), one.Site, m.Tag)
	switch answer.Do { //nolint:exhaustive // the replies to a recall
	case handoff.NotHere:
		p.replyUnknown(one, m.Tag)
	case handoff.Expire:
		p.tombstone(g, row.GuestAborted)
	case handoff.Withdraw:
		p.withdrawGuest(one, g, m)
	}
	p.reply(one, answer)
}

func (p *Peer) withdrawGuest(one *partner.Partner, g *tables.Guest, m protocol.Recall) {
	if !g.Recalled || (m.Cancel && !g.Cancel) {
		g.Recalled, g.Cancel = true, g.Cancel || m.Cancel
		p.rows.SaveGuest(m.Tag.Job)
	}
	r := p.rows.Runs[g.Tag()]
	p.withdrawRun(r, g.Cancel)
	if g.Cancel && r != nil && r.OperatorReason != "" { // the origin need not wait for an unknown outcome
		p.send(one.Site, protocol.UnknownJob{Tag: m.Tag, InDoubt: true})
	}
}

// handleFenced ends what this site still has of a job that continues at a higher epoch elsewhere,
// or has finished.
func (p *Peer) handleFenced(one *partner.Partner, m protocol.Fenced) {
	g := p.rows.Guests[m.Tag.Job]
	if g != nil && g.Origin == one.Site && g.Epoch == m.Tag.Epoch && g.Phase == row.GuestAccepted {
		p.stopFencedGuest(g)
		return
	}
	if p.answers().OwnsAside(one.Site, m.Tag) {
		p.endPlacement(m.Tag) // of a lost store; its origin does not want it any more
	}
}

// stopFencedGuest ends a guest whose job continues at a higher epoch elsewhere, or has finished.
// Fenced is made durable first, so that a restart continues to stop it. A run that has not
// ended is withdrawn, or killed if it has started; its result is not reported. A run that has
// ended is closed at once.
func (p *Peer) stopFencedGuest(g *tables.Guest) {
	if !g.Fenced {
		g.Fenced = true
		p.rows.SaveGuest(g.Spec.Job)
	}
	r := p.rows.Runs[g.Tag()]
	if r == nil || r.Phase == row.RunEnded {
		p.closeGuest(g)
		return
	}
	p.withdrawRun(r, true)
}

// handleStatusAck takes that the origin has a report. One that comes again changes nothing.
func (p *Peer) handleStatusAck(one *partner.Partner, m protocol.StatusAck) {
	g, r := p.rows.Guests[m.Tag.Job], p.rows.Runs[m.Tag]
	if g == nil || r == nil || g.Origin != one.Site || !r.Acknowledge(m.Seq) {
		return
	}
	p.rows.SaveRun(m.Tag)
	if r.Acked == r.Seq && r.Phase != row.RunEnded {
		p.timers.Stop(due.OfTag(due.ReportTimer, m.Tag))
	}
}

// handleResultAck lets the job go: the origin has its result and its files, or has
// heard that it was given back.
func (p *Peer) handleResultAck(one *partner.Partner, tag protocol.Tag) {
	g := p.rows.Guests[tag.Job]
	if g == nil || g.Origin != one.Site || g.Epoch != tag.Epoch {
		return
	}
	if g.ReturnUnacked {
		g.ReturnUnacked = false
		p.timers.Stop(due.OfJob(due.GuestTimer, tag.Job))
		p.rows.SaveGuest(tag.Job)
	}
	if g.Phase != row.GuestAccepted {
		return
	}
	if r := p.rows.Runs[tag]; r != nil && r.Phase != row.RunEnded {
		p.logEventAbout(one, event.LogEvent{Kind: event.LogUnexpectedMessage, Job: tag.Job, Text: "a result acknowledged that was not sent"})
		return
	}
	p.closeGuest(g)
}

// closeGuest drops all of a guest but its tombstone, which keeps late messages from starting it
// again. Precondition: its origin has the result, or has gone on without it.
func (p *Peer) closeGuest(g *tables.Guest) {
	tag := g.Tag()
	p.archiveGuest(g)
	p.dropRun(tag)
	p.tombstone(g, row.GuestClosed)
	p.logEvent(event.LogEvent{Kind: event.LogGuestClosed, Job: tag.Job, Site: g.Origin, Epoch: tag.Epoch})
}

// archiveGuest keeps how a guest ran and what it is charged for that. Of one that did not start
// there is nothing to keep.
func (p *Peer) archiveGuest(g *tables.Guest) {
	r := p.rows.Runs[g.Tag()]
	if r == nil || r.Phase != row.RunEnded || r.Started == 0 && r.Outcome.Bill == nil {
		return
	}
	view := p.answers().Guest(g)
	view.Reason = r.Outcome.Reason
	p.out.Records = append(p.out.Records, row.Record{Table: row.ArchiveTable, Key: row.JobKey(view.ID), Row: row.Archived{View: view}})
}

// tombstone leaves a tombstone of the guest: its epoch can never start here (again). It is kept
// for [rules.Config.TombstoneTTL]; a late offer, grant or recall is answered by it.
func (p *Peer) tombstone(g *tables.Guest, phase row.GuestPhase) {
	if phase == row.GuestAborted {
		p.logEvent(event.LogEvent{Kind: event.LogGuestAborted, Job: g.Spec.Job, Site: g.Origin, Epoch: g.Epoch})
	}
	p.dropPrepared(g)
	p.moveGuest(g, phase)
	g.Payload = nil
	if one := p.partners.Of(g.Origin); one != nil && phase == row.GuestAborted {
		one.Undone.Take(p.now, partner.UndoneCost)
	}
	p.rows.SaveGuest(g.Spec.Job)
	p.rows.SavePayload(g.Spec.Job)
}

// dropPrepared takes the guest off the books.
func (p *Peer) dropPrepared(g *tables.Guest) {
	if g.Phase == row.GuestPrepared {
		if p.intake.GiveBack(p.now, g.Intake) {
			p.saveIntake()
		}
		g.Intake = 0
		if g.ReserveFrom != 0 {
			p.release(g.Tag())
		}
	}
	p.tentatives.Drop(g.Tag())
	p.timers.Stop(due.OfJob(due.GuestTimer, g.Spec.Job))
	if one := p.partners.Of(g.Origin); one != nil {
		g.CountAt(one, -1)
	}
}
