package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/ledger"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// money is what this site reckons in.
func (p *Peer) money() pricing.Money {
	return pricing.Money{Own: p.currency(), Exchange: p.cfg.Exchange}
}

// currency is the site's own: that of its electricity where nobody says.
func (p *Peer) currency() string { return cmp.Or(p.cfg.Currency, p.prices.Currency()) }

// ledger is the accounts of the site.
func (p *Peer) ledger() ledger.Ledger {
	return ledger.Ledger{
		Name: p.cfg.Site, Rows: &p.rows, Site: p.site, Partners: p.partners, Drawing: &p.drawing, Desk: p.desk(), Money: p.money(), Now: p.now,
	}
}

// objectives is what this site makes of those of applications now.
func (p *Peer) objectives() *broker.Objectives {
	return &broker.Objectives{
		Policy: &p.cfg.Policy, Weighing: p.cfg.Weighing, Waiting: p.cfg.Waiting, Money: p.money(), Margin: p.cfg.Margin,
	}
}

// declineUnknownCurrency declines a quote whose currency nobody here can convert, for policies that
// weigh money.
func (p *Peer) declineUnknownCurrency(q *protocol.Quote) {
	if !p.cfg.Policy.DecidesApplications() {
		return
	}
	if why := p.money().Unreadable(q); why != "" {
		*q = protocol.Quote{Job: q.Job, Declined: clip(why)}
	}
}

// addObjectives tells a policy that decides about applications what users want, and the parts of
// prices.
func (p *Peer) addObjectives(in *policy.Snapshot, r *round, answers []*rounds.Ask) {
	rows := make([]broker.Asked, len(r.Specs))
	for i := range rows {
		if j := r.job(p, i); j != nil {
			rows[i] = broker.Asked{Job: &j.Job, App: j.ApplicationRow()}
		} else {
			rows[i] = broker.Asked{Job: &row.Job{Spec: r.Specs[i]}, Gone: true}
		}
	}
	p.objectives().Describe(in, rows, p.ledger().Placed, p.now)
	for i := range r.Specs {
		for _, a := range answers {
			broker.AddMoney(in, p.quoteMoney(r, i, a))
		}
	}
}

// quoteMoney are the parts of the price of a quote in the own currency.
func (p *Peer) quoteMoney(r *round, i int, a *rounds.Ask) view.Money {
	q, link := r.Quote(i, a), protocol.Micro(0)
	if a != nil {
		link = a.Partner.LinkCost(&r.Specs[i])
	}
	return p.money().Parts(&q, link)
}

// annotateQuote adds to a quote what people want to know of components.
func (p *Peer) annotateQuote(r *round, i int, a *rounds.Ask, q view.Quote) view.Quote {
	if !p.cfg.Policy.DecidesApplications() {
		return q
	}
	if j := r.job(p, i); j != nil && len(j.Shapes()) > 1 {
		q.CPUs = r.Specs[i].CPUs
	}
	if q.Declined == "" {
		m := p.quoteMoney(r, i, a)
		if all, err := p.money().Convert(q.Cost, q.Currency); err == nil {
			m.Cost = all
		}
		q.Money = &m
	}
	return q
}
