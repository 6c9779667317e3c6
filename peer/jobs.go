package peer

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/hosting"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// submit takes jobs in, all or none.
func (p *Peer) submit(ev event.Submit) {
	if p.site.Listening && p.site.Recovery == "" && p.site.Twin.Boot == 0 {
		p.early = append(p.early, ev)
		return
	}
	key, desk := ev.User+"\x00"+ev.Key, p.admission()
	if row, ok := p.rows.Dedup[key]; ok && ev.Key != "" {
		p.answer(ev.Asked, view.Submitted{Elsewhere: desk.MayLeaveTo(specsOf(ev.Jobs)), Jobs: p.idsFrom(row.First, row.Count)})
		return
	}
	if refusal, ok := p.refuseSubmission(desk, ev); ok {
		p.answer(ev.Asked, refusal)
		return
	}
	first := protocol.NewJobID(p.cfg.Number, p.site.NextSeq)
	var notices []string
	ev.Application, ev.Jobs = desk.Objectives.Weighed(ev.Application, ev.Jobs)
	a := p.takeApplication(ev)
	for i := range ev.Jobs {
		j := p.newJob(desk, ev.User, &ev.Jobs[i], a)
		if j.NoEligibleSite {
			notices = append(notices, fmt.Sprintf(
				"job %v: no site that is known can run it; it waits for one that is not known yet", j.Spec.Job))
		}
	}
	if a != nil {
		must(p.rows.FollowAll(a))
	}
	p.rows.SaveSite()
	if ev.Key != "" {
		p.rows.Dedup[key] = row.Dedup{First: first, Count: len(ev.Jobs), At: p.now}
		p.rows.SaveDedup(key)
	}
	p.answer(ev.Asked, view.Submitted{Elsewhere: desk.MayLeaveTo(specsOf(ev.Jobs)), Jobs: p.idsFrom(first, len(ev.Jobs)), Notices: notices})
}

func specsOf(jobs []protocol.Job) []protocol.Spec {
	specs := make([]protocol.Spec, len(jobs))
	for i := range jobs {
		specs[i] = jobs[i].Spec
	}
	return specs
}

// admission is where this site admits jobs now.
func (p *Peer) admission() *admission.Desk {
	desk := &admission.Desk{
		Site: hosting.Here(&p.cfg), Number: p.cfg.Number, MaxJobs: p.cfg.MaxGridJobs, MaxOfUser: p.cfg.MaxUserJobs, MaxCycle: p.cfg.MaxJobsPerCycle,
		Policy: &p.cfg.Policy, Objectives: p.objectives(),
	}
	for _, one := range p.partners.All() {
		if !one.Departed {
			desk.Partners = append(desk.Partners, admits(one))
		}
	}
	return desk
}

// admits is what is known of a partner, by its card, for jobs that are to run there.
func admits(one *partner.Partner) admission.Partner {
	known := admission.Partner{Site: one.AsSite()}
	if one.Card != nil {
		known.MaxJobs, known.MaxCPUs = one.Card.MaxJobs, one.Card.MaxCPUs
	}
	return known
}

// admissionOnce is [Peer.admission] for a look at many jobs: it is made for the first one, and only then.
func (p *Peer) admissionOnce() func() *admission.Desk {
	var desk *admission.Desk
	return func() *admission.Desk {
		if desk == nil {
			desk = p.admission()
		}
		return desk
	}
}

func (p *Peer) idsFrom(first protocol.JobID, count int) []protocol.JobID {
	out := make([]protocol.JobID, count)
	for i := range out {
		out[i] = first + protocol.JobID(i)
	}
	return out
}

func (p *Peer) newJob(desk *admission.Desk, user string, one *protocol.Job, a *tables.Application) *tables.Job {
	id, application := protocol.NewJobID(p.cfg.Number, p.site.NextSeq), protocol.JobID(0)
	p.site.NextSeq++
	if a != nil {
		application = a.ID
	}
	stored, payload := desk.Job(one, desk.Spec(one, user, id, p.now), application)
	j := &tables.Job{Job: stored}
	j.NoEligibleSite = desk.Unknown(&j.Job)
	if a != nil {
		a.Join(j)
	}
	p.rows.AddJob(j, &payload)
	p.queue.Put(id)
	p.logEvent(event.LogEvent{Kind: event.LogJobSubmitted, Job: id, Text: j.Spec.Name})
	if p.staysLocal(j) {
		p.commitLocalJobs([]protocol.JobID{id}, "its user lets it run here only")
	}
	return j
}

