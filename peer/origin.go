package peer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// offerTries is how often an offer is repeated before the job is asked about
// elsewhere.
const offerTries = 3

// offer begins a hand-off: the partner is asked to make room.
func (p *Peer) offer(j *job, site protocol.SiteName, awt protocol.Duration) {
	j.NextEpoch()
	p.moveJob(j, row.JobOffered)
	j.Site, j.QuotedAWT, j.Reason, j.asked = site, awt, view.ReasonHandOff, p.now
	p.queue.Remove(j.Spec.Job)
	p.saveJob(j.Spec.Job)
	p.fact(event.LogEvent{Kind: event.LogJobOffered, Job: j.Spec.Job, Site: site, Epoch: j.Epoch})
	p.repeatJob(j.Spec.Job)
}

// repeatJob sends what the job's phase asks for, and sets the timer to send it
// again. It is the job's outbox.
func (p *Peer) repeatJob(id protocol.JobID) { //nolint:cyclop // one case for each phase
	j := p.jobs[id]
	if j == nil {
		return
	}
	if p.site.StopReason() != "" {
		p.after(p.cfg.RetryMax, timer{kind: jobTimer, job: id})
		return
	}
	if j.Held != 0 && (j.Phase == row.JobOffered || j.Phase == row.JobReserving) {
		p.gather(j)
		return
	}
	switch j.Phase {
	case row.JobOffered:
		if j.tries >= offerTries {
			p.withdrawOffer(j)
			return
		}
		p.send(j.Site, protocol.Offer{Spec: j.Spec, Epoch: j.Epoch, Payload: p.leaving(j), Start: j.Hold, Forced: j.Forced, Tolerance: j.toleranceOfHold()})
	case row.JobReserving:
		if j.tries >= offerTries {
			p.shun(j, p.cfg.Site)
			p.breakUp(j, "the local scheduler does not answer")
			return
		}
		p.reserveHere(j)
	case row.JobGranted:
		p.send(j.Site, protocol.Grant{Tag: j.tag()})
	case row.JobRecalling:
		p.send(j.Site, protocol.Recall{Tag: j.tag(), Cancel: j.wantedOver()})
	case row.JobHandedOff:
		if !j.doubted {
			return
		}
		p.send(j.Site, protocol.Grant{Tag: j.tag()})
	case row.JobEnding:
		p.recallFenced(j)
	case row.JobInGridQueue, row.JobCommittedLocal, row.JobStagingOut:
		return
	}
	p.after(p.backoff(j.tries), timer{kind: jobTimer, job: id})
	j.tries++
}

// withdrawOffer gives up on a partner that does not answer an offer. The epoch
// was not granted, so the partner can never start it: it is the tombstone.
func (p *Peer) withdrawOffer(j *job) {
	if one := p.partners.Of(j.Site); one != nil {
		p.fallSilent(one)
	}
	p.shun(j, j.Site)
	if j.Hold != 0 {
		p.breakUp(j, string(j.Site)+" does not answer")
		return
	}
	p.send(j.Site, protocol.Abort{Tag: j.tag()})
	p.backToQueue(j, event.LogJobRequeued, "no answer to the offer")
}

// current is the job that a partner's message is about, nil when the message is
// about an epoch that is over or a site that is not the job's.
func (p *Peer) current(from protocol.SiteName, tag protocol.Tag) *job {
	j := p.jobs[tag.Job]
	if j == nil || j.Epoch != tag.Epoch || j.Site != from || j.Phase == row.JobEnding {
		return nil
	}
	return j
}

// prepared is the partner's room: the origin grants, durably. This is the point
// of no return.
func (p *Peer) prepared(one *partner.Partner, m protocol.Prepared) { //nolint:cyclop // one case for each state of the job
	tag := m.Tag
	j := p.current(one.Site, tag)
	if j != nil && j.Phase == row.JobOffered && p.site.StopReason() == "" {
		if why := p.takeTariff(j, m); why != "" {
			p.tooDear(j, one, why)
			return
		}
	}
	switch {
	case p.site.StopReason() != "":
	case p.fencedAt(one, tag) >= 0: // a grant of it may still be on its way
		p.send(one.Site, protocol.Recall{Tag: tag, Cancel: true})
	case j == nil || j.Phase == row.JobInGridQueue || j.Phase == row.JobCommittedLocal || j.Phase == row.JobReserving:
		p.send(one.Site, protocol.Abort{Tag: tag})
	case j.Phase == row.JobOffered && j.Hold != 0 && (m.Start < j.Hold || m.Start > p.now.Add(maxReserveAhead)):
		p.shun(j, one.Site)
		p.breakUp(j, fmt.Sprintf("%s would hold room from %s on, and was asked for %s, or up to %s from now",
			one.Site, m.Start.Text(), j.Hold.Text(), maxReserveAhead.Text()))
	case j.Phase == row.JobOffered && j.Hold != 0:
		switch {
		case j.Held == 0:
			p.setReserved(j, m.Start)
		case j.Held != m.Start:
			p.breakUp(j, string(one.Site)+movedRoom(j.Held, m.Start))
		}
	case j.Phase == row.JobOffered:
		p.grant(j, one)
	case j.Phase == row.JobGranted || j.Phase == row.JobRecalling:
		j.tries = 0
		p.repeatJob(tag.Job)
	}
}

