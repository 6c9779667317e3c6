package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job array is one row until its elements are placed. Elements become jobs in their order, some at a time, as those
// before them start (see [tables.Array.Room]); from then on each is a job as any other. So an array is submitted,
// listed and, as far as it is not placed, cancelled at once, however large it is; and what waits of it is placed
// where it starts soonest when its turn comes, not when it was submitted.

// newArray takes an array in, and returns what its user should know of it.
func (p *Peer) newArray(desk *admission.Desk, ev event.Submit) (notices []string) {
	one := &ev.Jobs[0]
	id := protocol.NewJobID(p.cfg.Number, p.site.NextSeq)
	p.site.NextSeq += one.Array.Block()
	stored, payload := desk.Array(one, desk.Spec(one, ev.User, id, p.now))
	if desk.Unknown(&stored.Job) {
		notices = []string{admission.UnknownNotice(id)}
	}
	p.rows.AddArray(&tables.Array{Array: stored}, &payload)
	p.setArrayTimer(p.rows.Arrays[id])
	p.settleSingleton(id)
	p.askOutcomes(id)
	p.logEvent(event.LogEvent{Kind: event.LogArraySubmitted, Job: id, Text: stored.Job.Spec.Name + ", elements " + one.Array.String()})
	return notices
}

// setArrayTimer sets the next instant at which pending elements may be placed, or must have started.
func (p *Peer) setArrayTimer(a *tables.Array) {
	timer, next, latest := due.OfJob(due.HoldTimer, a.ID()), a.Job.NextRelease(p.now), a.Job.LatestStart()
	switch {
	case !dyingElements(a).IsZero():
		p.timers.Set(timer, p.now)
	case next != 0:
		p.timers.Set(timer, next)
	case latest != 0 && !a.Pending.IsZero():
		p.timers.Set(timer, max(latest+1, p.now))
	}
}

// arrayDue goes on with an array whose begin has come, or ends its pending elements, which can no longer end by their
// deadline.
func (p *Peer) arrayDue(a *tables.Array) {
	if p.site.StopReason() != "" {
		p.after(p.cfg.RetryMax, due.OfJob(due.HoldTimer, a.ID()))
		return
	}
	dying := dyingElements(a)
	if latest := a.Job.LatestStart(); latest != 0 && latest < p.now {
		dying = a.Pending
	}
	if !dying.IsZero() {
		p.endPending(a, dying, "")
	}
	if a.Pending.IsZero() {
		return
	}
	p.setArrayTimer(a)
	p.rows.SaveArray(a)
}

// endPending ends elements that are no jobs, and the array if they were the last.
func (p *Peer) endPending(a *tables.Array, which protocol.Indexes, by string) {
	if !which.IsZero() {
		a.NoteCancelling(by)
		p.rows.EndPending(a, which)
		p.noteElementsEnd(a, which)
	}
	p.leaveArray(a)
}

// drawElements makes jobs of the elements of arrays that are to be placed next.
func (p *Peer) drawElements() {
	p.rows.CountElements()
	if p.site.StopReason() != "" || !p.rows.HasRoom(p.now) {
		return
	}
	for _, a := range p.rows.WithRoom(p.now) {
		for _, j := range p.rows.Followers(a) {
			p.enqueue(j)
		}
		p.admitElements(p.rows.DrawNext(a, a.Ready(p.now), a.Room(p.now))...)
	}
}

// admitElements puts elements that have just become jobs into the grid queue.
func (p *Peer) admitElements(jobs ...*tables.Job) {
	desk := p.admission()
	for _, j := range jobs {
		j.NoEligibleSite = desk.Unknown(&j.Job)
		p.admitJob(j)
	}
}

