package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// beginGroup has room reserved for members that a round has placed, unless another group has its turn
// at one of their sites.
func (p *Peer) beginGroup(first *tables.Job, members []broker.Place) {
	jobs := make([]*tables.Job, len(members))
	for i, one := range members {
		jobs[i] = p.rows.Jobs[one.Job.Spec.Job]
	}
	if !p.withinLimits(jobs...) {
		return
	}
	g, rows := p.rows.Group(first)
	if p.cfg.Initiation != policy.Cycle {
		if other, site, waits := p.turns.Claim(g.Key, members, p.rows.SeeksRoom); waits {
			must(g.AwaitTurn())
			why := fmt.Sprintf("a group of application %v seeks room at %s, and this one does next", other.Application, site)
			for _, j := range jobs {
				p.waitForRound(j, view.ReasonGroup, why)
			}
			return
		}
	}
	d := g.Begin(rows.App, members, p.now, p.cfg.Margin)
	if d.Do == broker.Wait {
		p.endTurn(g.Key)
		for _, j := range p.rows.Of(d.Members) {
			p.logEvent(event.LogEvent{Kind: event.LogJobDeferred, Job: j.Spec.Job, Text: view.Detailed(view.ReasonInfeasible, d.Reason)})
			p.waitForRound(j, view.ReasonInfeasible, d.Reason)
		}
		return
	}
	for i, j := range jobs {
		p.queue.Remove(j.Spec.Job)
		j.QuotedAWT, j.Reason, j.Asked = new(d.Start.Sub(p.now)), view.ReasonGroup, p.now
		j.Site = members[i].Site
	}
	p.carryOutGroup(g, d)
}

// endTurn lets other groups seek room where one did.
func (p *Peer) endTurn(key broker.GroupKey) {
	for _, id := range p.turns.End(key) {
		p.queue.Wake(id)
	}
}

// waitForRound keeps a member that a round has placed in the grid queue for another one.
func (p *Peer) waitForRound(j *tables.Job, why, detail string) {
	j.Unplace()
	p.requeueLater(j, why, detail)
}

// carryOutGroup does what a group has decided about members that seek room.
func (p *Peer) carryOutGroup(g *broker.Group, d broker.Decision) {
	for _, j := range p.rows.Of(d.Late) {
		p.excludeReservingSite(j)
	}
	switch members := p.rows.Of(d.Members); d.Do {
	case broker.Reserve:
		p.reserveFrom(g, members, d)
	case broker.Grant:
		p.grantTogether(members)
	case broker.Dissolve:
		p.requeueMembers(members, d.Reason, false)
	case broker.Nothing, broker.Wait:
	}
}

// reserveFrom has members' sites reserve room from an instant on, in new epochs, and give up what they
// have reserved before. All are noted before the first is asked, since that may break the group up at
// once.
func (p *Peer) reserveFrom(g *broker.Group, members []*tables.Job, d broker.Decision) {
	for _, j := range members {
		if j.SeeksRoom() {
			p.cancelReservation(j)
		}
	}
	for _, j := range members {
		p.noteReserving(j, d)
	}
	must(p.rows.Follow(p.rows.Applications[g.Key.Application], g.Key.Number)) // now they seek room
	for _, j := range members {
		if j.SeeksRoom() {
			p.sendForPhase(j.Spec.Job)
		}
	}
}

func (p *Peer) noteReserving(j *tables.Job, d broker.Decision) {
	j.NextEpoch()
	j.Prediction = j.Prediction.From(d.Start) // it waits for the others, and TMAX has to include that
	if j.Site == p.cfg.Site {
		p.moveJob(j, row.JobReserving)
	} else {
		p.moveJob(j, row.JobOffered)
		p.settlePlace(j)
	}
	j.ReserveFrom, j.ReservedAt = d.Start, 0
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogJobOffered, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip("to hold room from " + d.Start.Text() + " on, " + d.Reason)})
}

// reserveLocal has the own batch system hold room for a member.
func (p *Peer) reserveLocal(j *tables.Job) {
	as, err := p.ownerOf(j)
	if err != nil {
		p.abortGroupOf(j, err.Error())
		return
	}
	hold := localsched.Reservation{
		Tag: j.Tag(), Request: j.Spec.ScaledRequest(&p.cfg.Capacity), Start: j.ReserveFrom, Account: as.account, Association: as.association,
	}
	p.call(event.ReserveOp{Hold: hold}, reserveLocal{j.Tag()})
}

// reserveLocal has room held for a member, in one epoch of it.
type reserveLocal struct{ tag protocol.Tag }