// grant gives a job to the partner, durably.
func (p *Peer) grant(j *job, one *partner.Partner) {
	p.moveJob(j, row.JobGranted)
	j.Placed = p.now
	if p.site.TellsApart() {
		j.Holder = one.Incarnation()
	}
	j.ReplacedAt(one.Site)
	j.countsThere = true
	one.JobsThere++
	p.saveJob(j.Spec.Job)
	p.fact(event.LogEvent{Kind: event.LogJobGranted, Job: j.Spec.Job, Site: one.Site, Epoch: j.Epoch, Text: agreed(j)})
	p.repeatJob(j.Spec.Job)
	p.watchReclaim(j)
}

func (p *Peer) refused(one *partner.Partner, m protocol.Refused) {
	j := p.current(one.Site, m.Tag)
	if j == nil || j.Phase != row.JobOffered {
		return
	}
	switch {
	case j.Hold != 0 && p.learnCrowd(j):
	case !m.Full:
		p.shun(j, one.Site)
		if one.JobsThere == 0 { // else its limit may have been reached by what it got of the same round
			p.judge(one, row.Refused)
		}
	case p.cfg.Initiation != policy.Cycle: // else the next cycle may ask it again
		p.shunFor(j, one.Site, min(p.cfg.Cycle, p.cfg.Sigma))
	}
	if j.Hold != 0 {
		p.breakUp(j, string(one.Site)+" refused: "+m.Reason)
		return
	}
	p.backToQueue(j, event.LogOfferRefused, m.Reason)
}

func (p *Peer) accepted(one *partner.Partner, tag protocol.Tag) {
	j := p.current(one.Site, tag)
	switch {
	case j == nil:
	case j.Phase == row.JobGranted:
		p.handed(j)
	case j.Phase == row.JobHandedOff && j.doubted:
		j.doubted = false
		if j.Restored {
			j.Restored = false
			p.saveJob(tag.Job)
		}
		p.timers.Stop(timer{kind: jobTimer, job: tag.Job})
	}
}

// doubt asks a partner whose store may be another one than before whether it
// still has what was handed to it: the grant again, which it accepts again. That takes a look
// at each job, so a partner that has ever new stores is asked every [rules.Config.RetryMax] at most,
// the last time about the last one.
func (p *Peer) doubt(one *partner.Partner) {
	if one.JobsThere == 0 {
		return
	}
	again := timer{kind: doubtTimer, site: one.Site}
	if next := one.Rechecks.Next(p.now, p.cfg.RetryMax); next > p.now {
		if !p.timers.Has(again) {
			p.timers.Set(again, next)
		}
		return
	}
	p.timers.Stop(again)
	for _, id := range slices.Sorted(maps.Keys(p.jobs)) {
		if j := p.jobs[id]; j.Phase == row.JobHandedOff && j.Site == one.Site && j.Stuck == "" {
			j.doubted, j.tries = true, 0
			p.repeatJob(id)
		}
	}
}

// handed notes that the partner owns the job.
func (p *Peer) handed(j *job) {
	p.moveJob(j, row.JobHandedOff)
	p.watchStart(j)
	p.timers.Stop(timer{kind: jobTimer, job: j.Spec.Job})
	p.saveJob(j.Spec.Job)
	p.fact(event.LogEvent{
		Kind: event.LogJobHandedOff, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Duration: p.now.Sub(j.asked),
	})
}

// notStarted is the partner's proof that the job did not start in this epoch and
// never will (Aborted, Recalled).
func (p *Peer) notStarted(one *partner.Partner, tag protocol.Tag, why string) {
	p.fencedOver(one, tag, false)
	j := p.current(one.Site, tag)
	if j == nil {
		return
	}
	switch j.Phase {
	case row.JobOffered, row.JobGranted, row.JobHandedOff, row.JobRecalling:
		p.shun(j, one.Site)
		if j.Phase == row.JobHandedOff {
			p.judge(one, row.Returned)
		}
		j.State, j.Started = protocol.Pending, 0 // it may have seemed to run
		p.comeBack(j, event.LogJobRequeued, why)
	case row.JobInGridQueue, row.JobReserving, row.JobCommittedLocal, row.JobStagingOut, row.JobEnding:
	}
}

