package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A run is a placement in the own local queue, of a job of this origin or of a
// guest. Both follow the same path: SUBMITTING is durable, then Submit; after an
// unclear answer or a restart FindByTag; only a job that is reliably absent is
// submitted again.

// commitHome moves a job of this origin to the own local queue.
func (p *Peer) commitHome(j *job, awt protocol.Duration) {
	account, err := p.cfg.Accounts.Local(j.Spec.User)
	if err != nil {
		p.shunHere(j, err.Error())
		j.Unplace()
		p.hold(j, p.cfg.Sigma, err.Error(), "")
		return
	}
	j.NextEpoch()
	p.moveJob(j, row.JobCommittedLocal)
	j.Site, j.QuotedAWT, j.Placed = p.cfg.Site, awt, p.now
	p.queue.Remove(j.Spec.Job)
	p.saveJob(j.Spec.Job)
	p.fact(event.Fact{Kind: event.JobCommitted, Job: j.Spec.Job, Site: p.cfg.Site, Epoch: j.Epoch})
	p.startRun(j.tag(), account, j.Spec)
}

func (p *Peer) startRun(tag protocol.Tag, account string, spec protocol.Spec) {
	p.submitRun(p.addRun(tag, account, spec))
}

// addRun makes a placement durable before anything of it is done.
func (p *Peer) addRun(tag protocol.Tag, account string, spec protocol.Spec) *run {
	request := spec.On(&p.cfg.Capacity)
	r := &run{
		Run:      row.Run{Tag: tag, Phase: row.RunSubmitting, Account: account, Since: p.now},
		instance: p.nextInstance(),
		request:  request,
	}
	p.runs[tag] = r
	if j := p.jobs[tag.Job]; j != nil && j.tag() == tag && j.Tariff == nil { // it is agreed on where room was held
		j.Tariff = p.desk().TariffOf(&j.Spec, p.now)
		p.saveJob(tag.Job)
	}
	delete(p.aside, tag)
	if !p.holds(tag) {
		p.tentatives.Add(tag, p.now, request)
	}
	p.watchStartBy(tag)
	p.saveRun(tag)
	return r
}

func (p *Peer) submitRun(r *run) {
	if p.site.StopReason() != "" {
		r.waits = true // for goOn
		return
	}
	if p.tooLate(r) {
		return
	}
	submission, ok := p.submission(r)
	if !ok {
		return
	}
	p.callFor(r, event.SubmitOp{Job: submission}, submitRun{r.id()})
}

// submitRun puts a run in the local queue.
type submitRun struct{ runID }

func (c submitRun) answered(p *Peer, result event.Result, err error) {
	r := p.calledFor(c.runID)
	if r == nil {
		return
	}
	done, err := resultAs[event.SubmitResult](result, err)
	switch {
	case r.Phase != row.RunSubmitting: // a change told more meanwhile
		r.Local = cmp.Or(r.Local, done.Local)
		p.saveRun(r.Tag)
	case err != nil:
		p.unclear(r, err)
	case done.Refused != "":
		p.refusedHere(r, done.Refused)
	default:
		p.inLocalQueue(r, done.Local)
	}
	p.pursue(r)
}

// holds says whether the batch system holds room for a placement.
func (p *Peer) holds(tag protocol.Tag) bool {
	if j := p.jobs[tag.Job]; j != nil {
		return j.Held != 0 && j.tag() == tag
	}
	g := p.guests[tag.Job]
	return g != nil && g.Held != 0 && g.tag() == tag
}

func (p *Peer) submission(r *run) (localsched.Submission, bool) {
	s := localsched.Submission{Tag: r.Tag, Account: r.Account, Origin: p.cfg.Site, StartBy: p.startBy(r.Tag)}
	switch j, g := p.jobs[r.Tag.Job], p.guests[r.Tag.Job]; {
	case j != nil:
		s.Spec, s.Payload = j.Spec, j.payload()
	case g != nil:
		s.Spec, s.Payload, s.Origin, s.Guest = g.Spec, g.payload, g.Origin, true
	default:
		return s, false
	}
	s.Payload = p.desk().AtSpeed(&s, p.now)
	s.Spec.Request = r.request
	return s, true
}

