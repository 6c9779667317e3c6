package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// tariffOf is the one in force for a placement here; nil: it costs nothing.
func (p *Peer) tariffOf(tag protocol.Tag) *protocol.Tariff {
	if j := p.jobs[tag.Job]; j != nil && j.tag() == tag {
		return j.Tariff
	}
	if g := p.guests[tag.Job]; g != nil && g.tag() == tag {
		return g.Tariff
	}
	return nil
}

// checkBill compares what a partner bills with what its tariff comes to for the run, which the
// result is about. What it bills otherwise is told, and the job counts with what was agreed.
func (p *Peer) checkBill(j *job, outcome *protocol.Outcome) {
	if j.Disputed = pricing.CheckBill(&j.Job, outcome, p.now); j.Disputed != "" {
		p.fact(event.Fact{Kind: event.BillDisputed, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(j.Disputed)})
	}
}

// realCost is what a placement that is over has cost this site's user, in the site's own currency:
// by its bill, and else as it was foreseen.
func (p *Peer) realCost(j *job) protocol.Micro {
	if j.Outcome == nil || j.Outcome.Bill == nil {
		return j.foreseenCost()
	}
	amount, err := p.money().Convert(j.Outcome.Bill.Cost(), j.Outcome.Bill.Currency)
	if err != nil {
		return j.foreseenCost()
	}
	if one := p.partners.Of(j.Site); one != nil {
		amount = amount.Plus(one.LinkCost(&j.Spec))
	}
	return amount
}

func (j *job) foreseenCost() protocol.Micro {
	if j.Foreseen == nil {
		return 0
	}
	return j.Foreseen.Cost
}

// costSoFar is what a placement counts for while it is not over: what was foreseen of it, or what
// it has come to already where that is more. One that would bring money in, as at prices below 0,
// counts as nothing until it is billed: the gain may not come, and nothing else may rely on it.
func (p *Peer) costSoFar(j *job) protocol.Micro {
	if j.Tariff == nil || j.Started == 0 {
		return max(0, j.foreseenCost())
	}
	running := *j
	running.Outcome = &protocol.Outcome{Bill: pricing.Settle(j.Tariff, j.Started, p.now.Sub(j.Started))}
	return max(0, j.foreseenCost(), p.realCost(&running))
}

// noteSaved counts what an own job has saved by its run at a partner. One is not counted that home
// did not quote a price for, that was not billed, or whose two prices cannot be compared.
func (p *Peer) noteSaved(j *job, o *protocol.Outcome) {
	if j.Home == nil || j.Home.Run <= 0 || o.Bill == nil {
		return
	}
	home, billed, currency := pricing.HomeCost(j.Home, p.ranAtHome(j, o.Ran)), o.Bill.Cost(), o.Bill.Currency
	if currency != j.Home.Currency {
		var fromHome, fromThere error
		home, fromHome = p.money().Convert(home, j.Home.Currency)
		billed, fromThere = p.money().Convert(billed, currency)
		if fromHome != nil || fromThere != nil {
			return
		}
		currency = p.currency()
	}
	if p.totals().AddSaving(home, billed, currency, p.now) {
		p.saveSite()
	}
}

// ranAtHome is how long a job's run at its site would have taken at the speed of home.
func (p *Peer) ranAtHome(j *job, ran protocol.Duration) protocol.Duration {
	if there := p.capacityOf(j.Site); there != nil {
		ran = p.cfg.Capacity.Rescale(ran, there.MHz, there.Mflops)
	}
	return ran
}
