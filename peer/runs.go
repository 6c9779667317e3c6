package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// commitLocal moves a job of this origin to the local queue of this site. quoted is the wait that this site
// quoted; it is nil if no quote was requested.
func (p *Peer) commitLocal(j *tables.Job, quoted *protocol.Duration) {
	as, err := p.ownerOf(j)
	if err != nil {
		p.excludeHere(j, err.Error())
		j.Unplace()
		p.requeueAfter(j, p.cfg.CheckInterval, err.Error(), "")
		return
	}
	j.NextEpoch()
	p.moveJob(j, row.JobCommittedLocal)
	j.Site, j.QuotedAWT, j.CommittedAt = p.cfg.Site, nil, p.now
	if quoted != nil {
		j.QuotedAWT = new(*quoted) // a quote of a round is not to be kept in memory
	}
	p.queue.Remove(j.Spec.Job)
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogJobCommitted, Job: j.Spec.Job, Site: p.cfg.Site, Epoch: j.Epoch})
	p.startRun(j.Tag(), as, j.Spec)
}

// owner is as whom of this site a job runs.
type owner struct {
	account     string
	association protocol.Association
}

// ownerOf is as whom a job of this origin runs here, or why it does not.
func (p *Peer) ownerOf(j *tables.Job) (owner, error) {
	account, err := p.cfg.Accounts.Local(j.Spec.User)
	if err != nil {
		return owner{}, err
	}
	mapped, err := p.host().Associate(p.cfg.Site, &j.Spec)
	return owner{account, mapped.Association}, err
}

func (p *Peer) startRun(tag protocol.Tag, as owner, spec protocol.Spec) {
	p.submitRun(p.addRun(tag, as, spec))
}

// addRun makes a placement durable before anything of it is done.
func (p *Peer) addRun(tag protocol.Tag, as owner, spec protocol.Spec) *localrun.Run {
	origin := p.cfg.Site
	if g := p.rows.Guests[tag.Job]; g != nil {
		origin = g.Origin
	}
	request := p.host().Request(origin, &spec, as.association.Account)
	r := &localrun.Run{
		Run:      row.Run{Tag: tag, Phase: row.RunSubmitting, Account: as.account, Association: as.association, Since: p.now},
		Instance: p.instances.Next(),
		Request:  request,
	}
	r.Request.Priority = p.localPriority(r)
	p.rows.Runs[tag] = r
	if j := p.rows.Jobs[tag.Job]; j != nil && j.Tag() == tag && j.Tariff == nil { // it is agreed on where room was held
		j.Tariff = p.host().TariffOf(p.cfg.Site, &j.Spec)
		p.rows.SaveJob(tag.Job)
	}
	p.watched.Remove(tag)
	if !p.rows.HasReservation(tag) {
		p.tentatives.Add(tag, p.now, request, as.association)
	}
	p.watchStartBy(tag)
	p.rows.SaveRun(tag)
	return r
}

func (p *Peer) submitRun(r *localrun.Run) {
	if p.site.StopReason() != "" {
		r.Waits = true // for resumeStarts
		return
	}
	if p.tooLate(r) || p.drained(r) {
		return
	}
	submission, ok := p.host().Submission(&p.rows, r)
	if !ok {
		return
	}
	if submission.Supplied() && !r.Supplied {
		p.fetchInputs(r, submission)
		return
	}
	r.Fetching = submission.Guest && submission.Spec.StageIn > 0 // the local scheduler unpacks them
	p.callFor(r, event.SubmitOp{Job: submission}, submitting)
}

// submitted goes on with the answer to a submission.
func (p *Peer) submitted(r *localrun.Run, result event.Result, err error) {
	r.Fetching = false
	r.Supplied = false // the shell may have removed its files: they are looked at again before another try
	done, err := step.ResultAs[event.SubmitResult](result, err)
	switch {
	case r.Phase != row.RunSubmitting: // a change has reported more meanwhile
		r.Local = cmp.Or(r.Local, done.Local)
		p.rows.SaveRun(r.Tag)
	case err != nil:
		p.retryAmbiguousSubmit(r, err)
	case done.Refused != "":
		p.refusedHere(r, handoff.RefusedByScheduler+done.Refused)
	default:
		p.inLocalQueue(r, done.Local)
	}
}

