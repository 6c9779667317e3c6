package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// watch waits for the next changes in the local queue. When that fails it is tried again, less
// and less often; the first failure is reported, and the first success after it.
func (p *Peer) watch() {
	p.call(event.WatchOp{After: p.watched.Cursor}, watchQueue{})
}

// watchQueue waits for the next changes in the local queue.
type watchQueue struct{}

func (watchQueue) answered(p *Peer, result event.Result, err error) {
	watched, err := step.ResultAs[event.WatchResult](result, err)
	if err != nil {
		tries := p.watched.Failed()
		if tries == 0 {
			p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Site: p.cfg.Site, Text: clip("watch: " + err.Error() + "; what happens in the local queue is not heard; tried again until it works")})
		}
		p.after(p.backoff(tries), due.Once(due.WatchTimer))
		return
	}
	if failures := p.watched.Works(); failures > 0 {
		p.logEvent(event.LogEvent{Kind: event.LogCallRestored, Site: p.cfg.Site, Text: "watch: it works again after " + protocol.Count(failures, "failure")})
	}
	p.takeChanges(watched.Watched.Changes)
	p.setLoad(watched.Watched.Load)
	p.watched.Cursor = watched.Watched.Cursor
	p.keepCursor()
	p.watch()
}

// keepCursor makes durable how far the local queue was watched. As long as that has jobs which no
// row knows, they must be reported again after a restart.
func (p *Peer) keepCursor() {
	if p.watched.MayForget() && p.site.Cursor != p.watched.Cursor {
		p.site.Cursor = p.watched.Cursor
		p.rows.SaveSite()
	}
}

// takeChanges takes changes in the local queue: those of jobs that no row knows first, so that the end of a run is judged by what
// else the local scheduler has of its job. Of a run of restored rows that has ended, only that counts.
func (p *Peer) takeChanges(changes []localsched.Change) {
	known := make([]localsched.Change, 0, len(changes))
	var ended map[protocol.Tag]bool
	for _, c := range changes {
		r := p.rows.Runs[c.Tag]
		if r == nil {
			p.changed(c)
			continue
		}
		known = append(known, c)
		if r.Restored && c.State.Terminal() {
			if ended == nil {
				ended = map[protocol.Tag]bool{}
			}
			ended[c.Tag] = true
		}
	}
	for _, c := range known {
		if c.State.Terminal() || !ended[c.Tag] {
			p.changed(c)
		}
	}
}

// changed takes one change in the local queue. Changes may be repeated.
func (p *Peer) changed(c localsched.Change) {
	r := p.rows.Runs[c.Tag]
	if r == nil {
		switch {
		case !p.rows.ClosedHere(c.Tag):
			p.setAside(c)
		case c.State.Terminal():
			p.forget(c.Tag) // its end was taken in an earlier life
		}
		return
	}
	if p.holdEnd(r, c) {
		return
	}
	if p.confirms(r, c) {
		p.rows.Confirm(r)
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
		if r.HasStarted() {
			p.runsOn(r, c)
		}
		p.runStarted(r, c)
	default:
		p.inLocalQueue(r, r.Local)
		p.rows.ExplainRun(r, c.Reason)
	}
	p.continueWithdrawal(r)
}

func (p *Peer) runStarted(r *localrun.Run, c localsched.Change) {
	if r.HasStarted() {
		return
	}
	p.moveRun(r, row.RunRunning)
	r.Started, r.TimeLimit = cmp.Or(c.Started, p.now), c.TimeLimit
	p.ledger().NoteDraw(r)
	p.rows.SaveRun(r.Tag)
	p.report(r, protocol.Running, c.Reason)
	p.rows.Fair.Start(p.localOf(r, r.Started), true, p.now)
	p.useChanged()
}

// runsOn tells the origin what else the batch system says of a run, such as that it is suspended, or
// has another time limit.
func (p *Peer) runsOn(r *localrun.Run, c localsched.Change) {
	reported := r.Reason
	if j := p.rows.Jobs[r.Tag.Job]; j != nil {
		reported = j.Reason
	}
	if reported != clip(c.Reason) || r.TimeLimit != c.TimeLimit {
		r.TimeLimit = c.TimeLimit
		p.report(r, protocol.Running, c.Reason)
	}
}

func (p *Peer) runEnded(r *localrun.Run, c localsched.Change) {
	outcome, started := r.OutcomeOf(c)
	p.ledger().Settle(r, &outcome, started)
	must(r.End(&outcome, started, p.now))
	p.ledger().NoteDraw(r)
	p.rows.SaveRun(r.Tag)
	p.timers.Stop(due.OfTag(due.RunTimer, r.Tag))
	if j := p.rows.Jobs[r.Tag.Job]; j != nil {
		p.endedHere(j, r)
		return
	}
	g := p.rows.Guests[r.Tag.Job]
	p.countGuestUse(g, r)
	p.logEvent(event.LogEvent{Kind: event.LogGuestEnded, Job: r.Tag.Job, Site: g.Origin, Epoch: r.Tag.Epoch, State: outcome.State, Text: outcome.Reason})
	if g.Fenced {
		p.closeGuest(g)
		return
	}
	r.Reports = 0
	p.reportGuest(r.Tag)
}

// rerun has a job placed again that has ended. How it ran is kept.
func (p *Peer) rerun(j *tables.Job, why string) {
	kind := event.LogJobReclaimed
	if j.Requeueing {
		kind = event.LogJobRequeued
	}
	p.ledger().Spend(j)
	p.countUse(j)
	p.archiveRun(j, why)
	j.Rerun()
	j.Local = ""
	p.requeue(j, kind, why)
}

// archiveRun keeps a run of a job of this origin that has ended, and after which the job is placed again. Of one that did not
// start there is nothing to keep.
func (p *Peer) archiveRun(j *tables.Job, why string) {
	if j.Outcome == nil || j.Started == 0 && j.Outcome.Bill == nil {
		return
	}
	view := p.answers().Finished(j)
	view.State, view.Reason, view.Earlier = j.Outcome.State, clip(why), true
	p.out.Records = append(p.out.Records, row.Record{Table: row.EarlierTable, Key: row.RunKey(j.Tag()), Row: row.EarlierRun{View: view}})
}