func (c reserveLocal) answered(p *Peer, result event.Result, err error) {
	tag, j := c.tag, p.rows.Jobs[c.tag.Job]
	done, err := step.ResultAs[event.ReserveResult](result, err)
	switch {
	case j == nil || j.Tag() != tag || j.Phase != row.JobReserving:
		p.releaseLate(tag)
	case err != nil:
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: tag.Job, Site: p.cfg.Site, Epoch: tag.Epoch, Text: clip("reserve: " + err.Error())})
	case done.Refused != "":
		p.excludeReservingSite(j)
		p.abortGroupOf(j, "the local scheduler holds no room: "+done.Refused)
	case j.ReservedAt != 0 && j.ReservedAt != done.Start:
		p.abortGroupOf(j, "the local scheduler"+handoff.MovedReason(j.ReservedAt, done.Start))
	case j.ReservedAt == 0:
		if why := p.ledger().Agree(j, protocol.Prepared{Tag: tag, Start: done.Start, Tariff: p.host().TariffOf(p.cfg.Site, &j.Spec)}); why != "" {
			p.excludeReservingSite(j)
			p.releaseGroup(j, why, false)
			return
		}
		p.setReserved(j, done.Start)
	}
}

// setReserved notes that a member has its room.
func (p *Peer) setReserved(j *tables.Job, start protocol.Instant) {
	j.ReservedAt, j.Tries = start, 0
	p.logEvent(event.LogEvent{Kind: event.LogReserved, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: handoff.ReservedText(&j.Job), Price: pricing.HeldPrice(&j.Job)})
	p.timers.Stop(due.OfJob(due.JobTimer, j.Spec.Job))
	p.rows.SaveJob(j.Spec.Job)
	p.tryGrantGroup(j)
}

// tryGrantGroup has a group decide after every new reservation of a member. It grants all members
// in one transaction once each has a reservation with the same start, at least half of
// [rules.Config.Margin] ahead. If the starts differ, or the common one is too near, the sites are
// asked for the latest start instead; after a few attempts all members are requeued.
func (p *Peer) tryGrantGroup(j *tables.Job) {
	if p.site.StopReason() != "" { // goes on when jobs may start
		p.after(p.cfg.RetryMax, due.OfJob(due.JobTimer, j.Spec.Job))
		return
	}
	g, rows := p.rows.Group(j)
	p.carryOutGroup(g, g.Reserved(rows, p.now, p.cfg.Margin))
}

// cancelReservation tells the member's site that this epoch is over.
func (p *Peer) cancelReservation(j *tables.Job) {
	p.timers.Stop(due.OfJob(due.JobTimer, j.Spec.Job))
	if j.Phase == row.JobReserving {
		p.release(j.Tag())
		return
	}
	p.send(j.Site, protocol.Abort{Tag: j.Tag()})
}

// grantTogether grants all members, or none, in one step and so in one transaction.
//
// Invariant: either all members of a group are granted or none is. TestGrantIsAllOrNothing checks it.
func (p *Peer) grantTogether(members []*tables.Job) {
	for _, j := range members {
		if why := p.cannotGrant(j); why != "" {
			p.abortGroupOf(j, why)
			return
		}
	}
	p.endTurn(broker.KeyOf(&members[0].Job))
	for _, j := range members {
		if j.Phase == row.JobOffered {
			p.grant(j, p.partners.Of(j.Site))
			continue
		}
		as, _ := p.ownerOf(j) // cannotGrant has asked
		p.moveJob(j, row.JobCommittedLocal)
		j.CommittedAt = p.now
		p.rows.SaveJob(j.Spec.Job)
		p.logEvent(event.LogEvent{Kind: event.LogJobCommitted, Job: j.Spec.Job, Site: p.cfg.Site, Epoch: j.Epoch, Text: handoff.StartText(&j.Job)})
		p.startRun(j.Tag(), as, j.Spec)
	}
}

// cannotGrant says what has changed for a member since its room was held; empty: nothing
// that matters.
func (p *Peer) cannotGrant(j *tables.Job) string {
	if j.Phase == row.JobOffered {
		if one := p.partners.Of(j.Site); one == nil || one.Departed {
			return string(j.Site) + " is no partner any more"
		}
		return ""
	}
	if _, err := p.ownerOf(j); err != nil {
		return err.Error()
	}
	return ""
}

// abortGroupOf gives up the room of a group, because of one member.
func (p *Peer) abortGroupOf(j *tables.Job, why string) { p.releaseGroup(j, why, true) }

// releaseGroup gives up the room of a group, because of one member. Unless something has changed for that
// the members rest.
func (p *Peer) releaseGroup(j *tables.Job, why string, changed bool) {
	if g, rows := p.rows.Group(j); g != nil {
		d := g.Refused(rows, &j.Job, why)
		p.requeueMembers(p.rows.Of(d.Members), d.Reason, changed)
	}
}

// requeueMembers brings members back to the grid queue. Unless something has changed for them they
// rest there.
func (p *Peer) requeueMembers(members []*tables.Job, why string, changed bool) {
	for _, one := range members {
		p.endTurn(broker.KeyOf(&one.Job))
		p.cancelReservation(one)
	}
	for _, one := range members {
		p.requeue(one, event.LogJobRequeued, "not all that start together have room: "+why)
		if p.inQueue(one) && !changed {
			p.requeueLater(one, one.Reason, "")
		}
	}
}

