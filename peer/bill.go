package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// checkBill compares what a partner bills with what its tariff comes to for the run, which the
// result is about. What it bills otherwise is told, and the job counts with what was agreed.
func (p *Peer) checkBill(j *tables.Job, outcome *protocol.Outcome) {
	if j.Disputed = pricing.CheckBill(&j.Job, outcome, p.now); j.Disputed != "" {
		p.logEvent(event.LogEvent{Kind: event.LogBillDisputed, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(j.Disputed)})
	}
}

// realCost is what a placement that is over has cost this site's user, in the site's own currency.
func (p *Peer) realCost(j *tables.Job) protocol.Micro { return p.money().Actual(&j.Job, p.linkCost(j)) }

// costSoFar is what a placement counts for while it is not over.
func (p *Peer) costSoFar(j *tables.Job) protocol.Micro {
	return p.money().SoFar(&j.Job, p.linkCost(j), p.now)
}

// linkCost is what the way of a job's data to its site and back costs.
func (p *Peer) linkCost(j *tables.Job) protocol.Micro {
	if one := p.partners.Of(j.Site); one != nil {
		return one.LinkCost(&j.Spec)
	}
	return 0
}

// noteSaved counts what an own job has saved by its run at a partner.
func (p *Peer) noteSaved(j *tables.Job, o *protocol.Outcome) {
	atHome := o.Ran // at the speed of home
	if there := p.capacityOf(j.Site); there != nil {
		atHome = p.cfg.Capacity.Rescale(o.Ran, there.MHz, there.Mflops)
	}
	if p.totals().AddRunElsewhere(&j.Job, o, atHome, p.money(), p.now) {
		p.rows.SaveSite()
	}
}
