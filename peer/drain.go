package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A drain is a row: of the local site in that of the site, of a partner in that of the partner. What it stops is
// stopped where jobs are quoted, taken and placed, so that it holds after a restart, too. What is under way when it
// begins goes on by the messages of hand-offs that there are: an offer without a grant is aborted, what waits in a local
// queue that starts no jobs, or at an isolated partner, is withdrawn or recalled as one that is held. The batch system
// alone knows whether that has started meanwhile, and then it stays. Groups for which CPUs are reserved go on.

// maxDrainReason bounds the reason of a drain, in bytes. It goes to partners with every quote.
const maxDrainReason = 512

// setDrain drains the local site or a partner, or resumes it.
func (p *Peer) setDrain(ev event.SetDrain) {
	one := p.partners.Of(ev.Site)
	if refusal, refused := p.refuseDrain(ev, one); refused {
		p.answer(ev.Asked, refusal)
		return
	}
	drain := &view.Drain{Scope: ev.Scope, Reason: ev.Reason, By: ev.User, Since: p.now}
	said := event.LogEvent{Kind: event.LogDrained, Site: ev.Site, Text: fmt.Sprintf("by %s; %s", ev.User, drain)}
	if ev.Scope == "" {
		drain, said.Kind, said.Text = nil, event.LogResumed, "by "+ev.User
	}
	if one == nil {
		p.site.Drain = drain
		p.rows.SaveSite()
	} else {
		one.Row.Drain = drain
		p.rows.SaveDrain(one.Site)
	}
	p.logEvent(said)
	p.answer(ev.Asked, view.Done{})
	p.dropRound() // its quotes may be of a site that is drained now
	if p.trial != nil {
		p.closeRound(p.trial)
	}
	p.carryOutDrains()
	for _, other := range p.partners.All() {
		if one == nil || one == other {
			p.tellDraining(other)
		}
	}
	p.queue.UnparkAll(gridqueue.Any)
	p.queue.ResumeAll()
	p.queue.Unblock(gridqueue.Any)
}

// refuseDrain is why a site cannot be drained so; false: it can be. The partner is nil if the site is the local one,
// or none.
func (p *Peer) refuseDrain(ev event.SetDrain, one *partner.Partner) (view.Refusal, bool) {
	switch local := ev.Site == p.cfg.Site; {
	case !ev.Admin:
		return view.Refusal{Code: view.Denied, Reason: "only root, the peer's account and the administrators of the site may drain, isolate and resume sites; you are " + ev.User}, true
	case !local && one == nil:
		return view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf("site %q is neither this site nor a partner of it; `switchyard sites` lists them", ev.Site)}, true
	case ev.Scope == "":
		return view.Refusal{}, false
	case local && !ev.Scope.OfSelf() || !local && !ev.Scope.OfPartner():
		return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf("%s cannot be drained with the scope %q: this site has the scopes guests and starts, a partner send, receive, both and isolated", ev.Site, ev.Scope)}, true
	case ev.Reason == "":
		return view.Refusal{Code: view.BadRequest, Reason: "no reason is given; users and partners are shown it"}, true
	case len(ev.Reason) > maxDrainReason:
		return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf("the reason has %d bytes; give one of at most %d", len(ev.Reason), maxDrainReason)}, true
	case one != nil && one.Row.Drain.Isolates() && ev.Scope != view.DrainIsolated:
		return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf("%s is isolated; resume it before it is drained otherwise", ev.Site)}, true
	}
	if err := protocol.CheckText(ev.Reason); err != nil {
		return view.Refusal{Code: view.BadRequest, Reason: "reason: " + err.Error()}, true
	}
	return view.Refusal{}, false
}

// tellDraining says to a partner whether its jobs are taken. It is for display there alone, and a later quote says it again.
func (p *Peer) tellDraining(one *partner.Partner) {
	if one.Available() {
		p.send(one.Site, p.host().Complete(one, protocol.QuoteReply{}))
	}
}

