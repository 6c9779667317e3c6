package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fencedOver takes a partner's word that a placement that was given up is over. It is no proof
// when the records that it comes from may be of another store than the one that held room;
// seen says that the partner names the end itself.
func (p *Peer) fencedOver(one *partner.Partner, tag protocol.Tag, seen bool) {
	at := p.rows.FencedAt(one.Site, tag)
	if at < 0 {
		return
	}
	j := p.rows.Jobs[tag.Job]
	j.FencedOver(at, seen || j.Fenced[at].Holder == one.Incarnation() || !p.site.TellsApart())
	p.rows.SaveJob(tag.Job)
	if j.Phase == row.JobEnding && !j.AwaitsFenced() {
		p.endFenced(j, j.Reason)
	}
}

// endCancelled ends a job as CANCELLED once nothing of it can start any more. Until then it waits,
// and the sites that it was taken from are told to end what they have of it.
func (p *Peer) endCancelled(j *tables.Job, reason string) {
	if !j.AwaitsFenced() {
		p.endFenced(j, reason)
		return
	}
	id := j.Spec.Job
	p.stopTimers(j)
	p.leaveSite(j)
	p.queue.Remove(id)
	p.moveJob(j, row.JobEnding)
	j.Reason = clip(reason)
	p.rows.SaveJob(id)
	p.logEvent(event.LogEvent{Kind: event.LogJobDeferred, Job: id, Epoch: j.Epoch, Text: clip(status.EndingReason(&j.Job))})
	p.sendForPhase(id)
}

// endFenced ends a job as CANCELLED of which no site has anything more to say.
func (p *Peer) endFenced(j *tables.Job, reason string) {
	if len(j.Fenced) > 0 {
		reason = joined("outcome unknown: "+status.LostRecords(j.Fenced[0].Site), reason)
	}
	p.conclude(j, protocol.Cancelled, reason)
}
