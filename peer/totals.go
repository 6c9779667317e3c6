package peer

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/exact"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// moneyTotals are those of a currency, to be changed. Rows that were given out stay as they are.
func (p *Peer) moneyTotals(currency string) *view.MoneyTotals {
	all := slices.Clone(p.totals().Money)
	at, found := slices.BinarySearchFunc(all, currency, func(m view.MoneyTotals, c string) int { return cmp.Compare(m.Currency, c) })
	if !found {
		all = slices.Insert(all, at, view.MoneyTotals{Currency: currency})
	}
	p.site.Totals.Money = all
	return &all[at]
}

// totals are those of this site, to be changed and saved.
func (p *Peer) totals() *view.Totals {
	if p.site.Totals.Since == 0 {
		p.site.Totals.Since = p.now
	}
	p.saveSite()
	return &p.site.Totals
}

// split adds an amount to the total of those above 0, or to that of those below.
func split(amount protocol.Micro, above, below *protocol.Micro) {
	if amount > 0 {
		*above = above.Plus(amount)
		return
	}
	*below = below.Plus(-max(amount, -maxMoney))
}

// maxMoney is the largest amount.
const maxMoney = protocol.Micro(1<<63 - 1)

// noteEnergy counts a run that has ended here.
func (p *Peer) noteEnergy(tag protocol.Tag, o *protocol.Outcome) {
	energy := millijoules(p.powerOf(tag), o.Ran)
	if energy > 0 {
		t := p.totals()
		t.Energy = exact.Whole(t.Energy).Plus(exact.Whole(energy)).Down()
	}
	if o.Bill == nil {
		return
	}
	if amount, named := energyCost(o.Bill.Terms); named && amount != 0 {
		m := p.moneyTotals(o.Bill.Currency)
		split(amount, &m.Cost, &m.Credit)
	}
}

// powerOf is what a placement here is taken to draw, in milliwatts: as its tariff charges it, with
// cooling where the site's does, else as it is foreseen.
func (p *Peer) powerOf(tag protocol.Tag) int64 {
	if power := tariffPower(p.tariffOf(tag)); power > 0 {
		return power
	}
	if spec := p.specOf(tag); spec != nil {
		return p.foreseenDraw(spec)
	}
	return 0
}

// tariffPower is the power that a tariff charges electricity for; 0: it charges none.
func tariffPower(t *protocol.Tariff) (milliwatts int64) {
	if t == nil {
		return 0
	}
	for i := range t.Charges {
		if c := &t.Charges[i]; electric(c.Name) && c.Per == protocol.Megawatt {
			milliwatts = max(milliwatts, c.Units) // one charge is for the electricity, another for its CO2
		}
	}
	return milliwatts
}

// electric says whether a term is for electricity.
func electric(term string) bool { return term == EnergyTerm || term == cost.EcoTerm }

// energyCost is what the terms say of electricity, and whether they do.
func energyCost(terms []protocol.Term) (sum protocol.Micro, named bool) {
	for _, term := range terms {
		if electric(term.Name) {
			sum, named = sum.Plus(term.Amount), true
		}
	}
	return sum, named
}

// millijoules is the energy of a power over a time.
func millijoules(milliwatts int64, d protocol.Duration) int64 {
	return exact.Product(milliwatts, int64(max(0, d))).Nearest(int64(protocol.Second))
}

// noteSaved counts what an own job has saved by its run at a partner. One is not counted that home
// did not quote a price for, that was not billed, or whose two prices cannot be compared.
func (p *Peer) noteSaved(j *job, o *protocol.Outcome) {
	if j.Home == nil || j.Home.Run <= 0 || o.Bill == nil {
		return
	}
	home, billed, currency := p.homeCost(j, o.Ran), o.Bill.Cost(), o.Bill.Currency
	if currency != j.Home.Currency {
		var fromHome, fromThere error
		home, fromHome = p.money().Convert(home, j.Home.Currency)
		billed, fromThere = p.money().Convert(billed, currency)
		if fromHome != nil || fromThere != nil {
			return
		}
		currency = p.currency()
	}
	if saved := home.Plus(-max(billed, -maxMoney)); saved != 0 {
		m := p.moneyTotals(currency)
		split(saved, &m.Saved, &m.Lost)
	}
}