// carryOutDrains ends what the drains stop and what has begun before them.
func (p *Peer) carryOutDrains() {
	if p.site.StopReason() != "" {
		return // nothing is placed, and nothing starts; see resumeStarts
	}
	for _, id := range p.rows.JobIDs() {
		j := p.rows.Jobs[id]
		if j == nil { // another one of its group has brought it back
			continue
		}
		if one := p.partners.Of(j.Site); one != nil && one.Row.Drain.StopsSending() {
			p.takeBack(j, one)
		}
	}
	for _, id := range p.rows.GuestIDs() {
		g := p.rows.Guests[id]
		if one := p.partners.Of(g.Origin); one != nil && one.Row.Drain.Isolates() && g.Phase == row.GuestPrepared {
			p.tombstone(g, row.GuestAborted)
		}
	}
	if !p.site.Drain.StopsStarts() {
		return
	}
	for _, tag := range p.rows.RunTags() {
		if r := p.rows.Runs[tag]; r != nil && p.mayReturn(r) {
			p.returnRun(r)
		}
	}
}

// takeBack has a job of this origin come back from a partner that is drained: an offer is aborted, and a job that
// waits at an isolated one is recalled.
func (p *Peer) takeBack(j *tables.Job, one *partner.Partner) {
	why := fmt.Sprintf("%s is %s", one.Site, one.Row.Drain)
	switch {
	case j.Cancelling || p.answers().NeedsOperator(j) != "":
	case j.Phase == row.JobOffered && j.ReserveFrom != 0:
		p.abortGroupOf(j, why)
	case j.Phase == row.JobOffered:
		p.recallJob(j, why)
	case one.Row.Drain.Isolates() && j.ReserveFrom == 0 && j.State == protocol.Pending && (j.Phase == row.JobGranted || j.Phase == row.JobHandedOff):
		p.recallJob(j, why)
	}
}

// mayReturn says whether a run is one that does not start at a site which starts no jobs: it has not started, and no
// CPUs are reserved for it.
func (p *Peer) mayReturn(r *localrun.Run) bool {
	if r.OperatorReason != "" || r.Phase != row.RunSubmitting && r.Phase != row.RunQueued {
		return false // [Peer.inLocalQueue] or [Peer.drained] looks again once the batch system knows
	}
	return p.returnable(r)
}

// returnable is mayReturn for a run of which it is known that it has not started.
func (p *Peer) returnable(r *localrun.Run) bool {
	if r.Withdraw || r.Restored {
		return false
	}
	if j := p.rows.Jobs[r.Tag.Job]; j != nil {
		return j.Tag() == r.Tag && j.Phase == row.JobCommittedLocal && j.ReserveFrom == 0
	}
	g := p.rows.Guests[r.Tag.Job]
	return g != nil && g.Tag() == r.Tag && g.Phase == row.GuestAccepted && g.ReserveFrom == 0
}

// returnRun takes a run out of the local queue because no job starts here. Its job goes back into the grid queue of its
// origin, unless it has started.
func (p *Peer) returnRun(r *localrun.Run) {
	p.explainReturn(r)
	p.withdrawRun(r, false)
}

// explainReturn says why a job goes back to its origin: [protocol.Recalled], which follows for a guest, has no words.
func (p *Peer) explainReturn(r *localrun.Run) {
	why := p.site.Drain.Draining()
	p.rows.ReturnRun(r, why)
	if p.rows.Guests[r.Tag.Job] != nil {
		p.report(r, protocol.Pending, why)
	}
}

// drained gives a run back that is not to be submitted any more, and says whether it has.
func (p *Peer) drained(r *localrun.Run) bool {
	if !p.site.Drain.StopsStarts() || r.Phase != row.RunSubmitting || !p.returnable(r) {
		return false
	}
	p.explainReturn(r)
	p.neverStarted(r)
	return true
}