// runCall is a call about a run, one at a time. The answer is dropped when the run has gone
// meanwhile.
type runCall struct {
	tag      protocol.Tag
	instance step.Instance
	purpose  purpose
}

// purpose is what a call about a run is for.
type purpose uint8

const (
	submitting  purpose = iota // to put it in the local queue
	finding                    // to know whether it is there, after a submission that may not have worked
	verifying                  // to know whether it still is, where its row is older than what may have become of it
	withdrawing                // to take it out, since it is not wanted any more
	killing                    // to end it, where it has started
	supplying                  // to have the files of a guest here before it is submitted
)

// callFor makes a call about a run.
func (p *Peer) callFor(r *localrun.Run, op event.Op, purpose purpose) {
	r.Calling = true
	p.call(op, runCall{r.Tag, r.Instance, purpose})
}

func (c runCall) answered(p *Peer, result event.Result, err error) {
	r := p.rows.Runs[c.tag]
	if r == nil || r.Instance != c.instance {
		return
	}
	r.Calling = false
	switch c.purpose {
	case submitting:
		p.submitted(r, result, err)
	case finding:
		p.found(r, result, err)
	case verifying:
		p.verified(r, result, err)
	case withdrawing:
		p.withdrawn(r, result, err)
	case killing:
		p.killed(r, result, err)
	case supplying:
		p.supplied(r, result, err)
	}
	p.continueWithdrawal(r)
}

// retryAmbiguousSubmit is a submission that may or may not have worked: after a pause the
// local scheduler is asked.
func (p *Peer) retryAmbiguousSubmit(r *localrun.Run, err error) {
	p.rows.ExplainRun(r, "submission failed: "+err.Error()+"; the local scheduler is asked whether it has the job")
	p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: r.Tag.Job, Site: p.cfg.Site, Epoch: r.Tag.Epoch, Text: clip(
		"submit: " + err.Error() + "; the local scheduler is asked whether it has the job")})
	p.after(p.cfg.SubmitRecheckDelay+p.backoff(r.Tries), due.OfTag(due.RunTimer, r.Tag))
	r.Tries++
}

// found goes on with whether the local scheduler has a run that was submitted, or may have been.
func (p *Peer) found(r *localrun.Run, result event.Result, err error) {
	found, err := step.ResultAs[event.LookupResult](result, err)
	switch {
	case r.Phase != row.RunSubmitting: // a change has reported more meanwhile
	case r.Restored: // meanwhile an operator has said that the rows go on: they are checked again
		p.after(0, due.OfTag(due.RunTimer, r.Tag))
	case err != nil:
		p.rows.ExplainRun(r, "the local scheduler does not answer: "+err.Error())
		p.after(p.backoff(r.Tries), due.OfTag(due.RunTimer, r.Tag))
		r.Tries++
	case found.Presence == localsched.Present:
		p.inLocalQueue(r, found.Local)
	case found.Presence == localsched.Absent && r.Withdraw && p.holdReturn(r):
	case found.Presence == localsched.Absent && r.Withdraw:
		p.neverStarted(r)
	case found.Presence == localsched.Absent:
		p.submitRun(r)
	default:
		p.setAmbiguous(r, "the local scheduler cannot tell whether it has the job")
		p.after(p.cfg.RetryMax, due.OfTag(due.RunTimer, r.Tag))
	}
}

func (p *Peer) setAmbiguous(r *localrun.Run, why string) {
	if !r.Stick(why) {
		return
	}
	p.rows.SaveRun(r.Tag)
	p.logEvent(event.LogEvent{Kind: event.LogNeedsOperator, Job: r.Tag.Job, Site: p.cfg.Site, Epoch: r.Tag.Epoch, Text: why + "; it is asked again: see why it does not know"})
}

