package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// watch waits for the next changes in the local queue. When that fails it is tried again, less
// and less often; people are told once, and once when it works again.
func (p *Peer) watch() {
	p.call(event.WatchOp{After: p.cursor}, watchQueue{})
}

// watchQueue waits for the next changes in the local queue.
type watchQueue struct{}

func (watchQueue) answered(p *Peer, result event.Result, err error) {
	watched, err := resultAs[event.WatchResult](result, err)
	if err != nil {
		if p.unwatched == 0 {
			p.fact(event.Fact{Kind: event.CallFailed, Site: p.cfg.Site, Text: clip("watch: " + err.Error() + "; what happens in the local queue is not heard; tried again until it works")})
		}
		p.after(p.backoff(p.unwatched), timer{kind: watchTimer})
		p.unwatched++
		return
	}
	if p.unwatched > 0 {
		p.fact(event.Fact{Kind: event.CallWorks, Site: p.cfg.Site, Text: "watch: it works again after " + protocol.Count(p.unwatched, "failure")})
		p.unwatched = 0
	}
	for _, change := range watched.Watched.Changes {
		p.changed(change)
	}
	p.setLoad(watched.Watched.Load)
	p.cursor = watched.Watched.Cursor
	p.keepCursor()
	p.watch()
}

// keepCursor makes durable how far the local queue was watched. As long as that has jobs which no
// row knows, a restart must be told of them again.
func (p *Peer) keepCursor() {
	if len(p.aside) == 0 && p.site.Cursor != p.cursor {
		p.site.Cursor = p.cursor
		p.saveSite()
	}
}

// changed takes one change in the local queue. Changes may be repeated.
func (p *Peer) changed(c localsched.Change) {
	r := p.runs[c.Tag]
	if r == nil {
		switch {
		case !p.closedHere(c.Tag):
			p.setAside(c)
		case c.State.Terminal():
			p.forget(c.Tag) // its end was taken in an earlier life
		}
		return
	}
	if !r.Copied || c.State != protocol.Pending {
		p.confirm(r)
	}
	switch {
	case r.Phase == row.RunEnded:
	case p.neverBegan(r, c):
		p.missedAtLast(r)
		return
	case c.State.Terminal():
		p.inLocalQueue(r, r.Local)
		p.runEnded(r, c)
		p.queueMoved()
	case c.State == protocol.Running:
		p.inLocalQueue(r, r.Local)
		if r.Phase == row.RunRunning && r.Started != 0 {
			p.runsOn(r, c.Reason)
		}
		p.runStarted(r, c)
	default:
		p.inLocalQueue(r, r.Local)
		p.setRunReason(r, c.Reason)
	}
	p.pursue(r)
}

func (p *Peer) runStarted(r *run, c localsched.Change) {
	if r.Phase == row.RunRunning && r.Started != 0 {
		return
	}
	p.moveRun(r, row.RunRunning)
	r.Started = cmp.Or(c.Started, p.now)
	p.noteDraw(r)
	p.saveRun(r.Tag)
	p.report(r, protocol.Running, c.Reason)
}

// runsOn tells the origin what else the batch system says of a run, such as that it is suspended.
func (p *Peer) runsOn(r *run, reason string) {
	told := r.Reason
	if j := p.jobs[r.Tag.Job]; j != nil {
		told = j.Reason
	}
	if told != clip(reason) {
		p.report(r, protocol.Running, reason)
	}
}

func (p *Peer) runEnded(r *run, c localsched.Change) {
	outcome := c.Outcome
	outcome.State, outcome.Reason = c.State, clip(cmp.Or(outcome.Reason, c.Reason))
	started := cmp.Or(c.Started, r.Started)
	if started != 0 {
		outcome.Waited = max(0, started.Sub(r.Since))
	}
	outcome.Usage.Power = p.desk().Measured(r.request.CPUs, &outcome)
	outcome.Bill = pricing.Settle(p.tariffOf(r.Tag), started, outcome.Ran)
	p.noteEnergy(r.Tag, &outcome)
	p.moveRun(r, row.RunEnded)
	r.Started, r.Ended, r.Outcome = started, p.now, &outcome
	if started != 0 {
		r.Ended = min(p.now, started.Add(outcome.Ran))
	}
	p.noteDraw(r)
	p.saveRun(r.Tag)
	p.timers.Stop(runTimerOf(r.Tag))
	if j := p.jobs[r.Tag.Job]; j != nil {
		p.endedHere(j, r)
		return
	}
	g := p.guests[r.Tag.Job]
	p.fact(event.Fact{Kind: event.GuestEnded, Job: r.Tag.Job, Site: g.Origin, Epoch: r.Tag.Epoch, State: outcome.State, Text: outcome.Reason})
	if g.Fenced {
		p.closeGuest(g)
		return
	}
	r.reports = 0
	p.reportGuest(r.Tag)
}

// endedHere ends a job that ran at its origin.
func (p *Peer) endedHere(j *job, r *run) {
	j.Outcome, j.Started, j.Ended = r.Outcome, r.Started, r.Started.Add(r.Outcome.Ran)
	if r.Started == 0 {
		j.Ended = p.now
	}
	outcome := *r.Outcome
	why := p.again(j, &outcome)
	j.Outcome = &outcome
	j.local = r.Local
	p.dropRun(r.Tag)
	if why != "" {
		p.spend(j)
		j.local = ""
		j.Outcome, j.Ended = nil, 0
		j.Reruns++
		p.backToQueue(j, event.JobRequeued, why)
		return
	}
	p.finishWith(j)
}