// homeCost is what home had quoted for a job, for the time that its run at its site takes at the
// speed of home.
func (p *Peer) homeCost(j *job, ran protocol.Duration) protocol.Micro {
	if there := p.capacityOf(j.Site); there != nil {
		ran = p.cfg.Capacity.Rescale(ran, there.MHz, there.Mflops)
	}
	return protocol.Micro(exact.Product(int64(j.Home.Cost), int64(ran)).Nearest(int64(j.Home.Run)))
}

// electricityView is nil where there is nothing to tell: no power is stated, and no money counted.
func (p *Peer) electricityView() *view.Electricity {
	if p.cfg.Power == 0 && p.load.Draw == 0 && p.site.Totals.Since == 0 && p.electricity.hourly == nil {
		return nil
	}
	v := &view.Electricity{Totals: p.site.Totals, Draw: p.load.Draw}
	v.Price, v.PriceCurrency = p.priceNow()
	if p.drawing.cpus == 0 {
		return v
	}
	for tag, r := range p.runs {
		if r.Phase == row.RunRunning && r.Started != 0 {
			v.Running = exact.Whole(v.Running).Plus(exact.Whole(millijoules(p.powerOf(tag), p.now.Sub(r.Started)))).Down()
		}
	}
	return v
}

// priceNow is that of a MWh of electricity; nil: it is not known.
func (p *Peer) priceNow() (*protocol.Micro, string) {
	steps := p.electricity.hourly.Steps(p.now, p.now)
	if len(steps) == 0 {
		return nil, ""
	}
	return &steps[0].PerHour, p.electricity.currency
}

// jobEnergy is nil when nothing is known of a job's energy.
func jobEnergy(power int64, quoted *view.QuotedPrice, bill *view.Bill, ran protocol.Duration, measured int64) *view.JobEnergy {
	v := view.JobEnergy{Power: power, Used: millijoules(power, ran), Measured: measured}
	if quoted != nil {
		v.Quoted, v.QuotedCost = millijoules(power, quoted.Run), quoted.Energy
	}
	if bill != nil {
		v.Cost = billedElectricity(bill)
	}
	if v == (view.JobEnergy{}) {
		return nil
	}
	return &v
}

// ownEnergy is what a job of this origin draws, where it is placed.
func (p *Peer) ownEnergy(j *job, bill *view.Bill) *view.JobEnergy {
	power := tariffPower(j.Tariff)
	if power == 0 && j.Site == p.cfg.Site {
		power = p.foreseenDraw(&j.Spec)
	}
	switch {
	case j.Outcome != nil:
		return jobEnergy(power, j.Quoted, bill, j.Outcome.Ran, j.Outcome.Usage.Energy)
	case j.State == protocol.Running && j.Started != 0:
		return jobEnergy(power, j.Quoted, bill, p.now.Sub(j.Started), 0)
	}
	return jobEnergy(power, j.Quoted, bill, 0, 0)
}

// guestEnergy is what a partner's job draws that has started here.
func (p *Peer) guestEnergy(r *run, bill *view.Bill) *view.JobEnergy {
	switch {
	case r.Outcome != nil:
		return jobEnergy(p.powerOf(r.Tag), nil, bill, r.Outcome.Ran, r.Outcome.Usage.Energy)
	case r.Started != 0:
		return jobEnergy(p.powerOf(r.Tag), nil, bill, p.now.Sub(r.Started), 0)
	}
	return nil
}

// billedElectricity is what a bill says of it; nil: nothing.
func billedElectricity(v *view.Bill) *protocol.Micro {
	terms := make([]protocol.Term, len(v.Terms))
	for i, one := range v.Terms {
		terms[i] = protocol.Term(one)
	}
	return electricityOf(terms)
}

// electricityOf is what the terms say of it; nil: nothing.
func electricityOf(terms []protocol.Term) *protocol.Micro {
	sum, named := energyCost(terms)
	if !named {
		return nil
	}
	return &sum
}