// runID names a run to the calls about it: once a guest is forgotten, its tag may come again and
// have another run.
type runID struct {
	tag      protocol.Tag
	instance instance
}

func (r *run) id() runID { return runID{r.Tag, r.instance} }

// runOf is the run of the id; nil: it has gone.
func (p *Peer) runOf(id runID) *run {
	if r := p.runs[id.tag]; r != nil && r.instance == id.instance {
		return r
	}
	return nil
}

// callFor makes a call about a run, one at a time. What waits for the answer begins with
// [Peer.calledFor], and pursues the run in the end.
func (p *Peer) callFor(r *run, op event.Op, then pending) {
	r.calling = true
	p.call(op, then)
}

// calledFor is the run that an answered call was about. It is nil when the run has gone: then the
// answer is dropped.
func (p *Peer) calledFor(id runID) *run {
	r := p.runOf(id)
	if r != nil {
		r.calling = false
	}
	return r
}

// unclear is a submission that may or may not have worked: after a pause the
// local scheduler is asked.
func (p *Peer) unclear(r *run, err error) {
	p.setRunReason(r, "submission failed: "+err.Error()+"; the local scheduler is asked whether it has the job")
	p.fact(event.Fact{Kind: event.CallFailed, Job: r.Tag.Job, Site: p.cfg.Site, Epoch: r.Tag.Epoch, Text: clip(
		"submit: " + err.Error() + "; the local scheduler is asked whether it has the job")})
	p.after(p.cfg.Settle+p.backoff(r.tries), runTimerOf(r.Tag))
	r.tries++
}

// find asks the local scheduler whether it has the job.
func (p *Peer) find(r *run) {
	if r.calling {
		return
	}
	p.callFor(r, event.FindOp{Tag: r.Tag}, findRun{r.id()})
}

// findRun asks whether the local scheduler has a run that was submitted, or may have been.
type findRun struct{ runID }

func (c findRun) answered(p *Peer, result event.Result, err error) {
	r := p.calledFor(c.runID)
	if r == nil {
		return
	}
	found, err := resultAs[event.FindResult](result, err)
	switch {
	case r.Phase != row.RunSubmitting: // a change told more meanwhile
	case r.Restored: // meanwhile an operator has said that the rows go on: they are looked at anew
		p.after(0, runTimerOf(r.Tag))
	case err != nil:
		p.setRunReason(r, "the local scheduler does not answer: "+err.Error())
		p.after(p.backoff(r.tries), runTimerOf(r.Tag))
		r.tries++
	case found.Presence == localsched.Present:
		p.inLocalQueue(r, found.Local)
	case found.Presence == localsched.Absent && r.Withdraw:
		p.neverStarted(r)
	case found.Presence == localsched.Absent:
		p.submitRun(r)
	default:
		p.stuck(r, "the local scheduler cannot tell whether it has the job")
		p.after(p.cfg.RetryMax, runTimerOf(r.Tag))
	}
	p.pursue(r)
}

func (p *Peer) stuck(r *run, why string) {
	if r.Stuck == why {
		return
	}
	r.Stuck = why
	p.saveRun(r.Tag)
	p.fact(event.Fact{Kind: event.NeedsOperator, Job: r.Tag.Job, Site: p.cfg.Site, Epoch: r.Tag.Epoch, Text: why + "; it is asked again: see why it does not know"})
}

// inLocalQueue notes that the batch system has the job.
func (p *Peer) inLocalQueue(r *run, local localsched.LocalID) {
	if r.Phase != row.RunSubmitting {
		return
	}
	p.moveRun(r, row.RunQueued)
	r.Local, r.Reason = local, ""
	p.tentatives.Drop(r.Tag)
	p.saveRun(r.Tag)
	p.report(r, protocol.Pending, "")
}

// refusedHere is the batch system's no: the job is proven not started.
func (p *Peer) refusedHere(r *run, why string) {
	if j := p.jobs[r.Tag.Job]; j != nil {
		p.dropRun(r.Tag)
		p.shunHere(j, refusedByScheduler+why)
		p.comeBack(j, event.JobReturned, refusedByScheduler+why)
		return
	}
	if p.guests[r.Tag.Job] != nil {
		p.report(r, protocol.Pending, refusedByScheduler+why) // Recalled, which follows, has no words
	}
	p.neverStarted(r)
}