func (p *Peer) refuseSubmission(desk *admission.Desk, ev event.Submit) (view.Refusal, bool) {
	if why := p.site.StopReason(); why != "" {
		return view.Refusal{Code: view.Unavailable, Reason: why}, true
	}
	if refusal, ok := desk.RefuseCount(ev.User, len(ev.Jobs), len(p.rows.Jobs), p.rows.JobsOf(ev.User)); ok {
		return refusal, true
	}
	if _, err := p.cfg.Accounts.Local(ev.User); err != nil {
		return view.Refusal{Code: view.Denied, Reason: err.Error()}, true
	}
	if refusal, ok := admission.RefuseEmpty(ev.Jobs); ok {
		return refusal, true
	}
	return p.refuseJobs(desk, ev.User, ev.Application, ev.Jobs)
}

// refuseJobs says why none of the jobs can be taken, or asked about.
func (p *Peer) refuseJobs(desk *admission.Desk, user string, a *protocol.Application, jobs []protocol.Job) (view.Refusal, bool) {
	if why := quoting.TooLargeReason(user, jobs); a != nil && why != "" {
		return view.Refusal{Code: view.BadRequest, Reason: why}, true
	}
	return desk.Refuse(a, jobs)
}

// finish ends a job of this origin, if nothing of it can start any more: see [Peer.endCancelled].
func (p *Peer) finish(j *tables.Job, state protocol.State, reason string) {
	if state == protocol.Cancelled {
		p.endCancelled(j, reason)
		return
	}
	p.conclude(j, state, reason)
}

// conclude has a job leave the core for the archive.
func (p *Peer) conclude(j *tables.Job, state protocol.State, reason string) {
	id := j.Spec.Job
	j.State, j.Reason, j.OperatorReason = state, clip(reason), ""
	if j.Ended == 0 {
		j.Ended = p.now
	}
	p.logEvent(event.LogEvent{Kind: event.LogJobEnded, Job: id, Site: j.Site, Epoch: j.Epoch, State: state, Text: j.Reason})
	p.noteBenefit(j)
	if o, ok := j.PolicyOutcome(); ok && j.Decided.Policy == p.cfg.Policy.Name {
		p.outcomes.Add(o)
	}
	if broken := p.ledger().EndComponent(j); broken != "" {
		p.logEvent(event.LogEvent{Kind: event.LogLimitExceeded, Job: id, Site: j.Site, Epoch: j.Epoch, Text: broken})
	}
	view := p.answers().Finished(j)
	p.epilogue(j)
	p.leaveSite(j)
	p.leaveApplication(j)
	p.queue.Remove(id)
	p.stopTimers(j)
	p.rows.RemoveJob(j)
	p.out.Records = append(p.out.Records, row.Record{Table: row.ArchiveTable, Key: row.JobKey(id), Row: row.Archived{View: view}})
}

// stopTimers ends what is repeated or waited for because of the job.
func (p *Peer) stopTimers(j *tables.Job) {
	for _, kind := range []timerKind{jobTimer, collectTimer, reclaimTimer} {
		p.timers.Stop(timer{kind: kind, job: j.Spec.Job})
	}
}

// finishWith ends a job as its outcome says.
func (p *Peer) finishWith(j *tables.Job) {
	p.finish(j, j.Outcome.State, j.Outcome.Reason)
}

