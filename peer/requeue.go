package peer

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job that runs is requeued as it is cancelled: the word is durable first, and then the job is ended where it runs. When
// that is proven by its end, it goes back into the grid queue instead of leaving the rows; a partner's files come home
// before. So it never runs twice at a time, and a crash or a cut link only delays it.
//
// A job that has ended stays beside the open ones for a while, with what it runs. When a user wants it to start again, it comes
// back into the grid queue in one step, at its epoch: it is placed at a later one, so that what is still on its way of its
// placements before finds it closed.

// requeueAsked has jobs start again.
func (p *Peer) requeueAsked(ev event.Requeue) {
	if ev.Force {
		p.requeueForced(ev)
		return
	}
	if a := cmp.Or(p.rows.Arrays[ev.Job], p.rows.RequeueableArray(ev.Job)); a != nil {
		p.requeueElements(ev, a)
		return
	}
	if j := p.rows.Requeueable(ev.Job); j != nil {
		p.requeueEnded(ev, j)
		return
	}
	if a, index, ok := p.rows.ElementOf(ev.Job); ok && p.rows.Jobs[ev.Job] == nil {
		ev.Elements = protocol.IndexesOf(index)
		p.requeueElements(ev, a)
		return
	}
	j, refusal := p.answers().MayChange(ev.Job, ev.User, ev.Admin, "requeue")
	if j == nil {
		if refusal.Code == view.NotFound {
			refusal.Reason += p.whichEnded()
		}
		p.answer(ev.Asked, refusal)
		return
	}
	if refusal, refused := p.refuseRequeue(j); refused {
		p.answer(ev.Asked, refusal)
		return
	}
	p.answer(ev.Asked, view.Done{})
	p.requeueRunning(j, ev)
}

// requeueElements has those elements of an array start again that run, or have ended and can be requeued.
func (p *Peer) requeueElements(ev event.Requeue, a *tables.Array) {
	if refusal, refused := p.answers().RefuseChange(&a.Job, ev.User, ev.Admin, "requeue"); refused {
		p.answer(ev.Asked, refusal)
		return
	}
	wanted := ev.Elements
	if wanted.IsZero() {
		wanted = a.Asked.Indexes
	}
	if refusal, refused := refuseUnknownElements(a, wanted); refused {
		p.answer(ev.Asked, refusal)
		return
	}
	ended := p.rows.RequeueableOf(a, wanted)
	if refusal, refused := p.refuseReopening(&a.Job, len(ended)); refused {
		p.answer(ev.Asked, refusal)
		return
	}
	var run []*tables.Job
	var why view.Refusal
	for _, j := range a.JobsOf(wanted) {
		if refusal, refused := p.refuseRequeue(j); !refused {
			run = append(run, j)
		} else if why.Reason == "" {
			why = refusal
		}
	}
	switch {
	case len(run)+len(ended) > 0:
		p.answer(ev.Asked, view.Done{Notice: p.leftEnded(a, wanted, len(ended))})
	case why.Reason != "":
		p.answer(ev.Asked, why)
	case a.Pending.And(wanted).IsZero():
		p.answer(ev.Asked, view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf("the elements %v of array %v have ended%s", wanted, a.ID(), p.whichEnded())})
	default:
		p.answer(ev.Asked, view.Refusal{Code: view.Conflict, Reason: fmt.Sprintf(
			"the elements %v of array %v cannot be requeued: they are %v", wanted, a.ID(), protocol.Pending)})
	}
	for _, j := range run {
		p.requeueRunning(j, ev)
	}
	desk := p.admissionOnce()
	for _, j := range ended {
		p.reopen(j, ev, afterItsEnd(ev), desk)
	}
}

// leftEnded says how many elements among some that are wanted are not requeued since they have ended, besides those that can be, and
// why; empty: none.
func (p *Peer) leftEnded(a *tables.Array, wanted protocol.Indexes, requeued int) string {
	left := wanted.Without(openOf(a)).Len() - requeued
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%s of array %v that ended cannot be requeued%s", protocol.Count(left, "element"), a.ID(), p.whichEnded())
}

