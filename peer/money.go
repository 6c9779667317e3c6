package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// money is what this site reckons in.
func (p *Peer) money() broker.Money { return broker.Money{Own: p.currency(), Exchange: p.cfg.Exchange} }

// currency is the site's own: that of its electricity where nobody says.
func (p *Peer) currency() string { return cmp.Or(p.cfg.Currency, p.prices.Currency()) }

// readable declines a quote whose currency nobody here can convert, for policies that
// weigh money.
func (p *Peer) readable(q *protocol.Quote) {
	if !p.cfg.Policy.DecidesApplications() || q.Declined != "" || len(q.Terms) == 0 {
		return
	}
	if _, err := p.money().Convert(protocol.Unit, q.Currency); err != nil {
		*q = protocol.Quote{Job: q.Job, Declined: clip("its price cannot be compared: " + err.Error())}
	}
}

// addWishes tells a policy that decides about applications what users want, and the parts of prices.
func (p *Peer) addWishes(in *policy.Snapshot, r *round, answers []*rounds.Ask) {
	in.Currency = p.currency()
	until := p.horizons(in, r)
	known := map[protocol.JobID]int{}
	for i := range in.Jobs {
		j := r.job(p, i)
		if j == nil { // it has ended meanwhile
			j = &job{Job: row.Job{Spec: r.Specs[i]}}
		}
		id := j.applicationID()
		at, ok := known[id]
		if !ok {
			at = len(in.Applications)
			known[id] = at
			in.Applications = append(in.Applications, p.wishes(j, until[id]))
		}
		row := &in.Jobs[i]
		row.Application = at
		row.Alpha, row.Gamma, row.Delta = p.weights(j)
	}
	p.addGroups(in, r)
	for i := range r.Specs {
		for _, a := range answers {
			m := p.quoteMoney(r, i, a)
			in.Use, in.Licence = append(in.Use, m.Use), append(in.Licence, m.Licence)
			in.Eco, in.Data = append(in.Eco, m.Eco), append(in.Data, m.Data)
		}
	}
}

// weights are α, γ and δ of a job: of one on its own what the site's say.
func (p *Peer) weights(j *job) (alpha, gamma, delta int) {
	switch {
	case j.application == nil:
		return p.cfg.Weighing.Alpha, p.cfg.Weighing.Gamma, p.cfg.Weighing.Delta
	case j.Component == nil: // its user gives β alone
		return 0, 0, 0
	}
	return j.Component.Alpha, j.Component.Gamma, j.Component.Delta
}

// addGroups numbers the groups of which several members are in the round. One alone has
// nobody to start with.
func (p *Peer) addGroups(in *policy.Snapshot, r *round) {
	type group struct{ application, number int }
	members := map[group]int{}
	of := func(i int) group {
		if j := r.job(p, i); j != nil && j.Together() {
			return group{in.Jobs[i].Application, j.Component.Together}
		}
		return group{}
	}
	for i := 0; i < len(r.Specs); i = r.End(i) {
		members[of(i)]++
	}
	for i := range r.Specs {
		if g := of(i); g.number > 0 && members[g] > 1 {
			in.Jobs[i].Together = g.number
			p.lead(in, i)
		}
	}
}

// lead has a row of a group wait the margin longer in which its sites agree on an instant.
func (p *Peer) lead(in *policy.Snapshot, row int) {
	for s := range in.Sites {
		if at := in.At(row, s); in.AWT[at] != protocol.Never {
			in.AWT[at] = in.Start(row, s, in.AWT[at]).Plus(p.cfg.Margin)
		}
	}
}

// horizons are for each application the longest that it may take, for the rates of waiting:
// all its components one after the other, behind the longest of the others' twice.
func (p *Peer) horizons(in *policy.Snapshot, r *round) map[protocol.JobID]protocol.Duration {
	longest, own := protocol.Day, map[protocol.JobID]protocol.Duration{}
	for i := 0; i < len(in.Jobs); i = r.End(i) {
		of := protocol.Duration(0)
		for row := i; row < r.End(i); row++ {
			of = max(of, longestOf(in, row))
		}
		longest = max(longest, of)
		if j := r.job(p, i); j != nil {
			own[j.applicationID()] = own[j.applicationID()].Plus(of)
		}
	}
	for id, of := range own {
		own[id] = min(of.Plus(longest).Plus(longest), mostHorizon)
	}
	return own
}

// mostHorizon bounds how far ahead waiting is looked at.
const mostHorizon = 366 * protocol.Day

// longestOf is the longest that a row would take, at any site.
func longestOf(in *policy.Snapshot, j int) (longest protocol.Duration) {
	for s := range in.Sites {
		if at := in.At(j, s); in.AWT[at] != protocol.Never {
			longest = max(longest, in.AWT[at].Plus(in.ERT[at]).Plus(in.Transfer(j, s)).Plus(in.Return(j, s)))
		}
	}
	return longest
}

// quoteMoney are the cost terms of a quote in the own currency, with what the link costs
// this site. Terms by other names count as the use of the machine.
func (p *Peer) quoteMoney(r *round, i int, a *rounds.Ask) view.Money {
	m := view.Money{Currency: p.currency()}
	q := r.Quote(i, a)
	if q.Declined != "" {
		return m
	}
	for _, term := range q.Terms {
		amount, err := p.money().Convert(term.Amount, q.Currency)
		if err != nil {
			continue // readable has declined it
		}
		into := &m.Use
		switch term.Name {
		case cost.LicenceTerm:
			into = &m.Licence
		case cost.EcoTerm, pricing.EnergyTerm:
			into = &m.Eco
		case cost.DataTerm:
			into = &m.Data
		}
		*into = into.Plus(amount)
	}
	if a != nil {
		m.Data = m.Data.Plus(a.Partner.LinkCost(&r.Specs[i]))
	}
	return m
}

// foreseen is what a decision is expected to bring.
func (p *Peer) foreseen(in *policy.Snapshot, d policy.Decision) *row.Prediction {
	if len(in.Use) == 0 { // the policy that was asked is no [policy.Broker], whatever this one is
		return nil
	}
	at := in.At(d.Job, d.Site)
	f := &row.Prediction{
		Cost: in.Use[at].Plus(in.Licence[at]).Plus(in.Eco[at]).Plus(in.Data[at]),
		Run:  in.ERT[at],
		Back: in.Return(d.Job, d.Site),
	}
	f.End = p.now.Add(in.Start(d.Job, d.Site, d.Wait).Plus(f.Run).Plus(f.Back))
	return f
}

// told adds to a quote what people want to know of components.
func (p *Peer) told(r *round, i int, a *rounds.Ask, q view.Quote) view.Quote {
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
