package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job waits in the grid queue, outside rounds, while its user or an administrator holds it, and until the instant before
// which it must not start. What is in a local queue is withdrawn or recalled first: the job is held where it comes back to.
// One that has started meanwhile goes on, and is not held.

// enqueue has a job of the grid queue wait for its next round, or for what keeps it from that. A job whose deadline can no
// longer be met ends. One that needs an operator, since it may have run, stays out of the queue.
func (p *Peer) enqueue(j *tables.Job) {
	id := j.Spec.Job
	if j.OperatorReason != "" {
		return
	}
	if p.missesDeadline(j) {
		p.finish(j, protocol.Cancelled, j.DeadlineReason())
		return
	}
	why := j.HoldReason(p.now)
	p.rows.HoldBack(j, why != "")
	if p.diesOf(&j.Job) {
		p.finish(j, protocol.Cancelled, view.Detailed(why, dependencyDetail(&j.Job, why)))
		return
	}
	if why != "" {
		if why == view.ReasonDependencyNever && p.site.StopReason() != "" { // it may have to end later
			p.after(p.cfg.RetryMax, due.OfJob(due.HoldTimer, id))
		}
		p.queue.Hold(id)
		p.setLane(j)
		p.explain(j, why, dependencyDetail(&j.Job, why))
		return
	}
	if p.rows.Throttle(j) {
		p.queue.Hold(id)
		p.setLane(j)
		p.explain(j, view.ReasonArrayThrottle, "")
		return
	}
	if p.queue.IsHeld(id) {
		p.queue.Release(id)
		p.explain(j, "", "")
		return
	}
	p.queue.Put(id)
	p.setLane(j)
}

// setLane has a job of the grid queue wait among those of its user and account.
func (p *Peer) setLane(j *tables.Job) {
	lane, rank := p.rows.Fair.Lane(&j.Job)
	p.queue.SetLane(j.Spec.Job, lane, rank)
}

// mayPlace says whether a job may be placed: it is in the grid queue, and not held.
func (p *Peer) mayPlace(j *tables.Job) bool {
	return j != nil && p.inQueue(j) && !p.queue.IsHeld(j.Spec.Job)
}

// mayPlaceByRound says whether a round that has taken a job may still place it: by what is known of it in the round. A job that
// was changed, or held and released, has another round.
func (p *Peer) mayPlaceByRound(j *tables.Job) bool {
	return p.mayPlace(j) && p.queue.IsTaken(j.Spec.Job)
}

// missesDeadline says whether a job that has not started can no longer end by its deadline.
func (p *Peer) missesDeadline(j *tables.Job) bool {
	latest := j.LatestStart()
	return latest != 0 && latest < p.now && j.State == protocol.Pending && p.site.StopReason() == ""
}

// setHoldTimer sets the next instant at which the job may be placed, or must have started.
func (p *Peer) setHoldTimer(j *tables.Job) {
	timer, next, latest := due.OfJob(due.HoldTimer, j.Spec.Job), j.NextRelease(p.now), j.LatestStart()
	switch {
	case j.State != protocol.Pending:
		p.timers.Stop(timer)
	case next != 0:
		p.timers.Set(timer, next)
	case latest != 0:
		p.timers.Set(timer, max(latest+1, p.now))
	}
}

// holdDue goes on with a job whose begin has come, or whose deadline can no longer be met.
func (p *Peer) holdDue(id protocol.JobID) {
	if a := p.rows.Arrays[id]; a != nil {
		p.arrayDue(a)
		return
	}
	j := p.rows.Jobs[id]
	if j == nil {
		return
	}
	if p.site.StopReason() != "" {
		p.after(p.cfg.RetryMax, due.OfJob(due.HoldTimer, id))
		return
	}
	missed := p.missesDeadline(j)
	if !missed {
		p.setHoldTimer(j)
	}
	switch {
	case j.Phase == row.JobInGridQueue && j.OperatorReason == "":
		if p.queue.IsHeld(id) || missed {
			p.enqueue(j)
		}
	case missed && !j.Cancelling && !j.Together():
		p.recallJob(j, j.DeadlineReason()) // where it comes back to it ends
	}
}

// setHold holds a job, or releases it.
func (p *Peer) setHold(ev event.SetHold) {
	verb := "release"
	if ev.Hold {
		verb = "hold"
	}
	if a := p.rows.Arrays[ev.Job]; a != nil {
		p.setArrayHold(ev, a, verb)
		return
	}
	if a, index, ok := p.rows.ElementOf(ev.Job); ok && a.Pending.Has(index) {
		if refusal, refused := p.answers().RefuseChange(&a.Job, ev.User, ev.Admin, verb); refused {
			p.answer(ev.Asked, refusal)
			return
		}
		p.admitElements(p.rows.Draw(a, index))
	}
	j, refusal := p.answers().MayChange(ev.Job, ev.User, ev.Admin, verb)
	if j == nil {
		p.answer(ev.Asked, refusal)
		return
	}
	refuse := p.refuseHold
	if !ev.Hold {
		refuse = func(j *tables.Job) (view.Refusal, bool) { return refuseRelease(&j.Job, ev.Admin) }
	}
	if refusal, refused := refuse(j); refused {
		p.answer(ev.Asked, refusal)
		return
	}
	p.answer(ev.Asked, view.Done{})
	if ev.Hold {
		p.holdJob(j, ev.User)
	} else {
		p.releaseJob(j, ev.User)
	}
}