// inLocalQueue notes that the batch system has the job.
func (p *Peer) inLocalQueue(r *localrun.Run, local localsched.LocalID) {
	if r.Phase == row.RunSubmitting {
		p.moveRun(r, row.RunQueued)
		r.Local, r.Reason = local, ""
		p.tentatives.Drop(r.Tag)
		p.rows.SaveRun(r.Tag)
		p.report(r, protocol.Pending, r.Returned)
		p.awaitPlannedStarts()
	}
	if p.site.StopReason() == "" && p.site.Drain.StopsStarts() && p.mayReturn(r) {
		p.returnRun(r) // what became of it was not known when the drain began
	}
}

// refusedHere is a no before the job has come to the batch system, or by that: it is proven not started.
func (p *Peer) refusedHere(r *localrun.Run, why string) {
	if j := p.rows.Jobs[r.Tag.Job]; j != nil {
		p.dropRun(r.Tag)
		p.excludeHere(j, why)
		p.requeueGroup(j, event.LogJobRequeued, why)
		return
	}
	if p.rows.Guests[r.Tag.Job] != nil {
		p.report(r, protocol.Pending, why) // Recalled, which follows, has no words
	}
	p.neverStarted(r)
}

// withdrawRun wants a run out of the local queue; with kill also if it has started.
func (p *Peer) withdrawRun(r *localrun.Run, kill bool) {
	if r == nil {
		return
	}
	if r.BeginWithdrawal(kill) {
		p.rows.SaveRun(r.Tag)
		if r.Fetching {
			p.discard(r.Tag) // which ends the call
		}
	}
	p.continueWithdrawal(r)
}

// continueWithdrawal carries on with a run that is withdrawn.
func (p *Peer) continueWithdrawal(r *localrun.Run) {
	if p.rows.Runs[r.Tag] != r {
		return
	}
	op := r.Next(p.timers.Has(due.OfTag(due.RunTimer, r.Tag)))
	if op == nil {
		return
	}
	switch r.Phase {
	case row.RunSubmitting:
		p.callFor(r, op, finding)
	case row.RunQueued:
		p.callFor(r, op, withdrawing)
	case row.RunRunning:
		p.callFor(r, op, killing)
	case row.RunEnded:
	}
}

// withdrawn goes on with whether the run was taken out of the local queue.
func (p *Peer) withdrawn(r *localrun.Run, result event.Result, err error) {
	done, err := step.ResultAs[event.WithdrawResult](result, err)
	switch {
	case err != nil:
		p.rows.ExplainRun(r, "withdrawal from the local queue failed: "+err.Error()+"; tried again")
		r.Tries++
		p.after(p.backoff(r.Tries), due.OfTag(due.RunTimer, r.Tag))
	case r.Phase == row.RunQueued && done.Withdrawal == localsched.Withdrawn && p.holdReturn(r):
	case r.Phase == row.RunQueued && done.Withdrawal == localsched.Withdrawn:
		p.neverStarted(r)
	case r.Phase == row.RunQueued:
		p.moveRun(r, row.RunRunning) // the watch will say when it started
		p.ledger().NoteDraw(r)
		p.rows.SaveRun(r.Tag)
	}
}

// killed continues after the local scheduler was asked to end the run: it is asked again until the end
// is reported.
func (p *Peer) killed(r *localrun.Run, result event.Result, err error) {
	if _, err = step.ResultAs[event.KillResult](result, err); err != nil {
		p.rows.ExplainRun(r, "the local scheduler could not be asked to end it: "+err.Error()+"; tried again")
	}
	r.Tries++
	p.after(p.backoff(r.Tries), due.OfTag(due.RunTimer, r.Tag))
}