// whichEnded says which jobs that have ended can be requeued, after the word that one has ended.
func (p *Peer) whichEnded() string {
	if p.cfg.Requeueable.For == 0 {
		return "; no job that has ended can be requeued here: submit it again"
	}
	return fmt.Sprintf("; a job can be requeued until %s after its end ([retention] requeueable), as long as not too many others have ended since "+
		"(max_requeueable, max_requeueable_bytes), unless it was submitted with --no-requeue, is a component of an application, has not met its dependencies, never "+
		"was placed, or may have been left at a site: submit it again", p.cfg.Requeueable.For.Text())
}

// requeueEnded has a job start again that has ended.
func (p *Peer) requeueEnded(ev event.Requeue, j *tables.Job) {
	refusal, refused := p.answers().RefuseChange(&j.Job, ev.User, ev.Admin, "requeue")
	if !refused {
		refusal, refused = p.refuseReopening(&j.Job, 1)
	}
	if refused {
		p.answer(ev.Asked, refusal)
		return
	}
	p.answer(ev.Asked, view.Done{})
	p.reopen(j, ev, afterItsEnd(ev), p.admission)
}

// afterItsEnd is what the log says of the requeue of a job that has ended.
func afterItsEnd(ev event.Requeue) string { return "after its end, by " + ev.User }

// refuseReopening is why this number of jobs of one description that have ended cannot be requeued, since their user would have too
// many; false: they can be.
func (p *Peer) refuseReopening(j *row.Job, jobs int) (view.Refusal, bool) {
	if jobs == 0 {
		return view.Refusal{}, false
	}
	why, user, ofUser := p.site.StopReason(), j.Spec.User, p.rows.JobsOf(j.Spec.User)
	if why == "" {
		refusal, refused := p.admission().RefuseCount(user, jobs, p.rows.Open(), ofUser)
		if !refused {
			all := protocol.Array{Indexes: protocol.Indexes{{First: 0, Last: jobs - 1, Step: 1}}}
			refusal, _ = p.rows.Fair.RefuseSubmission(user, []protocol.Job{{Spec: j.Spec, Array: &all}}, ofUser)
		}
		why = refusal.Reason
	}
	what := fmt.Sprintf("job %v", j.Spec.Job)
	if jobs > 1 {
		what = fmt.Sprintf("%s of array %v that ended", protocol.Count(jobs, "element"), j.Spec.Job)
	}
	return view.Refusal{Code: view.Unavailable, Reason: fmt.Sprintf("%s cannot be requeued: %s", what, why)}, why != ""
}

// reopen puts a job that has ended back into the grid queue, under its ID and at its next epoch. What had waited for its end goes
// on, and how it ran is kept as an earlier run.
func (p *Peer) reopen(j *tables.Job, ev event.Requeue, why string, desk func() *admission.Desk) {
	id := j.Spec.Job
	p.logEvent(event.LogEvent{Kind: event.LogRequeueRequested, Job: id, Site: j.Site, Epoch: j.Epoch, Text: why})
	if p.rows.Reopen(j) {
		p.unarchive(j.Element.Array)
	}
	p.archiveRun(j, cmp.Or(j.Reason, requeuedReason))
	p.unarchive(id)
	j.Reopen(ev.Admin)
	j.Local = ""
	if ev.Hold {
		j.SetHold(newHold(&j.Job, ev.User))
	}
	j.NoEligibleSite = desk().Unknown(&j.Job)
	p.requeue(j, event.LogJobRequeued, requeuedReason)
	p.setHoldTimer(j)
}

// requeuedReason is why a job is placed again that its user has requeued.
const requeuedReason = "its user has it start again"

// unarchive takes a job or an array that has not ended after all out of the archive.
func (p *Peer) unarchive(id protocol.JobID) {
	p.noteReopened(id)
	p.out.Records = append(p.out.Records, row.Record{Table: row.ArchiveTable, Key: row.JobKey(id)})
}