// refuseHold is why a job cannot be held; false: it can be.
func (p *Peer) refuseHold(j *tables.Job) (view.Refusal, bool) {
	return p.refuseUnlessPending(j, "hold", "held")
}

// refuseUnlessPending is why something cannot be done to a job that its user may do to a pending one; false: it can be.
func (p *Peer) refuseUnlessPending(j *tables.Job, do, done string) (view.Refusal, bool) {
	var why string
	switch needs := p.answers().NeedsOperator(j); {
	case needs != "":
		why = "it needs an operator: " + needs
	case j.Cancelling || j.Phase == row.JobEnding:
		why = "it is being cancelled"
	case j.Requeueing && do == "hold": // it is held where it comes back to
		return view.Refusal{}, false
	case j.State != protocol.Pending || j.Phase == row.JobStagingOut:
		why = fmt.Sprintf("it is %v, and only pending jobs can be %s; cancel it to end it", j.State, done)
	case j.Together() && j.Phase != row.JobInGridQueue:
		why = fmt.Sprintf("CPUs are reserved for its group, which starts together; cancel it, or %s it before it is placed", do)
	default:
		return view.Refusal{}, false
	}
	return view.Refusal{Code: view.Conflict, Reason: fmt.Sprintf("job %v cannot be %s: %s", j.Spec.Job, done, why)}, true
}

// refuseRelease is why a job cannot be released; false: it can be.
func refuseRelease(j *row.Job, admin bool) (view.Refusal, bool) {
	if j.Wants().Hold != protocol.HeldByAdmin || admin {
		return view.Refusal{}, false
	}
	return view.Refusal{Code: view.Denied, Reason: fmt.Sprintf(
		"job %v is held by an administrator of the site (%s), who alone can release it", j.Spec.Job, view.ReasonHeldByAdmin)}, true
}

// holdJob holds a job that may be. The hold of an administrator replaces that of its user, and not the reverse.
func (p *Peer) holdJob(j *tables.Job, by string) {
	hold := newHold(&j.Job, by)
	if hold == j.Wants().Hold {
		return
	}
	j.SetHold(hold)
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogJobHeld, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: "by " + by})
	if j.Phase == row.JobInGridQueue {
		p.enqueue(j)
		return
	}
	p.recallJob(j, row.HoldWord(hold))
}

// newHold is the hold of a job that somebody holds.
func newHold(j *row.Job, by string) protocol.Hold {
	if by != j.Spec.User || j.Wants().Hold == protocol.HeldByAdmin {
		return protocol.HeldByAdmin
	}
	return protocol.HeldByUser
}

// releaseJob ends the hold of a job. One that is on its way back comes back all the same.
func (p *Peer) releaseJob(j *tables.Job, by string) {
	if j.Wants().Hold == "" {
		return
	}
	j.SetHold("")
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogJobReleased, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: "by " + by})
	if j.Phase != row.JobInGridQueue {
		return
	}
	p.enqueue(j)
	if p.mayPlace(j) && p.staysLocal(j) {
		p.commitLocalJobs([]protocol.JobID{j.Spec.Job}, staysLocalReason)
	}
}

// recallJob recalls a job that is offered, granted or in a local queue, unless it has started. It returns through
// [Peer.requeue].
func (p *Peer) recallJob(j *tables.Job, why string) {
	if j.Moving != "" { // whatever else it is recalled for goes first
		j.Moving = ""
		p.rows.SaveJob(j.Spec.Job)
	}
	if j.Phase == row.JobOffered {
		p.send(j.Site, protocol.Abort{Tag: j.Tag()})
		p.requeue(j, event.LogJobRequeued, why)
		return
	}
	p.recallPlacement(j, false)
}

// noteStarted goes on when a job has started: those that wait for that hear of it. One that was recalled runs to its
// end as it is, and its hold has no effect; should the start turn out never to have begun, the job comes back held.
func (p *Peer) noteStarted(j *tables.Job) {
	j.Moving = ""
	p.noteStart(j)
	if j.Change != nil {
		p.logEvent(event.LogEvent{
			Kind: event.LogJobUpdated, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip("not any more, since it had started before that reached it: " + j.Change.String()),
		})
		j.Change = nil
	}
	if j.Wants().Hold == "" || j.Cancelling || j.Requeueing {
		return
	}
	p.logEvent(event.LogEvent{Kind: event.LogJobReleased, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: "it had started before the hold reached it"})
}
