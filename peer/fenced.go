package peer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job with Requeue is taken from a site that is silent, and any job from its site by an
// operator's word. The placement there is fenced: what it reports is refused, and it is ended once
// its site is heard. Until then the site may start it. So the job is not shown as CANCELLED before
// each site that it was taken from has said that the placement is over.

// noteFenced remembers the present placement of a job as one that is given up unheard. lost says
// that its site has no records of it.
func (p *Peer) noteFenced(j *job, lost bool) {
	if j.Phase != row.JobGranted && j.Phase != row.JobHandedOff && j.Phase != row.JobRecalling {
		return
	}
	j.Fenced = slices.DeleteFunc(slices.Clone(j.Fenced), func(f row.FencedPlacement) bool {
		return lost && f.Lost && f.Site == j.Site // it says as much
	})
	j.Fenced = append(j.Fenced, row.FencedPlacement{Site: j.Site, Epoch: j.Epoch, Holder: j.Holder, Lost: lost})
}

// replacedAt is called when a site has made room for a job that it had before: it does so only
// once it has closed the placement before. A store that followed a lost one proves nothing.
func (j *job) replacedAt(site protocol.SiteName) {
	lost := false
	j.Fenced = slices.DeleteFunc(slices.Clone(j.Fenced), func(f row.FencedPlacement) bool {
		if f.Site != site {
			return false
		}
		other := f.Lost || f.Holder != j.Holder
		again := lost && other
		lost = lost || other
		return !other || again
	})
	for i := range j.Fenced {
		j.Fenced[i].Lost = j.Fenced[i].Lost || j.Fenced[i].Site == site
	}
}

// fencedAt is where in the list a partner's placement is that was given up; -1: nowhere.
func (j *job) fencedAt(site protocol.SiteName, epoch protocol.Epoch) int {
	if j == nil {
		return -1
	}
	return slices.IndexFunc(j.Fenced, func(f row.FencedPlacement) bool { return f.Site == site && f.Epoch == epoch && !f.Lost })
}

// fencedOver takes a partner's word that a placement that was given up is over. It is no proof
// when the records that it comes from may be of another store than the one that held room;
// seen says that the partner names the end itself.
func (p *Peer) fencedOver(one *partner, tag protocol.Tag, seen bool) {
	j := p.jobs[tag.Job]
	at := j.fencedAt(one.Site, tag.Epoch)
	if at < 0 {
		return
	}
	j.Fenced = slices.Clone(j.Fenced)
	if seen || j.Fenced[at].Holder == one.incarnation() || !p.site.TellsApart() {
		j.Fenced = slices.Delete(j.Fenced, at, at+1)
	} else {
		j.Fenced[at].Lost = true
	}
	p.saveJob(tag.Job)
	if j.Phase == row.JobEnding && !j.awaitsFenced() {
		p.endFenced(j, j.Reason)
	}
}

// awaitsFenced says whether a site has yet to say that a placement of the job is over.
func (j *job) awaitsFenced() bool {
	return slices.ContainsFunc(j.Fenced, func(f row.FencedPlacement) bool { return !f.Lost })
}

// endCancelled ends a job as CANCELLED once nothing of it can start any more. Until then it waits,
// and the sites that it was taken from are told to end what they have of it.
func (p *Peer) endCancelled(j *job, reason string) {
	if !j.awaitsFenced() {
		p.endFenced(j, reason)
		return
	}
	id := j.Spec.Job
	p.stopTimers(j)
	p.leaveSite(j)
	p.queue.Remove(id)
	p.moveJob(j, row.JobEnding)
	j.Reason = clip(reason)
	p.saveJob(id)
	p.fact(Fact{Kind: JobWaits, Job: id, Epoch: j.Epoch, Text: clip(j.endingReason())})
	p.repeatJob(id)
}

// endFenced ends a job as CANCELLED of which no site has anything more to say.
func (p *Peer) endFenced(j *job, reason string) {
	if len(j.Fenced) > 0 {
		reason = joined("outcome unknown: "+lostRecords(j.Fenced[0].Site), reason)
	}
	p.conclude(j, protocol.Cancelled, reason)
}

func lostRecords(site protocol.SiteName) string {
	return fmt.Sprintf("%s has lost its records of this job, which may have run there", site)
}

// recallFenced tells the sites that an ending job was taken from to end it.
func (p *Peer) recallFenced(j *job) {
	for _, f := range j.Fenced {
		if !f.Lost {
			p.send(f.Site, protocol.Recall{Tag: protocol.Tag{Job: j.Spec.Job, Epoch: f.Epoch}, Cancel: true})
		}
	}
}

// unheardText says which site an ending job waits for.
func (j *job) unheardText() string {
	for _, f := range j.Fenced {
		if !f.Lost {
			return fmt.Sprintf("it was taken from %s, which was not heard then and may still run it until it is told to end it", f.Site)
		}
	}
	return ""
}

// endingReason is why an ending job has not ended.
func (j *job) endingReason() string {
	return detailed(reasonCancelling, j.unheardText()+"; cancel it again to close it with its outcome unknown")
}

// doubtOfFenced says why an ending job needs an operator: no partner is left that could say that
// it is over; empty: it goes on by itself.
func (p *Peer) doubtOfFenced(j *job) (why string) {
	for _, f := range j.Fenced {
		if f.Lost {
			continue
		}
		if one := p.byName[f.Site]; one != nil && !one.departed {
			return ""
		}
		why = cmp.Or(why, fmt.Sprintf("%s may still run the job, and is no partner any more; configure that site again, or cancel the job", f.Site))
	}
	return why
}
