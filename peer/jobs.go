package peer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/hosting"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// submit takes jobs in, all or none.
func (p *Peer) submit(ev event.Submit) { p.submitKnowing(ev, nil) }

// submitKnowing is submit when the archive has been asked about jobs that those of the submission depend on.
func (p *Peer) submitKnowing(ev event.Submit, known ended) {
	if p.site.Listening && p.site.Recovery == "" && p.site.Twin.Boot == 0 {
		p.early = append(p.early, ev)
		return
	}
	key, desk := ev.User+"\x00"+ev.Key, p.admission()
	if known, ok := p.rows.Dedup[key]; ok && ev.Key != "" {
		if known.SHA256 != ev.SHA256 && known.SHA256 != [32]byte{} {
			p.answer(ev.Asked, view.Refusal{Code: view.Conflict, Reason: fmt.Sprintf(
				"the key %+.80q is that of another submission, which made job %v; give each submission a key of its own", ev.Key, known.First)})
			return
		}
		p.answer(ev.Asked, desk.Submitted(ev.Jobs, known.First, known.Count))
		return
	}
	if refusal, ok := desk.RefuseSubmission(ev.User, ev.Application, ev.Jobs, p.rows.Open(), p.rows.JobsOf(ev.User)); ok {
		p.answer(ev.Asked, refusal)
		return
	}
	if refusal, ok := p.rows.Fair.RefuseSubmission(ev.User, ev.Jobs, p.rows.JobsOf(ev.User)); ok {
		p.answer(ev.Asked, refusal)
		return
	}
	if why := p.site.RefuseIDs(p.now, protocol.CountIDs(ev.Jobs)); why != "" {
		p.answer(ev.Asked, view.Refusal{Code: view.Unavailable, Reason: why})
		return
	}
	asked := ev
	ev.Jobs = slices.Clone(ev.Jobs)
	switch missing, refusal, refused := p.resolve(&ev, known); {
	case refused:
		p.answer(ev.Asked, refusal)
		return
	case len(missing) > 0:
		p.call(event.ArchiveOp{Jobs: missing}, lookUp{ev.Asked, func(p *Peer, known ended) { p.submitKnowing(asked, known) }, known, missing})
		return
	}
	first := protocol.NewJobID(p.cfg.Number, p.site.NextSeq)
	notices := admission.TakeFavors(ev.Admin, ev.Jobs)
	ev.Application, ev.Jobs = desk.Objectives.Weighed(ev.Application, ev.Jobs)
	if ev.Jobs[0].Array != nil {
		notices = append(notices, p.newArray(desk, ev)...)
	} else {
		notices = append(notices, p.newJobs(desk, ev)...)
	}
	p.rows.SaveSite()
	if ev.Key != "" {
		p.rows.Dedup[key] = row.Dedup{First: first, Count: len(ev.Jobs), At: p.now, SHA256: ev.SHA256}
		p.rows.SaveDedup(key)
	}
	submitted := desk.Submitted(ev.Jobs, first, len(ev.Jobs))
	submitted.Notices = slices.Concat(notices, desk.AssociationNotices(ev.User, ev.Jobs), desk.ShapeNotices(ev.Jobs))
	p.answer(ev.Asked, submitted)
}

// newJobs takes in jobs that are no arrays, and returns what their user should know of them.
func (p *Peer) newJobs(desk *admission.Desk, ev event.Submit) (notices []string) {
	a := p.takeApplication(ev)
	for i := range ev.Jobs {
		j := p.newJob(desk, ev.User, &ev.Jobs[i], a)
		if j.NoEligibleSite {
			notices = append(notices, admission.UnknownNotice(j.Spec.Job))
		}
	}
	if a != nil {
		must(p.rows.FollowAll(a))
	}
	return notices
}

// admission is where this site admits jobs now.
func (p *Peer) admission() *admission.Desk {
	return &admission.Desk{
		Site: hosting.Here(&p.cfg), Number: p.cfg.Number, MaxJobs: p.cfg.MaxGridJobs, MaxOfUser: p.cfg.MaxUserJobs, MaxArray: p.cfg.MaxArraySize, MaxCycle: p.cfg.MaxJobsPerCycle, MaxStaging: p.cfg.MaxStaging,
		Stopped: p.site.StopReason(), Accounts: p.cfg.Accounts, Mapping: p.cfg.Associations,
		Policy: &p.cfg.Policy, Objectives: p.objectives(), Partners: admission.Known(p.partners.All()),
		ExportRemote: p.cfg.ExportRemote, Now: p.now,
	}
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
	p.admitJob(j)
	return j
}

