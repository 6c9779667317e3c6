package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
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

// drawAllElements makes jobs of all elements: the rows may be older than what has become of them.
func (p *Peer) drawAllElements() {
	for _, id := range p.rows.ArrayIDs() {
		a := p.rows.Arrays[id]
		p.rows.DrawNext(a, a.Pending, a.Pending.Len())
	}
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