// recallOtherMembers is called when a member leaves its group before the grant or comes back after it.
// The others do not start without it, if they have not. It says whether some that were
// granted are on their way back.
func (p *Peer) recallOtherMembers(j *tables.Job, why string) (coming bool) {
	g, rows := p.rows.Group(j)
	if g == nil {
		return false
	}
	others, d := p.rows.Of(rows.Others(&j.Job)), g.Without(rows, &j.Job, why)
	p.requeueMembers(p.rows.Of(d.Members), d.Reason, true)
	for _, other := range others {
		switch {
		case other.ReserveFrom == 0 || other.State == protocol.Running:
		case other.Phase == row.JobRecalling:
			coming = coming || !other.Cancelling
		default:
			coming = p.recallPlacement(other, false) || coming
		}
	}
	return coming
}

// releaseLate gives up room that came too late. The batch system may have been asked twice;
// room that the job has by the first answer stays.
func (p *Peer) releaseLate(tag protocol.Tag) {
	if p.rows.Runs[tag] != nil {
		p.releases.Settle(tag)
		return
	}
	p.release(tag)
}

// release gives up room that the own batch system holds. It is asked again while that fails;
// what it never hears of ends by itself with the time that was asked for.
func (p *Peer) release(tag protocol.Tag) {
	p.call(event.CancelReservationOp{Tag: tag}, releaseRoom{tag})
}

// releaseRoom gives up room that is held.
type releaseRoom struct{ tag protocol.Tag }

func (c releaseRoom) answered(p *Peer, _ event.Result, err error) {
	tag := c.tag
	if err == nil {
		p.releases.Settle(tag)
		return
	}
	before, again, report := p.releases.Failed(tag, err)
	if again {
		p.after(p.backoff(before), due.OfTag(due.ReleaseTimer, tag))
	}
	if report != "" {
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: tag.Job, Site: p.cfg.Site, Epoch: tag.Epoch, Text: clip(report)})
	}
}

// reserveForGuest has the own batch system hold room for a guest, and tells its origin.
func (p *Peer) reserveForGuest(g *tables.Guest) {
	hold := localsched.Reservation{Tag: g.Tag(), Request: g.Spec.ScaledRequest(&p.cfg.Capacity), Start: g.ReserveFrom, Account: g.Account, Association: g.Association}
	p.call(event.ReserveOp{Hold: hold}, reserveGuest{g.Tag(), g.Instance})
}

// reserveGuest has room held for a guest. When that is refused the guest is forgotten, and its tag
// may be offered again: the answer to a second call for the first one is not about the second.
type reserveGuest struct {
	tag      protocol.Tag
	instance step.Instance
}

func (c reserveGuest) answered(p *Peer, result event.Result, err error) {
	tag, g := c.tag, p.rows.Guests[c.tag.Job]
	done, err := step.ResultAs[event.ReserveResult](result, err)
	switch {
	case g == nil || g.Instance != c.instance || g.Phase != row.GuestPrepared:
		p.releaseLate(tag)
	case err != nil:
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: tag.Job, Site: g.Origin, Epoch: tag.Epoch, Text: clip("reserve: " + err.Error())})
	case done.Refused != "":
		p.forgetGuest(g)
		p.refuseFor(p.partners.Of(g.Origin), protocol.Refused{Tag: tag, Reason: clip("no room can be held: " + done.Refused)})
	case g.ReservedAt != 0 && g.ReservedAt != done.Start: // the origin may know the other instant
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: tag.Job, Site: g.Origin, Epoch: tag.Epoch, Text: "reserve: it" + handoff.MovedReason(g.ReservedAt, done.Start)})
		p.tombstone(g, row.GuestAborted)
		p.send(g.Origin, protocol.PrepareExpired{Tag: tag})
	default:
		g.ReservedAt, g.Tries = done.Start, 0
		p.rows.SaveGuest(tag.Job)
		p.send(g.Origin, handoff.PreparedOf(&g.Guest))
		p.after(p.backoff(0), due.OfJob(due.GuestTimer, tag.Job))
	}
}

// review checks what the policy has decided about the groups of a round. It says whether the policy
// is to be asked again.
func (p *Peer) review(r *round, decisions []policy.Decision) (again bool) {
	line := p.lineup()
	rooms := func(group broker.GroupKey, site int) (broker.Room, bool) {
		return line.Room(&r.Round, &r.fitting.In, group, site, p.cfg.MaxJobsPerCycle > 0, p.now)
	}
	return r.fitting.Review(decisions, rooms, r.reconfigured != p.reconfigured)
}

// excludeReservingSite keeps a member from a site that has no room for it, or the group from having as many
// members there.
func (p *Peer) excludeReservingSite(j *tables.Job) {
	if !p.learnCrowd(j) {
		p.excludeSite(j, j.Site)
	}
}

// learnCrowd notes that a site refused a member of a group, and says whether the members there were too
// many. Fewer are asked for there for a while.
func (p *Peer) learnCrowd(j *tables.Job) (tooMany bool) {
	g, rows := p.rows.Group(j)
	return g != nil && j.App.Crowds.Refused(rows, &j.Job, func() protocol.Instant { return p.now.Add(p.dice.Jitter(p.cfg.ExclusionTime())) })
}