// gaveBack takes a job back, and says so: the partner repeats it until it hears. That holds for
// a job of a lost life, too, which has not started and never will.
func (p *Peer) gaveBack(one *partner.Partner, tag protocol.Tag) {
	why := "its site gave it back"
	if j := p.current(one.Site, tag); j != nil && (strings.HasPrefix(j.Reason, refusedByScheduler) || strings.HasPrefix(j.Reason, broker.MissedStart)) {
		why = string(one.Site) + ": " + j.Reason
	}
	p.notStarted(one, tag, why)
	if p.site.IssuedHere(tag.Job) || p.site.InGap(tag.Job) {
		p.send(one.Site, protocol.ResultAck{Tag: tag})
	}
}

// decisionAsked answers a partner that holds room and has not heard of a
// decision: presumed abort.
func (p *Peer) decisionAsked(one *partner.Partner, tag protocol.Tag) {
	if j := p.current(one.Site, tag); j != nil && j.Phase == row.JobOffered && j.Hold != 0 {
		j.tries = 0          // it answers
		p.repeatJob(tag.Job) // the instant that it holds room from may be unknown here
		return
	}
	p.prepared(one, protocol.Prepared{Tag: tag})
}

// status takes what the owner says about the job.
func (p *Peer) status(one *partner.Partner, m protocol.Status) {
	p.adopt(one, m.Tag)
	j := p.current(one.Site, m.Tag)
	if j == nil {
		p.site.NoteUnknown(one.Site, m.Tag, p.rowOfJob(m.Tag.Job))
		p.fenceOff(one, m.Tag)
		return
	}
	if j.Phase == row.JobGranted {
		p.handed(j)
	}
	if j.Phase != row.JobHandedOff && j.Phase != row.JobRecalling {
		return
	}
	p.send(one.Site, protocol.StatusAck{Tag: m.Tag, Seq: m.Seq})
	if m.Seq <= j.StatusSeq {
		return
	}
	was := j.State
	j.StatusSeq, j.State, j.Reason, j.Stuck, j.Restored = m.Seq, m.State, clip(m.Reason), "", false
	if m.State == protocol.Running && j.Started == 0 {
		j.Started = p.within(j, p.now.Add(-m.Ran))
	}
	p.noteOffset(j, m.At)
	p.saveJob(m.Tag.Job)
	if was != m.State && m.State == protocol.Running {
		p.startedAt(j)
		p.fact(event.LogEvent{Kind: event.LogJobStarted, Job: m.Tag.Job, Site: one.Site, Epoch: m.Tag.Epoch, State: m.State})
	}
}

// fenceOff tells a site that reports on an epoch that is over to end it. Nothing
// is said about a job that this site does not remember to have had.
func (p *Peer) fenceOff(one *partner.Partner, tag protocol.Tag) {
	j := p.jobs[tag.Job]
	switch {
	case p.site.Mute() || (j != nil && j.Restored): // the lost life may have given it there
	case j != nil && j.Epoch >= tag.Epoch: // not current: the same epoch is over, too
		p.send(one.Site, protocol.Fenced{Tag: tag, Current: max(j.Epoch, tag.Epoch+1)})
	case j == nil && (p.site.IssuedHere(tag.Job) || p.site.GivenUp(tag.Job)):
		p.send(one.Site, protocol.Fenced{Tag: tag, Current: tag.Epoch + 1})
	}
}

// result takes the job's end. Its files are collected before the site that ran it
// may drop them.
func (p *Peer) result(one *partner.Partner, m protocol.Result) {
	p.fencedOver(one, m.Tag, true)
	p.adopt(one, m.Tag)
	j := p.current(one.Site, m.Tag)
	if j == nil {
		p.site.NoteUnknown(one.Site, m.Tag, p.rowOfJob(m.Tag.Job))
		if p.jobs[m.Tag.Job] == nil && (p.site.IssuedHere(m.Tag.Job) || p.site.GivenUp(m.Tag.Job)) {
			p.send(one.Site, protocol.ResultAck{Tag: m.Tag}) // the acknowledgement was lost
			return
		}
		p.fenceOff(one, m.Tag)
		return
	}
	if j.Phase != row.JobGranted && j.Phase != row.JobHandedOff && j.Phase != row.JobRecalling {
		return
	}
	if m.Outcome.Ran > 0 || j.Started != 0 {
		p.startedAt(j)
	}
	p.endedThere(j, &m.Outcome)
	outcome := m.Outcome
	outcome.Reason = clip(outcome.Reason)
	p.timesThere(j, &m)
	p.checkBill(j, &outcome)
	p.noteSaved(j, &outcome)
	j.Outcome = &outcome
	if why := p.again(j, &outcome); why != "" {
		p.send(one.Site, protocol.ResultAck{Tag: m.Tag})
		p.spend(j)
		j.Outcome, j.Ended = nil, 0
		j.Reruns++
		p.backToQueue(j, event.LogJobReclaimed, why)
		return
	}
	p.timers.Stop(timer{kind: jobTimer, job: m.Tag.Job})
	p.timers.Stop(timer{kind: reclaimTimer, job: m.Tag.Job})
	p.moveJob(j, row.JobStagingOut)
	p.saveJob(m.Tag.Job)
	p.collect(j)
}