// takeBack wants a run out of the local queue; with kill also if it has started.
func (p *Peer) takeBack(r *run, kill bool) {
	if r == nil {
		return
	}
	if !r.Withdraw || (kill && !r.Kill) {
		r.Withdraw, r.Kill, r.tries = true, r.Kill || kill, 0
		p.saveRun(r.Tag)
	}
	p.pursue(r)
}

// pursue carries on with a run that is wanted back.
func (p *Peer) pursue(r *run) {
	if p.runs[r.Tag] != r || r.calling || !r.Withdraw {
		return
	}
	switch r.Phase {
	case row.RunSubmitting:
		if !p.timers.Has(runTimerOf(r.Tag)) {
			p.find(r)
		}
	case row.RunQueued:
		p.withdraw(r)
	case row.RunRunning:
		if r.Kill {
			p.kill(r)
		}
	case row.RunEnded:
	}
}

func (p *Peer) withdraw(r *run) {
	if p.timers.Has(runTimerOf(r.Tag)) && r.tries > 0 {
		return
	}
	p.callFor(r, event.WithdrawOp{Tag: r.Tag}, withdrawRun{r.id()})
}

// withdrawRun takes a run that is not wanted any more out of the local queue.
type withdrawRun struct{ runID }

func (c withdrawRun) answered(p *Peer, result event.Result, err error) {
	r := p.calledFor(c.runID)
	if r == nil {
		return
	}
	done, err := resultAs[event.WithdrawResult](result, err)
	switch {
	case err != nil:
		p.setRunReason(r, "withdrawal from the local queue failed: "+err.Error()+"; tried again")
		r.tries++
		p.after(p.backoff(r.tries), runTimerOf(r.Tag))
	case r.Phase == row.RunQueued && done.Withdrawal == localsched.Withdrawn:
		p.neverStarted(r)
	case r.Phase == row.RunQueued:
		p.moveRun(r, row.RunRunning) // the watch will say when it started
		p.noteDraw(r)
		p.saveRun(r.Tag)
	}
	p.pursue(r)
}

func (p *Peer) kill(r *run) {
	if p.timers.Has(runTimerOf(r.Tag)) && r.tries > 0 {
		return
	}
	p.callFor(r, event.KillOp{Tag: r.Tag}, killRun{r.id()})
}

// killRun ends a run that has started and is not wanted any more.
type killRun struct{ runID }

func (c killRun) answered(p *Peer, result event.Result, err error) {
	r := p.calledFor(c.runID)
	if r == nil {
		return
	}
	if _, err = resultAs[event.KillResult](result, err); err != nil {
		p.setRunReason(r, "the local scheduler could not be told to end it: "+err.Error()+"; tried again")
	}
	r.tries++ // again until the end is reported
	p.after(p.backoff(r.tries), runTimerOf(r.Tag))
	p.pursue(r)
}

// neverStarted ends a run that is proven not to have started.
func (p *Peer) neverStarted(r *run) {
	tag, why := r.Tag, r.Reason
	p.dropRun(tag)
	if j := p.jobs[tag.Job]; j != nil {
		p.comeBack(j, event.JobReturned, why)
		return
	}
	if g := p.guests[tag.Job]; g != nil {
		p.bury(g, row.GuestAborted)
		g.Untold, g.tries = true, 0
		p.repeatGuest(tag.Job)
	}
}

// dropRun forgets a run, here and at the local scheduler.
func (p *Peer) dropRun(tag protocol.Tag) {
	if p.runs[tag] == nil {
		return
	}
	p.removeRun(tag)
	p.forget(tag)
}

// removeRun forgets a run here, and gives up the room that is held for it.
func (p *Peer) removeRun(tag protocol.Tag) {
	held, r := p.holds(tag), p.runs[tag]
	delete(p.runs, tag)
	p.noteDraw(r)
	p.tentatives.Drop(tag)
	p.timers.Stop(runTimerOf(tag))
	p.timers.Stop(reportTimerOf(tag))
	p.timers.Stop(startByTimerOf(tag))
	p.saveRun(tag)
	if held {
		p.release(tag) // the job may never have come to take it
	}
}

