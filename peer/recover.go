package peer

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A peer whose rows are older than what somebody has seen starts nothing. It quotes nothing,
// takes no results, acknowledges nothing and reports nothing: the rows may be a copy's, and
// partners keep what they have for the peer that goes on. An operator looks (AskRecovery) and says that this store is the one that goes on
// (Recover). Then the store gets a new incarnation, above all that was seen, so that partners
// ask after what they have; job ids go on above all that may have been given out; and what
// may have run since the rows were written waits for an operator, job by job, unless the
// local scheduler or a partner still has it.

// stopStarts says that nothing is started any more until an operator decides.
func (p *Peer) stopStarts() {
	p.rows.SaveSite()
	p.logEvent(event.LogEvent{Kind: event.LogRecoveryNeeded, Site: p.cfg.Site, Text: view.Clip(p.site.Recovery + "; nothing is started until you have run: switchyard recover")})
	p.refuseEarly()
	p.dropRound()
	p.markAll()
}

// refuseEarly answers the submissions that came before the peer knew that it may take none.
func (p *Peer) refuseEarly() {
	for _, ev := range p.early {
		p.answer(ev.Asked, view.Refusal{Code: view.Unavailable, Reason: p.site.StopReason()})
	}
	p.early = nil
}

// dropRound takes the jobs out of the round that would place them.
func (p *Peer) dropRound() {
	if p.open != nil {
		p.queueAgain(p.open)
	}
}

// adopt takes a partner's word that it has a job at an epoch that these rows, which are of
// before, do not know: the lost life gave it there.
func (p *Peer) adopt(one *partner.Partner, tag protocol.Tag) {
	j := p.rows.Jobs[tag.Job]
	if j == nil || !j.MayBeAt(one.Site, tag.Epoch) {
		return
	}
	p.leaveSite(j)
	p.queue.Remove(tag.Job)
	p.timers.Stop(due.OfJob(due.JobTimer, tag.Job))
	p.moveJob(j, row.JobHandedOff)
	j.Adopt(one.Site, tag.Epoch)
	j.CountsThere = true
	one.JobsThere++
	if j.Cancelling { // its user has said so of any placement
		p.moveJob(j, row.JobRecalling)
		p.after(0, due.OfJob(due.JobTimer, tag.Job))
	}
	p.armReclaimTimer(j)
	p.rows.SaveJob(tag.Job)
	p.logEvent(event.LogEvent{Kind: event.LogJobHandedOff, Job: tag.Job, Site: one.Site, Epoch: tag.Epoch, Text: "as its site says; this store is older than that"})
}

// takeRecover answers an operator, and does what one says.
func (p *Peer) takeRecover(ev event.Recover) {
	switch {
	case !ev.Admin:
		p.answer(ev.Asked, view.Refusal{Code: view.Denied, Reason: "only root and the peer's own account may run `switchyard recover --resume`"})
		return
	case !p.site.NeedsOperator():
		p.answer(ev.Asked, view.Refusal{Code: view.BadRequest, Reason: "nothing is wrong with this store; there is nothing to recover from"})
		return
	}
	by := fmt.Sprintf("%s (uid %d)", ev.User, ev.UID)
	p.logEvent(event.LogEvent{Kind: event.LogRecovered, Site: p.cfg.Site, Text: "this store goes on, says " + by})
	p.site.Settle, p.site.SettledBy = ev.Settlement(), by
	copied := p.site.QueueMayHaveRun()
	doubts := p.site.JobsMayHaveRun()
	p.site.NewLine(p.now, p.partners.Highest())
	if doubts {
		p.markAllRestored(copied)
	}
	p.site.Recovered(copied)
	p.scheduleQueueCheck()
	p.rows.SaveSite()
	for _, id := range p.rows.JobIDs() {
		if j := p.rows.Jobs[id]; j != nil && j.OperatorReason != "" {
			p.settleJob(j)
		}
	}
	p.resumeStarts()
	p.markAll()
	p.answer(ev.Asked, p.answers().Recovery())
}

