package peer

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The limits of applications, as things went: what was broken is told with why, and what can no
// longer keep them ends.

// watchLimit sets the time at which an application has used up its max_time.
func (p *Peer) watchLimit(a *application) {
	if a.MaxTime != protocol.Never {
		p.timers.Set(timer{kind: limitTimer, job: a.ID}, max(p.now, a.deadline()))
	}
}

// deadline is when the application should be over, if it has a max_time.
func (a *application) deadline() protocol.Instant { return a.Submitted.Add(a.MaxTime) }

// maxCost is the application's limit in the site's own currency.
func (p *Peer) maxCost(a *application) protocol.Micro {
	if a.MaxCost == protocol.Unlimited || a.Currency == "" {
		return a.MaxCost
	}
	limit, err := p.limited(a.MaxCost, a.Currency)
	if err != nil { // it was asked on submission; the table has lost the currency since
		return 0
	}
	return limit
}

// hopeless says why what has not started of an application cannot keep its limits any more;
// empty: it may.
func (p *Peer) hopeless(a *application) string {
	if a == nil {
		return ""
	}
	if limit := p.maxCost(a); limit != protocol.Unlimited && a.Spent > limit {
		return fmt.Sprintf("its application has cost %s, and max_cost is %s",
			a.Spent.TextIn(p.currency()), limit.TextIn(p.currency()))
	}
	if a.MaxTime != protocol.Never && p.now >= a.deadline() {
		return fmt.Sprintf("max_time of its application, %s from the submission on, is over", a.MaxTime.Text())
	}
	return ""
}

// limitDue looks at an application whose time is over.
func (p *Peer) limitDue(id protocol.JobID) {
	a := p.applications[id]
	if a == nil {
		return
	}
	if p.stopped() != "" {
		p.after(p.cfg.RetryMax, timer{kind: limitTimer, job: id})
		return
	}
	p.endHopeless(a)
}

// endHopeless ends what has not started of an application that cannot keep its limits. What a site
// has is wanted back, and ends once it is proven not to have started; what runs goes on.
func (p *Peer) endHopeless(a *application) {
	why := p.hopeless(a)
	if why == "" {
		return
	}
	for _, id := range slices.Clone(a.jobs) {
		j := p.jobs[id]
		if j == nil || j.State != protocol.Pending || j.Restored || p.doubtOf(j) != "" {
			continue
		}
		switch j.Phase {
		case row.JobInGridQueue:
			p.finish(j, protocol.Cancelled, why)
		case row.JobOffered, row.JobReserving:
			p.endOffered(j, why)
		case row.JobCommittedLocal:
			p.takeBack(p.runs[j.tag()], false)
		case row.JobGranted, row.JobHandedOff:
			p.recall(j)
		case row.JobRecalling, row.JobStagingOut, row.JobEnding:
		}
	}
}

// endOffered ends a job for which room is only being asked.
func (p *Peer) endOffered(j *job, why string) {
	held := j.Hold != 0
	p.giveHoldUp(j)
	if held {
		p.partFrom(j, "")
	}
	j.Unplace() // it costs nothing
	p.finish(j, protocol.Cancelled, why)
}

// spend adds what a placement has cost to its application.
func (p *Peer) spend(j *job) {
	a := j.application
	if a == nil {
		return
	}
	a.Spent = a.Spent.Plus(p.realCost(j))
	p.saveApplication(a.ID)
}

// settleComponent notes what an ended component has cost, and which limits the application has
// broken by now.
func (p *Peer) settleComponent(j *job) {
	a := j.application
	if a == nil {
		return
	}
	a.jobs = slices.DeleteFunc(a.jobs, func(id protocol.JobID) bool { return id == j.Spec.Job })
	p.spend(j)
	if a.Broken == "" {
		if a.Broken = clip(p.brokenBy(a, j)); a.Broken != "" {
			p.fact(Fact{Kind: LimitBroken, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: a.Broken})
		}
	}
}

// brokenBy says which limit of an application the end of a component has broken, and why.
func (p *Peer) brokenBy(a *application, j *job) string {
	if limit := p.maxCost(a); limit != protocol.Unlimited && a.Spent > limit {
		return fmt.Sprintf("max_cost: what has run cost %s of at most %s; %s",
			a.Spent.TextIn(p.currency()), limit.TextIn(p.currency()), p.asForeseen(j))
	}
	if a.MaxTime != protocol.Never && j.Ended > a.deadline() && j.Outcome != nil {
		return fmt.Sprintf("max_time: %s ended %s after the submission, at most %s; %s",
			j.ComponentName(), j.Ended.Sub(a.Submitted).Text(), a.MaxTime.Text(), p.asForeseen(j))
	}
	return ""
}

// asForeseen compares a component with what was foreseen of it.
func (p *Peer) asForeseen(j *job) string {
	if j.Foreseen == nil || j.Outcome == nil {
		return "nothing was foreseen of " + j.ComponentName()
	}
	return fmt.Sprintf("%s ran %s and cost %s, foreseen were %s and %s", j.ComponentName(), j.Outcome.Ran.Text(),
		p.realCost(j).TextIn(p.currency()), j.Foreseen.Run.Text(), j.Foreseen.Cost.TextIn(p.currency()))
}

// takeTariff keeps what the site that has room for a job charges for it, before the grant. When
// the limit of the job's application does not allow that, it says why.
func (p *Peer) takeTariff(j *job, m protocol.Prepared) (why string) {
	if m.Tariff == nil {
		return ""
	}
	j.Tariff = m.Tariff
	f := j.Foreseen
	if f == nil {
		return ""
	}
	start := m.Start
	if start == 0 {
		start = p.now.Add(max(0, j.QuotedAWT))
	}
	planned := *j
	planned.Outcome = &protocol.Outcome{Bill: pricing.Settle(m.Tariff, start, f.Run)}
	agreed := *f
	agreed.Cost = p.realCost(&planned)
	j.Foreseen = &agreed
	a := j.application
	if a == nil || agreed.Cost <= f.Cost {
		return ""
	}
	if all, _ := p.placedCost(a); p.maxCost(a) != protocol.Unlimited && all > p.maxCost(a) {
		return fmt.Sprintf("%s quoted %s and now charges %s, with which the application would cost %s of at most %s", j.Site,
			f.Cost.TextIn(p.currency()), agreed.Cost.TextIn(p.currency()), all.TextIn(p.currency()), p.maxCost(a).TextIn(p.currency()))
	}
	return ""
}

// tooDear gives the room of a job up that its site prices above a limit.
func (p *Peer) tooDear(j *job, one *partner, why string) {
	p.shun(j, one.Site)
	if j.Hold != 0 {
		p.restGroup(j, why)
		return
	}
	p.send(one.Site, protocol.Abort{Tag: j.tag()})
	p.backToQueue(j, OfferRefused, why)
}