// setArrayHold holds the elements of an array that have not started, or releases them.
func (p *Peer) setArrayHold(ev event.SetHold, a *tables.Array, verb string) {
	refusal, refused := p.answers().RefuseChange(&a.Job, ev.User, ev.Admin, verb)
	if !refused && !ev.Hold {
		refusal, refused = refuseRelease(&a.Job, ev.Admin)
	}
	if refused {
		p.answer(ev.Asked, refusal)
		return
	}
	p.answer(ev.Asked, view.Done{})
	if ev.Hold {
		a.Job.SetHold(newHold(&a.Job, ev.User))
	} else {
		a.Job.SetHold("")
	}
	p.rows.SaveArray(a)
	for _, j := range a.JobsOf(a.Asked.Indexes) {
		if !ev.Hold {
			if _, refused := refuseRelease(&j.Job, ev.Admin); !refused {
				p.releaseJob(j, ev.User)
			}
		} else if _, refused := p.refuseHold(j); !refused { // one that runs goes on
			p.holdJob(j, ev.User)
		}
	}
}

// drawAllElements makes jobs of all elements: the rows may be older than what has become of them.
func (p *Peer) drawAllElements() {
	for _, id := range p.rows.ArrayIDs() {
		a := p.rows.Arrays[id]
		p.rows.DrawNext(a, a.Pending, a.Pending.Len())
	}
}

// leaveArray has an array end with its last element.
func (p *Peer) leaveArray(a *tables.Array) {
	if a == nil || !a.Over() || p.rows.Arrays[a.ID()] != a {
		return
	}
	p.timers.Stop(due.OfJob(due.HoldTimer, a.ID()))
	p.timers.Stop(due.OfJob(due.DependencyTimer, a.ID()))
	p.rows.RemoveArray(a)
	v := p.answers().EndedArray(a)
	p.noteEnd(&a.Job, v.State, p.now)
	p.logEvent(event.LogEvent{Kind: event.LogArrayEnded, Job: a.ID(), State: v.State, Text: v.Array.Text()})
	p.out.Records = append(p.out.Records, row.Record{Table: row.ArchiveTable, Key: row.JobKey(a.ID()), Row: row.Archived{View: v}})
}

// cancelElements makes the cancellation of an array, or of some elements of it, durable and starts it. Elements that
// are no jobs yet end at once, together.
func (p *Peer) cancelElements(ev event.Cancel, a *tables.Array, wanted protocol.Indexes) {
	if refusal, refused := p.answers().RefuseChange(&a.Job, ev.User, ev.Admin, "cancel"); refused {
		p.answer(ev.Asked, refusal)
		return
	}
	if refusal, refused := refuseUnknownElements(a, wanted); refused {
		p.answer(ev.Asked, refusal)
		return
	}
	pending, jobs := a.Pending.And(wanted), a.JobsOf(wanted)
	if pending.IsZero() && len(jobs) == 0 {
		p.answer(ev.Asked, view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf("the elements %v of array %v have ended", wanted, a.ID())})
		return
	}
	if p.site.MayHaveRun(row.JobInGridQueue) != "" && !pending.IsZero() { // an element that is no job by these rows may be running
		p.answer(ev.Asked, view.Refusal{Code: view.Unavailable, Reason: fmt.Sprintf(
			"what has become of array %v is not known: an operator must run switchyard recover --resume first", a.ID())})
		return
	}
	p.answer(ev.Asked, view.Done{})
	p.logEvent(event.LogEvent{Kind: event.LogCancelRequested, Job: a.ID(), Text: "elements " + wanted.String() + ", by " + ev.User})
	for _, j := range jobs {
		p.cancelJob(j, ev.User)
	}
	p.endPending(a, pending, ev.User)
}

// refuseUnknownElements says of which elements that are named an array has none; false: it has them all.
func refuseUnknownElements(a *tables.Array, wanted protocol.Indexes) (view.Refusal, bool) {
	unknown := wanted.Without(a.Asked.Indexes)
	if unknown.IsZero() {
		return view.Refusal{}, false
	}
	return view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf(
		"array %v has no elements %v; its elements are %v", a.ID(), unknown, a.Asked.Indexes)}, true
}
