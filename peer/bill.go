package peer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job is billed as it ran, by the tariff that was in force when it was granted: the site that
// prepares it states the tariff before the grant, both sites keep it, and the origin works out
// the bill itself and compares.

// quotedPrice is that of a quote; nil: it names none.
func quotedPrice(q *protocol.Quote) *view.QuotedPrice {
	if len(q.Terms) == 0 || q.Currency == "" {
		return nil
	}
	return &view.QuotedPrice{Cost: q.Cost(), Currency: q.Currency, Run: q.ERT, Energy: electricityOf(q.Terms)}
}

// heldPrice is that of a job for which room is held; nil: no tariff is known.
func (j *job) heldPrice() *view.HeldPrice {
	run := j.Spec.WallTime
	if j.Foreseen != nil {
		run = j.Foreseen.Run
	}
	bill := settle(j.Tariff, j.Held, run)
	if bill == nil {
		return nil
	}
	return &view.HeldPrice{Cost: bill.Cost(), Currency: bill.Currency, Terms: termsView(bill.Terms), Start: j.Held, Run: run}
}

// tariffAhead is for how long beyond twice its time limit a job's tariff states the price of each
// hour. A job that waits longer is charged by their mean.
const tariffAhead = 2 * protocol.Day

// tariff is what this site charges for a job, whenever that runs; nil: nothing.
func (p *Peer) tariff(spec *protocol.Spec) *protocol.Tariff {
	limit := spec.On(&p.cfg.Capacity).WallTime
	until := p.now.Add(tariffAhead.Plus(limit).Plus(limit))
	t := protocol.Tariff{Currency: p.cfg.Tariff.Currency}
	switch q := (protocol.Quote{ERT: cmp.Or(spec.Expected, limit)}); {
	case p.cfg.Costs != nil:
		w := p.work(spec, &q, protocol.Hourly)
		w.Until = until
		if billed, why := p.cfg.Costs.Bill(w); why == "" && billed.Tariff != nil {
			t = *billed.Tariff
		}
	case t.Currency != "" && p.cfg.Tariff.CPUHour > 0:
		t.Charges = []protocol.Charge{{
			Name: cost.CPUTerm, Units: int64(spec.CPUs), Per: 1, Steps: []protocol.PriceStep{{PerHour: p.cfg.Tariff.CPUHour}},
		}}
	}
	p.chargeEnergy(&t, spec, until)
	if len(t.Charges) == 0 || t.Currency == "" {
		return nil
	}
	return &t
}

// chargeEnergy adds to a tariff what the electricity costs, as [Peer.charge] adds it to quotes.
func (p *Peer) chargeEnergy(t *protocol.Tariff, spec *protocol.Spec, until protocol.Instant) {
	e := &p.electricity
	if e.hourly == nil || p.cfg.Power == 0 || (t.Currency != "" && t.Currency != e.currency) ||
		slices.ContainsFunc(t.Charges, func(c protocol.Charge) bool { return c.Name == cost.EcoTerm || c.Name == EnergyTerm }) {
		return
	}
	t.Currency = e.currency
	t.Charges = append(slices.Clip(t.Charges), protocol.Charge{
		Name: EnergyTerm, Units: p.foreseenDraw(spec), Per: protocol.Megawatt, Steps: e.hourly.Steps(p.now, until),
	})
}

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

// settle is the bill of a run; nil: it did not start, or costs nothing.
func settle(t *protocol.Tariff, started protocol.Instant, ran protocol.Duration) *protocol.Bill {
	if t == nil || started == 0 {
		return nil
	}
	bill := cost.Settle(t, started, ran)
	return &bill
}

// maxClockOffset is how far the clock of another site may be off for the hours that it bills to be
// taken as they are.
const maxClockOffset = 5 * protocol.Minute

// checkBill compares what a partner bills with what its tariff comes to for the run, which the
// result is about. What it bills otherwise is told, and the job counts with what was agreed.
func (p *Peer) checkBill(j *job, outcome *protocol.Outcome) {
	j.Disputed = ""
	billed := outcome.Bill
	if billed == nil && (j.Tariff == nil || j.Started == 0) {
		return
	}
	if j.Tariff == nil {
		j.Disputed = fmt.Sprintf("%s bills %s and stated no tariff before the grant", j.Site, billText(billed))
	} else {
		due := p.due(j, outcome)
		if billed != nil && sameBill(billed, due) {
			return
		}
		j.Disputed = fmt.Sprintf("%s sent no bill; by its tariff it is %s", j.Site, billText(due))
		if billed != nil {
			j.Disputed = fmt.Sprintf("%s bills %s, and by the tariff that it stated it is %s for a run of %s from %s on",
				j.Site, billText(billed), billText(due), outcome.Ran.Text(), due.Start.Text())
		}
		outcome.Bill = due
	}
	p.fact(Fact{Kind: BillDisputed, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(j.Disputed)})
}

// due is what a run elsewhere costs by the tariff. The site that ran the job says when that was, as
// far as the time between the grant and now allows.
func (p *Peer) due(j *job, outcome *protocol.Outcome) *protocol.Bill {
	start, ran := j.Started, min(outcome.Ran, max(0, p.now.Sub(j.Placed)).Plus(maxClockOffset))
	if b := outcome.Bill; b != nil && max(b.Start.Sub(start), start.Sub(b.Start)) <= maxClockOffset {
		start = b.Start
	}
	return settle(j.Tariff, start, ran)
}

// sameBill says whether two bills name the same amounts.
func sameBill(a, b *protocol.Bill) bool {
	return a.Currency == b.Currency && slices.Equal(a.Terms, b.Terms)
}

func billText(b *protocol.Bill) string { return b.Cost().TextIn(b.Currency) }

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
	if one := p.byName[j.Site]; one != nil {
		amount = amount.Plus(one.linkCost(&j.Spec))
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
	running.Outcome = &protocol.Outcome{Bill: settle(j.Tariff, j.Started, p.now.Sub(j.Started))}
	return max(0, j.foreseenCost(), p.realCost(&running))
}

// billView shows what a job cost, or while it runs what it has come to; nil: nothing is known.
func (p *Peer) billView(t *protocol.Tariff, state protocol.State, started protocol.Instant, outcome *protocol.Outcome) *view.Bill {
	var bill *protocol.Bill
	v := &view.Bill{}
	switch {
	case outcome != nil:
		bill, v.Ran = outcome.Bill, outcome.Ran
	case state == protocol.Running && started != 0:
		v.Open, v.Ran = true, max(0, p.now.Sub(started))
		bill = settle(t, started, v.Ran)
	}
	if bill == nil {
		return nil
	}
	v.Cost, v.Currency, v.Terms, v.Start = bill.Cost(), bill.Currency, termsView(bill.Terms), bill.Start
	return v
}