// removeJob takes a job out that has ended. It is kept beside the open ones for as long as it can be requeued.
func (p *Peer) removeJob(j *tables.Job) {
	if !p.canReopen(&j.Job) {
		p.rows.RemoveJob(j)
		return
	}
	more := p.rows.Retire(j, p.now, p.cfg.Requeueable)
	switch timer := due.Once(due.RequeueableTimer); {
	case more:
		p.after(protocol.Millisecond, timer)
	case !p.timers.Has(timer):
		p.after(p.cfg.Requeueable.For, timer)
	}
}

// canReopen says whether a job that ends can be requeued for a while: nothing of it can start any more, and nothing that it
// waited for is missed meanwhile.
func (p *Peer) canReopen(j *row.Job) bool {
	d := j.Wants().Dependency
	return p.cfg.Requeueable.For > 0 && !j.NoRequeue && !j.Forced && len(j.Fenced) == 0 &&
		j.Application == 0 && j.Component == nil && (d == nil || d.MetAt(p.now))
}

// voidRequeueable has no job be requeued any more that has ended. Their rows go with later steps.
func (p *Peer) voidRequeueable() {
	p.site.RequeueableAfter = max(p.now, p.rows.LastRequeueable())
	p.rows.SaveSite()
	p.rows.VoidRequeueable(p.site.RequeueableAfter)
	p.after(0, due.Once(due.RequeueableTimer))
}

// forgetRequeueable drops the jobs that have ended and cannot be requeued any more, those of a second together if these are not too
// many for a step.
func (p *Peer) forgetRequeueable() {
	if p.site.StopReason() != "" { // one may have been requeued since these rows
		p.after(p.cfg.RetryMax, due.Once(due.RequeueableTimer))
		return
	}
	keep := p.cfg.Requeueable.For
	first, more := p.rows.ForgetRequeueable(p.now.Add(-keep), p.cfg.Requeueable)
	switch {
	case first == 0:
	case more:
		p.after(protocol.Millisecond, due.Once(due.RequeueableTimer))
	default:
		p.timers.Set(due.Once(due.RequeueableTimer), max(first.Add(keep), p.now.Add(protocol.Second)))
	}
}

// refuseRequeue is why a job cannot be requeued; false: it can be.
func (p *Peer) refuseRequeue(j *tables.Job) (view.Refusal, bool) {
	var why string
	code := view.Conflict
	switch needs := p.answers().NeedsOperator(j); {
	case needs != "":
		why = "it needs an operator: " + needs + "; `switchyard requeue --force` accepts that it may run twice"
	case p.site.StopReason() != "":
		why, code = p.site.StopReason(), view.Unavailable
	case j.Cancelling || j.Phase == row.JobEnding:
		why = "it is being cancelled"
	case j.NoRequeue:
		why = "it was submitted with --no-requeue"
	case j.Requeueing:
		why = "it is being requeued"
	case j.Together():
		why = "it starts together with the others of its group; cancel the group, and submit it again"
	case j.State != protocol.Running:
		why = fmt.Sprintf("it is %v, and only jobs that run can be; hold it to keep it from starting", j.State)
	default:
		return view.Refusal{}, false
	}
	return view.Refusal{Code: code, Reason: fmt.Sprintf("job %v cannot be requeued: %s", j.Spec.Job, why)}, true
}

// requeueRunning ends a job where it runs, so that it is placed again. Of one that has ended at a partner the output comes home
// first.
func (p *Peer) requeueRunning(j *tables.Job, ev event.Requeue) {
	j.Requeueing = true
	j.SetHold("") // which came too late for this run
	if ev.Hold {
		j.SetHold(newHold(&j.Job, ev.User))
	}
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogRequeueRequested, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: "by " + ev.User})
	p.recallPlacement(j, true)
}

// endRun goes on with a job whose outcome is known: it leaves the rows, or is placed again where a user wants that.
func (p *Peer) endRun(j *tables.Job) {
	if j.Requeueing {
		p.rerun(j, requeuedReason)
		return
	}
	p.finishWith(j)
}