// neverStarted ends a run that is proven not to have started.
func (p *Peer) neverStarted(r *localrun.Run) {
	tag, why := r.Tag, cmp.Or(r.Returned, r.Reason) // of its reason the local scheduler may have said something since
	if g := p.rows.Guests[tag.Job]; r.Cancelled != "" && !g.Fenced {
		p.inLocalQueue(r, r.Local)
		p.runEnded(r, localsched.Change{Tag: tag, State: protocol.Cancelled})
		return
	}
	p.dropRun(tag)
	if j := p.rows.Jobs[tag.Job]; j != nil {
		p.requeueGroup(j, event.LogJobRequeued, why)
		return
	}
	if g := p.rows.Guests[tag.Job]; g != nil {
		p.tombstone(g, row.GuestAborted)
		g.ReturnUnacked, g.Tries = true, 0
		p.repeatGuest(tag.Job)
	}
}

// dropRun forgets a run, here and at the local scheduler.
func (p *Peer) dropRun(tag protocol.Tag) {
	if p.rows.Runs[tag] == nil {
		return
	}
	p.removeRun(tag)
	p.forget(tag)
}

// removeRun forgets a run here, and gives up the room that is held for it.
func (p *Peer) removeRun(tag protocol.Tag) {
	held, r := p.rows.HasReservation(tag), p.rows.Runs[tag]
	delete(p.rows.Runs, tag)
	p.ledger().NoteDraw(r)
	p.tentatives.Drop(tag)
	p.watched.DropEnd(tag)
	p.timers.Stop(due.OfTag(due.RunTimer, tag))
	p.timers.Stop(due.OfTag(due.ReportTimer, tag))
	p.timers.Stop(due.OfTag(due.StartByTimer, tag))
	p.rows.SaveRun(tag)
	if held {
		p.release(tag) // the job may never have come to take it
	}
}

func (p *Peer) forget(tag protocol.Tag) { p.call(event.ForgetOp{Tag: tag}, forgetRun{tag}) }

// forgetRun lets the local scheduler forget a run.
type forgetRun struct{ tag protocol.Tag }

func (c forgetRun) answered(p *Peer, _ event.Result, err error) {
	if err != nil {
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: c.tag.Job, Site: p.cfg.Site, Text: clip("forget: " + err.Error())})
	}
}

// report tells the origin, here or elsewhere, what a run does now.
func (p *Peer) report(r *localrun.Run, state protocol.State, reason string) {
	if j := p.rows.Jobs[r.Tag.Job]; j != nil {
		was := j.State
		j.State, j.Reason, j.Started, j.TimeLimit = state, clip(reason), r.Started, r.TimeLimit
		p.rows.SaveJob(r.Tag.Job)
		if state == protocol.Running && was != state {
			p.noteStarted(j)
			p.logEvent(event.LogEvent{Kind: event.LogJobStarted, Job: r.Tag.Job, Site: p.cfg.Site, Epoch: r.Tag.Epoch, State: state})
		}
		return
	}
	if state == protocol.Running {
		p.logEvent(event.LogEvent{Kind: event.LogGuestStarted, Job: r.Tag.Job, Site: p.rows.Guests[r.Tag.Job].Origin, Epoch: r.Tag.Epoch, State: state})
	}
	r.News(reason)
	p.rows.SaveRun(r.Tag)
	p.reportGuest(r.Tag)
}

// repeatRun makes the call that the run's phase asks for.
func (p *Peer) repeatRun(tag protocol.Tag) {
	r := p.rows.Runs[tag]
	if r == nil {
		return
	}
	switch {
	case r.Restored && r.Phase != row.RunEnded:
		p.verify(r)
	case r.Phase == row.RunSubmitting && !r.Calling:
		p.callFor(r, event.LookupOp{Tag: r.Tag}, finding)
	default:
		p.continueWithdrawal(r)
	}
}

// reportGuest sends the origin what it has not acknowledged, and sets the timer
// to send it again.
func (p *Peer) reportGuest(tag protocol.Tag) {
	g, r := p.rows.Guests[tag.Job], p.rows.Runs[tag]
	if g == nil || r == nil || g.Fenced {
		return
	}
	if !p.site.Mute() { // else the rows may be a copy's
		report := r.Report(p.now)
		if report == nil {
			return
		}
		p.send(g.Origin, report)
	}
	p.after(p.backoff(r.Reports), due.OfTag(due.ReportTimer, tag))
	r.Reports++
}