// admitJob puts a new job into the grid queue.
func (p *Peer) admitJob(j *tables.Job) {
	id := j.Spec.Job
	p.logEvent(event.LogEvent{Kind: event.LogJobSubmitted, Job: id, Text: j.Spec.Name})
	p.setHoldTimer(j)
	if p.diesOf(&j.Job) {
		p.queue.Hold(id)
		p.after(0, due.OfJob(due.HoldTimer, id)) // once all that was submitted with it is there
	} else {
		p.enqueue(j)
	}
	p.settleSingleton(id)
	p.askOutcomes(id)
	if p.mayPlace(j) && p.staysLocal(j) {
		p.commitLocalJobs([]protocol.JobID{id}, staysLocalReason)
	}
}

// finish ends a job of this origin, if nothing of it can start any more: see [Peer.endCancelled].
func (p *Peer) finish(j *tables.Job, state protocol.State, reason string) {
	if state == protocol.Cancelled {
		p.endCancelled(j, reason)
		return
	}
	p.conclude(j, state, reason)
}

// concludeUnknown has a job leave the core of which only an operator could say what became of it. It cannot be requeued, since it
// may still run.
func (p *Peer) concludeUnknown(j *tables.Job, why string) {
	j.NoRequeue = true
	p.conclude(j, protocol.Cancelled, "outcome unknown: "+why)
}

// conclude has a job leave the core for the archive.
func (p *Peer) conclude(j *tables.Job, state protocol.State, reason string) {
	id := j.Spec.Job
	j.State, j.Reason, j.OperatorReason, j.Change = state, clip(reason), "", nil
	if j.Ended == 0 {
		j.Ended = p.now
	}
	p.logEvent(event.LogEvent{Kind: event.LogJobEnded, Job: id, Site: j.Site, Epoch: j.Epoch, State: state, Text: j.Reason})
	p.ledger().NoteBenefit(&p.benefit, j)
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
	p.countUse(j)
	p.countUnplaced(j)
	p.removeJob(j)
	p.noteEnd(&j.Job, j.State, j.Ended)
	p.out.Records = append(p.out.Records, row.Record{Table: row.ArchiveTable, Key: row.JobKey(id), Row: row.Archived{View: view}})
	p.leaveArray(j.Array)
}

// stopTimers ends what is repeated or waited for because of the job.
func (p *Peer) stopTimers(j *tables.Job) {
	for _, kind := range []due.Kind{due.JobTimer, due.CollectTimer, due.ReclaimTimer, due.HoldTimer, due.DependencyTimer} {
		p.timers.Stop(due.OfJob(kind, j.Spec.Job))
	}
}

// finishWith ends a job as its outcome says.
func (p *Peer) finishWith(j *tables.Job) {
	p.finish(j, j.Outcome.State, j.Outcome.Reason)
}

// requeue returns a job that is proven not to run anywhere to the grid queue,
// or ends it if it was to be cancelled.
func (p *Peer) requeue(j *tables.Job, kind event.LogKind, why string) {
	if j.Moving != "" && kind == event.LogJobRequeued && !j.Cancelling {
		kind, why = event.LogJobMoved, j.Moving
		j.Moves, j.MovedAt = j.Moves+1, p.now
	}
	p.logEvent(event.LogEvent{Kind: kind, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(why)})
	for _, kind := range []due.Kind{due.JobTimer, due.CollectTimer, due.ReclaimTimer} {
		p.timers.Stop(due.OfJob(kind, j.Spec.Job))
	}
	p.leaveSite(j)
	j.Unplace()
	_, here := p.laterHere(j)
	switch {
	case here:
	case j.Cancelling && j.Restored:
		p.concludeUnknown(j, lives.RestoredReason)
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
	if j.Change != nil {
		p.changeRow(j, j.Change)
	}
	p.rows.SaveJob(j.Spec.Job)
	if j.Restored {
		p.leaveToOperator(j)
		return
	}
	p.enqueue(j)
}

// requeueGroup returns a job that its site had to the grid queue. Of a group the others are
// recalled, too. While they are on their way it rests, so that one round has them all.
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
	p.timers.Stop(due.OfTag(due.StartTimer, j.Tag()))
	if one := p.partners.Of(j.Site); one != nil && j.CountsThere {
		one.JobsThere--
	}
	j.CountsThere = false
}

// excludeSite keeps the site from being asked about the job for σ; under cycles also in the next one,
// or the policy would have the same choice again, and make it.
func (p *Peer) excludeSite(j *tables.Job, site protocol.SiteName) {
	p.excludeFor(j, site, p.cfg.ExclusionTime())
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
	p.refused.Add(j)
}

// queueMoved lets the next jobs that the local scheduler has refused try it again, since a job has left its
// queue.
func (p *Peer) queueMoved() {
	for _, id := range p.refused.Next(p.rows.Jobs, p.cfg.Site, p.now) {
		p.queue.Wake(id)
	}
}