// recall asks a partner for a job back, which is granted to it.
func (p *Peer) recall(j *job) {
	p.moveJob(j, row.JobRecalling)
	p.saveJob(j.Spec.Job)
	p.repeatJob(j.Spec.Job)
}

// lostTrack is a partner's word that it has no trace of the job, or that its local scheduler cannot
// tell whether it has it: no proof that it did not start.
func (p *Peer) lostTrack(one *partner.Partner, m protocol.Unknown) {
	if !m.InDoubt {
		p.fencedOver(one, m.Tag, false)
	}
	j := p.current(one.Site, m.Tag)
	switch {
	case j == nil || (j.Phase != row.JobGranted && j.Phase != row.JobHandedOff && j.Phase != row.JobRecalling):
	case m.InDoubt:
		p.mayRun(j, fmt.Sprintf("the local scheduler of %s cannot tell whether it has this job, which may run there", one.Site), false)
	case !j.Restored && j.Holder != 0 && j.Holder == one.Incarnation():
		// The store that held room for it goes on, and it forgets only what it gave back, or
		// what this site has acknowledged.
		p.notStarted(one, m.Tag, "its site gave its room up long ago")
	default:
		p.mayRun(j, status.LostRecords(one.Site), true)
	}
}

// mayRun goes on with a job of which its site cannot say what became of it; lost says that the site
// has no records of it.
func (p *Peer) mayRun(j *job, why string, lost bool) {
	switch {
	case j.Cancelling:
		p.closeUnknown(j, why)
		return
	case j.Spec.Requeue && !p.endsUnheard(j):
		if lost {
			why = "its site has lost its records"
		}
		p.fence(j, why, lost)
		return
	}
	if j.doubted {
		j.doubted = false
		p.timers.Stop(timer{kind: jobTimer, job: j.Spec.Job})
	}
	if j.Stuck != "" {
		return
	}
	j.Stuck = why
	p.saveJob(j.Spec.Job)
	p.fact(event.LogEvent{Kind: event.LogNeedsOperator, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: j.Stuck + status.Remedy})
	if j.Restored {
		p.settleJob(j)
	}
}

// watchReclaim sets the time at which a job that may run twice is taken from a
// site that is silent.
func (p *Peer) watchReclaim(j *job) {
	if j.Spec.Requeue && j.reclaimable() {
		p.after(p.cfg.Reclaim, timer{kind: reclaimTimer, job: j.Spec.Job})
	}
}

// reclaimable says whether another site has the job, or may have it, and it shall run.
func (j *job) reclaimable() bool {
	return j.Phase == row.JobGranted || j.Phase == row.JobHandedOff || (j.Phase == row.JobRecalling && !j.Cancelling)
}

func (p *Peer) reclaim(id protocol.JobID) {
	j := p.jobs[id]
	if j == nil || !j.reclaimable() {
		return
	}
	if p.site.StopReason() != "" {
		p.after(p.cfg.RetryMax, timer{kind: reclaimTimer, job: id})
		return
	}
	if one := p.partners.Of(j.Site); one != nil {
		heard := one.Heard
		if one.Linked {
			heard = p.now
		}
		if left := p.cfg.Reclaim - p.now.Sub(heard); left > 0 {
			p.after(left, timer{kind: reclaimTimer, job: id})
			return
		}
	}
	if p.endsUnheard(j) {
		p.after(p.cfg.Reclaim, timer{kind: reclaimTimer, job: id})
		return
	}
	p.fence(j, "its site was not heard for "+p.cfg.Reclaim.Text(), false)
}

// fence gives a job with Requeue up at its site, for another one at a higher
// epoch. What the old one still says is refused. lost says that the site has no records of it.
func (p *Peer) fence(j *job, why string, lost bool) {
	p.shun(j, j.Site)
	j.Fence(lost)
	p.comeBack(j, event.LogJobReclaimed, why)
}