// markAllRestored takes nothing for granted that may have changed since the rows were written.
func (p *Peer) markAllRestored(copied bool) {
	p.drawAllElements()
	p.adoptRequeued()
	p.voidRequeueable() // one may have been requeued, and be running
	for _, id := range p.rows.JobIDs() {
		if j := p.rows.Jobs[id]; j != nil { // one may have ended with another
			p.markJobRestored(j)
		}
	}
	for _, id := range p.rows.GuestIDs() {
		if g := p.rows.Guests[id]; g.Phase == row.GuestPrepared {
			p.acceptRestored(g)
		}
	}
	for _, tag := range p.rows.RunTags() {
		r := p.rows.Runs[tag]
		if r.Phase == row.RunEnded {
			continue
		}
		r.Restored, r.Copied = true, copied
		p.rows.SaveRun(tag)
		p.after(p.cfg.SubmitRecheckDelay, due.OfTag(due.RunTimer, tag)) // a submission may be under way
	}
}

// acceptRestored takes a prepared guest for granted: its grant may be newer than these rows, and
// its output here, for which its origin asks. The local scheduler is asked whether it came. If it
// has not, the job may as well have been given back, so that its origin may offer it again.
func (p *Peer) acceptRestored(g *tables.Guest) {
	tag := g.Tag()
	last, aside := p.watched.Aside(tag)
	p.moveGuest(g, row.GuestAccepted)
	g.OwnershipGuessed = true
	p.timers.Stop(due.OfJob(due.GuestTimer, tag.Job))
	p.rows.SaveGuest(tag.Job)
	p.addRun(tag, owner{g.Account, g.Association}, g.Spec)
	if aside {
		p.changed(last)
	}
}

func (p *Peer) markJobRestored(j *tables.Job) {
	j.Restored, j.SkipEpochs = true, true
	p.rows.SaveJob(j.Spec.Job)
	switch j.Phase {
	case row.JobInGridQueue, row.JobOffered:
		p.requeue(j, event.LogJobRequeued, lives.RestoredReason)
	case row.JobReserving:
		p.release(j.Tag())
		p.requeue(j, event.LogJobRequeued, lives.RestoredReason)
	case row.JobGranted, row.JobHandedOff, row.JobRecalling:
		j.OwnershipPending, j.Tries = true, 0
		p.after(0, due.OfJob(due.JobTimer, j.Spec.Job))
	case row.JobStagingOut: // it is placed nowhere any more, unless it has been requeued since
		j.Restored = j.Requeueing
	case row.JobEnding:
		j.Restored = false
	case row.JobCommittedLocal:
	}
}

// leaveToOperator leaves a job that is back in the grid queue to an operator, unless the local scheduler has it after all.
func (p *Peer) leaveToOperator(j *tables.Job) {
	if p.adoptHere(j) {
		return
	}
	p.queue.Remove(j.Spec.Job)
	j.OperatorReason = lives.RestoredReason
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogNeedsOperator, Job: j.Spec.Job, Epoch: j.Epoch, Text: lives.RestoredReason + status.Remedy})
	p.settleJob(j)
}

// settleJob does with a job in doubt what an operator has said of all of them.
func (p *Peer) settleJob(j *tables.Job) {
	switch p.site.Settle {
	case row.SettleByCancel:
		p.noteCancelling(j, p.site.SettledBy)
		p.closeUnknown(j, j.OperatorReason)
	case row.SettleByRequeue:
		p.force(j, p.site.SettledBy, j.OperatorReason)
	}
}

// verify asks the local scheduler whether it still has a placement of older rows.
func (p *Peer) verify(r *localrun.Run) {
	if p.takeHeldEnd(r.Tag) {
		return
	}
	if r.Calling {
		p.after(p.cfg.SubmitRecheckDelay, due.OfTag(due.RunTimer, r.Tag))
		return
	}
	p.callFor(r, event.LookupOp{Tag: r.Tag}, verifying)
}

// verified goes on with whether the local scheduler has a run of older rows.
func (p *Peer) verified(r *localrun.Run, result event.Result, err error) {
	found, err := step.ResultAs[event.LookupResult](result, err)
	switch {
	case !r.Restored || r.Phase == row.RunEnded: // a change said more meanwhile
	case err != nil || (found.Presence != localsched.Present && found.Presence != localsched.Absent):
		p.after(p.cfg.RetryMax, due.OfTag(due.RunTimer, r.Tag))
	case found.Presence == localsched.Present && r.Copied && r.Phase != row.RunRunning:
		p.withdrawCopied(r)
	case found.Presence == localsched.Present:
		p.rows.Confirm(r)
		p.inLocalQueue(r, found.Local)
	default:
		p.lostRun(r)
	}
}