func (p *Peer) forget(tag protocol.Tag) { p.call(event.ForgetOp{Tag: tag}, forgetRun{tag}) }

// forgetRun lets the local scheduler forget a run.
type forgetRun struct{ tag protocol.Tag }

func (c forgetRun) answered(p *Peer, _ event.Result, err error) {
	if err != nil {
		p.fact(event.Fact{Kind: event.CallFailed, Job: c.tag.Job, Site: p.cfg.Site, Text: clip("forget: " + err.Error())})
	}
}

// report tells the origin, here or elsewhere, what a run does now.
func (p *Peer) report(r *run, state protocol.State, reason string) {
	if j := p.jobs[r.Tag.Job]; j != nil {
		was := j.State
		j.State, j.Reason, j.Started = state, clip(reason), r.Started
		p.saveJob(r.Tag.Job)
		if state == protocol.Running && was != state {
			p.fact(event.Fact{Kind: event.JobStarted, Job: r.Tag.Job, Site: p.cfg.Site, Epoch: r.Tag.Epoch, State: state})
		}
		return
	}
	if state == protocol.Running {
		p.fact(event.Fact{Kind: event.GuestStarted, Job: r.Tag.Job, Site: p.guests[r.Tag.Job].Origin, Epoch: r.Tag.Epoch, State: state})
	}
	r.Seq++
	r.Reason = clip(reason)
	r.reports = 0
	p.saveRun(r.Tag)
	p.reportGuest(r.Tag)
}

func (p *Peer) setRunReason(r *run, reason string) {
	reason = clip(reason)
	if r.Reason == reason {
		return
	}
	r.Reason = reason
	p.saveRun(r.Tag)
	if j := p.jobs[r.Tag.Job]; j != nil {
		j.Reason = reason
		p.saveJob(r.Tag.Job)
	}
}

// repeatRun makes the call that the run's phase asks for.
func (p *Peer) repeatRun(tag protocol.Tag) {
	r := p.runs[tag]
	if r == nil {
		return
	}
	switch {
	case r.Restored && r.Phase != row.RunEnded:
		p.verify(r)
	case r.Phase == row.RunSubmitting:
		p.find(r)
	default:
		p.pursue(r)
	}
}

// reportGuest sends the origin what it has not acknowledged, and sets the timer
// to send it again.
func (p *Peer) reportGuest(tag protocol.Tag) {
	g, r := p.guests[tag.Job], p.runs[tag]
	if g == nil || r == nil || g.Fenced {
		return
	}
	switch {
	case p.site.Mute(): // the rows may be a copy's
	case r.Phase == row.RunEnded:
		p.send(g.Origin, protocol.Result{Tag: r.Tag, Outcome: *r.Outcome, Started: r.Started, Ended: r.Over(), At: p.now})
	case r.Acked < r.Seq:
		p.send(g.Origin, p.statusOf(r))
	default:
		return
	}
	p.after(p.backoff(r.reports), reportTimerOf(tag))
	r.reports++
}

func (p *Peer) statusOf(r *run) protocol.Status {
	s := protocol.Status{Tag: r.Tag, Seq: r.Seq, State: protocol.Pending, Reason: r.Reason, Waited: max(0, p.now.Sub(r.Since)), At: p.now}
	if r.Phase == row.RunRunning && r.Started != 0 {
		s.State = protocol.Running
		s.Waited = max(0, r.Started.Sub(r.Since))
		s.Ran = max(0, p.now.Sub(r.Started))
	}
	return s
}

func runTimerOf(tag protocol.Tag) timer {
	return timer{kind: runTimer, job: tag.Job, epoch: tag.Epoch}
}

func reportTimerOf(tag protocol.Tag) timer {
	return timer{kind: reportTimer, job: tag.Job, epoch: tag.Epoch}
}

func compareTags(a, b protocol.Tag) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Epoch, b.Epoch))
}
