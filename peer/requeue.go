package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job that runs is requeued as it is cancelled: the word is durable first, and then the job is ended where it runs. When
// that is proven by its end, it goes back into the grid queue instead of leaving the rows; a partner's files come home
// before. So it never runs twice at a time, and a crash or a cut link only delays it.

// requeueAsked has jobs start again.
func (p *Peer) requeueAsked(ev event.Requeue) {
	if ev.Force {
		p.requeueForced(ev)
		return
	}
	if a := p.rows.Arrays[ev.Job]; a != nil {
		p.requeueElements(ev, a)
		return
	}
	if a, index, ok := p.rows.ElementOf(ev.Job); ok && p.rows.Jobs[ev.Job] == nil {
		ev.Elements = protocol.IndexesOf(index)
		p.requeueElements(ev, a)
		return
	}
	j, refusal := p.answers().MayChange(ev.Job, ev.User, ev.Admin, "requeue")
	if j == nil {
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

// requeueElements has those elements of an array start again that run.
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
	case len(run) > 0:
		p.answer(ev.Asked, view.Done{})
	case why.Reason != "":
		p.answer(ev.Asked, why)
	case a.Pending.And(wanted).IsZero():
		p.answer(ev.Asked, view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf("the elements %v of array %v have ended", wanted, a.ID())})
	default:
		p.answer(ev.Asked, view.Refusal{Code: view.Unavailable, Reason: fmt.Sprintf(
			"the elements %v of array %v cannot be requeued: they are %v", wanted, a.ID(), protocol.Pending)})
	}
	for _, j := range run {
		p.requeueRunning(j, ev)
	}
}

// refuseRequeue is why a job cannot be requeued; false: it can be.
func (p *Peer) refuseRequeue(j *tables.Job) (view.Refusal, bool) {
	var why string
	switch needs := p.answers().NeedsOperator(j); {
	case needs != "":
		why = "it needs an operator: " + needs + "; `switchyard requeue --force` accepts that it may run twice"
	case p.site.StopReason() != "":
		why = p.site.StopReason()
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
	return view.Refusal{Code: view.Unavailable, Reason: fmt.Sprintf("job %v cannot be requeued: %s", j.Spec.Job, why)}, true
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
		p.rerun(j, "its user has it start again")
		return
	}
	p.finishWith(j)
}