// requeue returns a job that is proven not to run anywhere to the grid queue,
// or ends it if it was to be cancelled.
func (p *Peer) requeue(j *tables.Job, kind event.LogKind, why string) {
	p.logEvent(event.LogEvent{Kind: kind, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(why)})
	p.timers.Stop(timer{kind: jobTimer, job: j.Spec.Job})
	p.timers.Stop(timer{kind: reclaimTimer, job: j.Spec.Job})
	p.leaveSite(j)
	j.Unplace()
	switch {
	case j.Cancelling && j.Restored:
		p.conclude(j, protocol.Cancelled, "outcome unknown: "+lives.RestoredReason)
		return
	case j.Cancelling:
		p.finish(j, protocol.Cancelled, "")
		return
	}
	if end := cmp.Or(p.rows.GroupEndReason(j), p.ledger().UnreachableReason(j.App)); end != "" && !j.Restored {
		p.finish(j, protocol.Cancelled, end)
		return
	}
	p.moveJob(j, row.JobInGridQueue)
	j.Reason, j.Detail, j.OwnershipPending = clip(why), "", false
	p.rows.SaveJob(j.Spec.Job)
	if j.Restored {
		p.leaveToOperator(j)
		return
	}
	p.queue.Put(j.Spec.Job)
}

// requeueGroup returns a job that its site had to the grid queue. Of a group the others are
// wanted back, too. While they are on their way it rests, so that one round has them all.
func (p *Peer) requeueGroup(j *tables.Job, kind event.LogKind, why string) {
	held, misses := j.ReserveFrom != 0, p.rows.MissesStart(j, p.now)
	if misses {
		p.groupMissed(j, why)
	}
	p.requeue(j, kind, why)
	if held && p.recallOtherMembers(j, why) && j.OperatorReason == "" && p.inQueue(j) {
		p.requeueLater(j, j.Reason, "")
	}
}

// inQueue says whether a job that was put back into the grid queue is there, and has not ended.
func (p *Peer) inQueue(j *tables.Job) bool {
	return p.rows.Jobs[j.Spec.Job] == j && j.Phase == row.JobInGridQueue
}

// leaveSite takes the job off its partner's count.
func (p *Peer) leaveSite(j *tables.Job) {
	p.timers.Stop(timer{kind: startTimer, job: j.Spec.Job, epoch: j.Epoch})
	if one := p.partners.Of(j.Site); one != nil && j.CountsThere {
		one.JobsThere--
	}
	j.CountsThere = false
}

// excludeSite keeps the site from being asked about the job for σ; under cycles also in the next one,
// or the policy would have the same choice again, and make it.
func (p *Peer) excludeSite(j *tables.Job, site protocol.SiteName) {
	p.excludeFor(j, site, p.exclusionTime())
}

func (p *Peer) exclusionTime() protocol.Duration {
	if p.cfg.Initiation == policy.Cycle {
		return max(p.cfg.CheckInterval, 2*p.cfg.CycleInterval) // at least one and a half
	}
	return p.cfg.CheckInterval
}

func (p *Peer) excludeFor(j *tables.Job, site protocol.SiteName, d protocol.Duration) {
	j.Excluded.Exclude(site, p.now.Add(p.dice.Jitter(d)))
	if site == p.cfg.Site {
		j.NotHere = ""
	}
}

// excludeHere keeps a job from the own site for a while, and says why. A batch system that refuses a
// job because its user has too many takes it when its queue has moved.
func (p *Peer) excludeHere(j *tables.Job, why string) {
	p.excludeSite(j, p.cfg.Site)
	j.NotHere = clip(why)
	if !j.AwaitsMove {
		j.AwaitsMove = true
		p.awaitMove = append(p.awaitMove, j.Spec.Job)
	}
}

// queueMoved lets the next jobs that the own scheduler has refused try it again, since something
// has left its queue. They are few, so that very many that it refuses for ever cost little, and
// those that were refused last come last.
func (p *Peer) queueMoved() {
	const most = 2
	for tried := 0; tried < most && len(p.awaitMove) > 0; {
		j := p.rows.Jobs[p.awaitMove[0]]
		p.awaitMove = p.awaitMove[1:]
		if j == nil {
			continue
		}
		j.AwaitsMove = false
		if j.Phase == row.JobInGridQueue && j.Excluded.Excludes(p.cfg.Site, p.now) {
			j.Excluded.Allow(p.cfg.Site)
			p.queue.Wake(j.Spec.Job)
			tried++
		}
	}
}
