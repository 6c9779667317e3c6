package peer

import (
	"iter"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// restore takes the rows in. Rounds are forgotten; resume derives the rest.
func (p *Peer) restore(rows iter.Seq2[row.Record, error]) error {
	if err := p.rows.Restore(rows, &p.cfg.Capacity); err != nil {
		return err
	}
	p.keepDeparted()
	for id, g := range p.rows.Guests {
		if one := p.partners.Of(g.Origin); one != nil {
			one.SeenSeq = max(one.SeenSeq, id.Seq())
			if g.Phase.Open() {
				g.CountAt(one, +1)
			}
		}
	}
	for _, r := range p.rows.Runs {
		p.ledger().NoteDraw(r)
	}
	return nil
}

// resume is the beginning of the first step: a new store gets its counters, and
// all that was under way is taken up again.
func (p *Peer) resume() {
	fresh := p.site.FirstStart == 0
	if fresh {
		p.site.Found(p.now)
		p.rows.SaveSite()
	}
	p.beginLife(fresh)
	if since, number, lasts := p.intake.Resume(p.now, p.site.Intake); lasts {
		p.rows.CountPrepared(since, number)
	}
	for _, id := range p.rows.JobIDs() {
		p.resumeJob(p.rows.Jobs[id])
	}
	for _, id := range p.rows.ArrayIDs() {
		p.resumeDependency(id)
		p.setArrayTimer(p.rows.Arrays[id])
	}
	for _, id := range slices.Sorted(maps.Keys(p.rows.Applications)) {
		p.watchLimit(p.rows.Applications[id])
	}
	for _, id := range p.rows.GuestIDs() {
		p.resumeGuest(p.rows.Guests[id])
	}
	for _, tag := range p.rows.RunTags() {
		p.resumeRun(p.rows.Runs[tag])
	}
	p.rows.VoidRequeueable(p.site.RequeueableAfter)
	p.forgetRequeueable()
	p.scheduleQueueCheck()
	p.logDeparted(func(*partner.Partner) bool { return true })
	p.learnLoad()
	p.watched.Cursor = p.site.Cursor
	p.watch()
	p.beginLoadChecks(p.cfg.FirstCheck)
	p.beginPrices()
	p.prioritize()
	p.awaitPlannedStarts()
	p.beginTrials()
	p.beginUseReports()
	p.after(protocol.Hour, due.Once(due.PruneTimer))
}

// learnLoad asks the local scheduler for its load, so that partners know it
// before the first change.
func (p *Peer) learnLoad() { p.call(event.QuoteOp{}, learnLoad{}) }

// learnLoad asks for the first load.
type learnLoad struct{}

func (learnLoad) answered(p *Peer, result event.Result, err error) {
	if quoted, failed := step.ResultAs[event.QuoteResult](result, err); failed == nil {
		p.setLoad(quoted.Load)
	}
}

func (p *Peer) resumeJob(j *tables.Job) {
	if j.Together() {
		p.releaseAgain(j.Tag(), j.Phase == row.JobInGridQueue)
	}
	p.resumeDependency(j.Spec.Job)
	p.setHoldTimer(j)
	p.countPlaced(j)
	switch j.Phase {
	case row.JobInGridQueue:
		if j.OperatorReason == "" {
			p.enqueue(j)
		}
	case row.JobReserving:
		p.sendForPhase(j.Spec.Job)
	case row.JobOffered, row.JobGranted, row.JobHandedOff, row.JobRecalling:
		if j.Phase != row.JobOffered {
			p.countThere(j)
		}
		j.OwnershipPending = j.Restored
		p.sendForPhase(j.Spec.Job)
		p.armReclaimTimer(j)
	case row.JobEnding:
		p.sendForPhase(j.Spec.Job)
	case row.JobStagingOut:
		p.countThere(j) // until its files are here
		p.collect(j)
	case row.JobCommittedLocal:
	}
}

// countThere adds the job to its partner's count.
func (p *Peer) countThere(j *tables.Job) {
	if one := p.partners.Of(j.Site); one != nil {
		j.CountsThere = true
		one.JobsThere++
	}
}

// releaseAgain gives up what the epoch before the present one may still hold here, and the
// present one when it is over: a crash may have come between the rows and the batch system.
func (p *Peer) releaseAgain(tag protocol.Tag, over bool) {
	for range 2 {
		if over && p.cfg.Reserves && tag.Epoch > 0 && p.rows.Runs[tag] == nil {
			p.release(tag)
		}
		tag.Epoch, over = max(tag.Epoch, 1)-1, true
	}
}

func (p *Peer) resumeGuest(g *tables.Guest) {
	p.releaseAgain(g.Tag(), g.ReserveFrom != 0 && g.Phase == row.GuestAborted)
	if g.Phase == row.GuestPrepared && g.ReserveFrom == 0 {
		p.tentatives.Add(g.Tag(), g.Since, p.host().Request(g.Origin, &g.Spec, g.Association.Account), g.Association)
	}
	p.repeatGuest(g.Spec.Job)
}

func (p *Peer) resumeRun(r *localrun.Run) {
	if r.Restored {
		p.after(p.cfg.SubmitRecheckDelay, due.OfTag(due.RunTimer, r.Tag))
	}
	p.watchStartBy(r.Tag)
	switch r.Phase {
	case row.RunSubmitting:
		if !p.rows.HasReservation(r.Tag) {
			p.tentatives.Add(r.Tag, r.Since, r.Request, r.Association)
		}
		p.after(p.cfg.SubmitRecheckDelay, due.OfTag(due.RunTimer, r.Tag))
	case row.RunQueued, row.RunRunning, row.RunEnded:
		p.reportGuest(r.Tag)
		p.continueWithdrawal(r)
	}
}

// prune deletes tombstones and submission keys that no request can refer to any more, and
// components that no user has run for long.
func (p *Peer) prune() {
	if p.site.Recovery != "" || p.now < p.keepAll {
		p.after(protocol.Hour, due.Once(due.PruneTimer))
		return
	}
	p.rows.Prune(p.now - protocol.Instant(p.cfg.TombstoneTTL))
	p.rows.SaveUse(p.rows.Fair.Prune(p.now)...)
	p.after(protocol.Hour, due.Once(due.PruneTimer))
}