// withdrawCopied takes a placement out of a local queue that was copied: the job may have run where
// the copy was made.
func (p *Peer) withdrawCopied(r *localrun.Run) {
	p.call(event.WithdrawOp{Tag: r.Tag}, withdrawCopied{r.Tag, r.Instance})
}

// withdrawCopied takes a run out of a local queue that was copied.
type withdrawCopied struct {
	tag      protocol.Tag
	instance step.Instance
}

func (c withdrawCopied) answered(p *Peer, result event.Result, err error) {
	r := p.rows.Runs[c.tag]
	done, err := step.ResultAs[event.WithdrawResult](result, err)
	switch {
	case r == nil || r.Instance != c.instance || !r.Restored:
	case err != nil:
		p.after(p.cfg.RetryMax, due.OfTag(due.RunTimer, r.Tag))
	case done.Withdrawal == localsched.Withdrawn:
		p.lostRun(r)
	default:
		p.rows.Confirm(r)
		p.inLocalQueue(r, "")
	}
}

// scheduleQueueCheck has what waits in a local queue that was copied taken out of it, also what no row
// knows: the rows may have been copied before it came. The local scheduler says what it has in
// its first answer to the watch.
func (p *Peer) scheduleQueueCheck() {
	if p.site.TakesOut() {
		p.after(p.cfg.SubmitRecheckDelay, due.Once(due.QueueTimer))
	}
}

// queueCheckPending says whether that is not done yet.
func (p *Peer) queueCheckPending() bool {
	if p.rows.HasCopiedRun() {
		return true
	}
	if !p.site.QueueCopied {
		return false
	}
	waits := p.timers.Has(due.Once(due.QueueTimer)) || len(p.watched.Waiting()) > 0
	if !waits {
		p.site.QueueCopied = false
		p.rows.SaveSite()
	}
	return waits
}

// takeOutAside takes out what waits and no row knows. Its job is of a store that is lost.
func (p *Peer) takeOutAside() {
	for _, tag := range p.watched.Waiting() {
		p.withdrawAside(tag)
	}
}

// withdrawAside takes out one of them.
func (p *Peer) withdrawAside(tag protocol.Tag) {
	p.call(event.WithdrawOp{Tag: tag}, withdrawAside{tag})
}

// withdrawAside takes what no row knows out of the local queue.
type withdrawAside struct{ tag protocol.Tag }

func (c withdrawAside) answered(p *Peer, result event.Result, err error) {
	done, err := step.ResultAs[event.WithdrawResult](result, err)
	switch {
	case !p.watched.Waits(c.tag):
	case errors.Is(err, localsched.ErrUnknownJob):
		p.watched.Remove(c.tag)
	case err != nil:
		p.after(p.cfg.RetryMax, due.Once(due.QueueTimer))
	case done.Withdrawal == localsched.Withdrawn:
		p.watched.Remove(c.tag)
		p.forget(c.tag)
	default:
		p.watched.Put(localsched.Change{Tag: c.tag, State: protocol.Running})
	}
}

// lostRun drops a placement that the local scheduler does not have, though rows of an earlier
// time do: it may have ended, and been forgotten, or never have come.
func (p *Peer) lostRun(r *localrun.Run) {
	p.removeRun(r.Tag)
	if j := p.rows.Jobs[r.Tag.Job]; j != nil {
		p.requeueGroup(j, event.LogJobRequeued, lives.RestoredReason)
		return
	}
	if g := p.rows.Guests[r.Tag.Job]; g != nil {
		if g.ReserveFrom != 0 && g.ReservedAt == 0 {
			p.release(r.Tag) // that it was held may be newer than these rows
		}
		g.OwnershipGuessed = true       // since these rows it may have been given back as well as have ended
		p.tombstone(g, row.GuestClosed) // it proves nothing, and keeps late messages from starting it
		p.send(g.Origin, protocol.UnknownJob{Tag: r.Tag})
	}
}
