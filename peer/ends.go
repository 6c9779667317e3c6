package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job's end is that of its latest placement. By rows of an earlier time the latest may be another one than in truth: the job
// may have been requeued, moved or ended since. So what the local scheduler says of the end of a run of this origin is held
// while the rows may be older than what happened (see [lives.Store.StopReason]), and judged when an operator has said that they
// go on: [handoff.EndOfRun]. If the local scheduler has a later placement of the job, that is the one that counts (adoptHere).
// Guests are not held: their results are for an epoch, and their origins judge them in the same way.

// holdEnd keeps what the local scheduler says of the end of a run while the rows may be older than that.
func (p *Peer) holdEnd(r *localrun.Run, c localsched.Change) (held bool) {
	if !c.State.Terminal() || p.site.StopReason() == "" || p.rows.Jobs[r.Tag.Job] == nil {
		return false
	}
	p.watched.HoldEnd(c)
	return true
}

// confirms says whether a change of a run of restored rows proves that it is the latest one of its job: not that it has ended, nor that
// it waits in a queue that is a copy.
func (p *Peer) confirms(r *localrun.Run, c localsched.Change) bool {
	if c.State.Terminal() {
		return p.rows.Guests[r.Tag.Job] != nil
	}
	return !r.Copied || c.State != protocol.Pending
}

// holdReturn has the local scheduler asked again later about a run that is proven not to have started, while the rows may be older
// than what has become of its job since.
func (p *Peer) holdReturn(r *localrun.Run) (held bool) {
	if p.site.StopReason() == "" || p.rows.Jobs[r.Tag.Job] == nil {
		return false
	}
	r.Tries++
	p.after(p.backoff(r.Tries), due.OfTag(due.RunTimer, r.Tag))
	return true
}

// takeHeldEnds takes the ends that were held. That of a run of restored rows waits for its timer, since partners may say what has
// become of its job since.
func (p *Peer) takeHeldEnds() {
	for _, tag := range p.watched.HeldEnds() {
		if r := p.rows.Runs[tag]; r == nil || !r.Restored || !p.timers.Has(due.OfTag(due.RunTimer, tag)) {
			p.takeHeldEnd(tag)
		}
	}
}

// takeHeldEnd takes the end of a run that was held; false: none was.
func (p *Peer) takeHeldEnd(tag protocol.Tag) bool {
	c, held := p.watched.HeldEnd(tag)
	if !held {
		return false
	}
	p.watched.DropEnd(tag)
	p.changed(c)
	if _, again := p.watched.HeldEnd(tag); again {
		p.after(p.cfg.RetryMax, due.OfTag(due.RunTimer, tag))
	}
	return true
}

// endedHere goes on with a job of this origin of which a run has ended here.
func (p *Peer) endedHere(j *tables.Job, r *localrun.Run) {
	j.Outcome, j.Started, j.Ended = r.Outcome, r.Started, r.Started.Add(r.Outcome.Ran)
	if r.Started == 0 {
		j.Ended = p.now
	}
	outcome := *r.Outcome
	j.Outcome, j.Local = &outcome, r.Local
	switch p.judgeEnd(j, outcome.State, r.Restored) {
	case handoff.PlacedSince:
		p.dropRun(r.Tag)
		p.placedSince(j, placedLater)
	case handoff.MayBePlacedSince:
		p.dropRun(r.Tag)
		p.placedSince(j, lives.RestoredReason)
	case handoff.EndsJob:
		p.rows.Confirm(r)
		why := p.rerunReason(j, &outcome)
		p.dropRun(r.Tag)
		if why != "" {
			p.rerun(j, why)
			return
		}
		p.endRun(j)
	}
}

// placedLater is why the end of a run is not that of its job.
const placedLater = "it was placed again, which this database did not know"

// judgeEnd says what the end of the latest run of a job by these rows is to the job, which may be restored.
func (p *Peer) judgeEnd(j *tables.Job, state protocol.State, restored bool) handoff.RunEnd {
	_, here := p.watched.Later(j.Tag())
	return handoff.EndOfRun(&j.Job, state, restored, here, restored && p.site.SpokenOf(j.Tag()))
}

// placedSince keeps the run of a job that has been placed again since these rows, or may have been. The job goes on where it is, or
// waits for an operator.
func (p *Peer) placedSince(j *tables.Job, why string) {
	j.Restored, j.SkipEpochs, j.Requeueing = true, true, true
	p.rerun(j, why)
}

// laterHere is the latest placement of a job of restored rows that the local scheduler has at an epoch which they do not know; false:
// none. One that waits in a copied queue does not count, and is taken out.
func (p *Peer) laterHere(j *tables.Job) (last localsched.Change, ok bool) {
	last, ok = p.watched.Later(j.Tag())
	return last, ok && j.Restored && (last.State != protocol.Pending || !p.site.QueueMayHaveRun())
}

// adoptHere has a job of restored rows go on with the placement that the local scheduler has of it: the lost life gave it there. It is
// false if there is no such placement, or the job may not run here any more.
func (p *Peer) adoptHere(j *tables.Job) bool {
	last, later := p.laterHere(j)
	if !later || j.Phase != row.JobInGridQueue {
		return false
	}
	as, err := p.ownerOf(j)
	if err != nil {
		return false
	}
	id := j.Spec.Job
	p.queue.Remove(id)
	p.moveJob(j, row.JobCommittedLocal)
	j.Adopt(p.cfg.Site, last.Tag.Epoch)
	j.QuotedAWT, j.CommittedAt = nil, cmp.Or(last.Started, p.now)
	p.rows.SaveJob(id)
	p.logEvent(event.LogEvent{
		Kind: event.LogJobCommitted, Job: id, Site: p.cfg.Site, Epoch: j.Epoch, Text: "as the local scheduler says; this store is older than that",
	})
	r := p.addRun(last.Tag, as, j.Spec)
	r.Restored = true // until the local scheduler's word is taken
	p.rows.SaveRun(r.Tag)
	p.changed(last)
	if j.Cancelling {
		p.withdrawRun(p.rows.Runs[r.Tag], true)
	}
	return true
}

// adoptRequeued takes up the jobs that had ended by restored rows, and that the local scheduler has at a later epoch: they have
// been requeued since.
func (p *Peer) adoptRequeued() {
	for _, tag := range p.watched.Tags() {
		if j := p.rows.Requeueable(tag.Job); j != nil && tag.Epoch > j.Epoch {
			j.Restored, j.SkipEpochs = true, true
			p.reopen(j, event.Requeue{Admin: true}, "after its end, as the local scheduler says; this store is older than that", p.admission)
		}
	}
}
