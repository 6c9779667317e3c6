package ledger

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Ledger is the accounts of a site at one instant.
type Ledger struct {
	Name     protocol.SiteName // of the local site
	Rows     *tables.Tables
	Site     *lives.Store
	Partners *partner.Set
	Drawing  *pricing.Drawing
	Desk     pricing.Desk
	Money    pricing.Money
	Now      protocol.Instant
}

// Capacity is what a site's machine offers; nil: no card of it is known.
func (l Ledger) Capacity(site protocol.SiteName) *protocol.Capacity {
	if site == l.Name {
		return l.Desk.Capacity
	}
	if one := l.Partners.Of(site); one != nil && one.Card != nil {
		return &one.Card.Capacity
	}
	return nil
}

// NoteDraw counts a run in what the site draws while it runs.
func (l Ledger) NoteDraw(r *localrun.Run) {
	runs := r.Phase == row.RunRunning && l.Rows.Runs[r.Tag] == r
	if l.Desk.Power == 0 || runs == r.Draws {
		return
	}
	r.Draws = runs
	if !runs {
		l.Drawing.Remove(r.Power, r.Request.CPUs)
		return
	}
	if spec := l.Rows.SpecOf(r.Tag); spec != nil {
		r.Power = l.Desk.Draw(spec)
	}
	l.Drawing.Add(r.Power, r.Request.CPUs)
}

// powerOf is what a placement here is taken to draw, in milliwatts.
func (l Ledger) powerOf(tag protocol.Tag) int64 {
	return l.Desk.Charged(l.Rows.TariffOf(tag), l.Rows.SpecOf(tag))
}

// Settle adds to the outcome of a run here, which began at an instant (0: it never did), what was measured
// of its power and what it is charged, and counts that in the totals of the site.
func (l Ledger) Settle(r *localrun.Run, outcome *protocol.Outcome, started protocol.Instant) {
	outcome.Usage.Power = l.Desk.Measured(r.Request.CPUs, outcome)
	outcome.Bill = pricing.Settle(l.Rows.TariffOf(r.Tag), started, outcome.Ran)
	if l.totals().AddRun(l.powerOf(r.Tag), outcome, l.Now) {
		l.Rows.SaveSite()
	}
}

// totals are what the runs that are over came to at this site. Who changes them saves the site.
func (l Ledger) totals() *pricing.Totals { return (*pricing.Totals)(&l.Site.Totals) }

// CountSaved counts what a job of this origin has saved by its run at a partner.
func (l Ledger) CountSaved(j *tables.Job, o *protocol.Outcome) {
	atHome := o.Ran // at the speed of the local site
	if there := l.Capacity(j.Site); there != nil {
		atHome = l.Desk.Capacity.Rescale(o.Ran, there.MHz, there.Mflops)
	}
	if l.totals().AddRunElsewhere(&j.Job, o, atHome, l.Money, l.Now) {
		l.Rows.SaveSite()
	}
}

// LinkCost is what the transfer of a job's data to its site and back costs.
func (l Ledger) LinkCost(j *tables.Job) protocol.Micro {
	if one := l.Partners.Of(j.Site); one != nil {
		return one.LinkCost(&j.Spec)
	}
	return 0
}

// RealCost is what a placement that is over has cost the local user, in the site's own currency.
func (l Ledger) RealCost(j *tables.Job) protocol.Micro { return l.Money.Actual(&j.Job, l.LinkCost(j)) }

// Placed is what the components of an application cost that have ended or are placed.
func (l Ledger) Placed(a *row.Application) broker.Placed {
	placed := broker.Placed{Cost: a.Spent}
	open := l.Rows.Applications[a.ID]
	if open == nil { // a question's
		return placed
	}
	for _, id := range open.Jobs {
		j := l.Rows.Jobs[id]
		if f := j.Prediction; f != nil {
			cost := l.Money.SoFar(&j.Job, l.LinkCost(j), l.Now)
			placed.Cost, placed.CommittedUntil = placed.Cost.Plus(cost), max(placed.CommittedUntil, f.End)
		}
	}
	return placed
}

// limits are those of an application, in the own currency.
func (l Ledger) limits(a *tables.Application) broker.Limits {
	return broker.Limits{App: &a.Application, Money: l.Money}
}

// UnreachableReason says why what has not started of an application cannot keep its limits any more;
// empty: it may, or there is no application.
func (l Ledger) UnreachableReason(a *tables.Application) string {
	if a == nil {
		return ""
	}
	return l.limits(a).Unreachable(l.Now)
}

// Spend adds what a placement has cost to its application.
func (l Ledger) Spend(j *tables.Job) {
	a := j.App
	if a == nil {
		return
	}
	a.Spent = a.Spent.Plus(l.RealCost(j))
	l.Rows.SaveApplication(a.ID)
}

// EndComponent takes an ended component off its application and notes what it has cost. It says which
// limit the application has broken by that; empty: none, or it had broken one before.
func (l Ledger) EndComponent(j *tables.Job) (broken string) {
	a := j.App
	if a == nil {
		return ""
	}
	a.Jobs = slices.DeleteFunc(a.Jobs, func(id protocol.JobID) bool { return id == j.Spec.Job })
	l.Spend(j)
	if a.Broken != "" {
		return ""
	}
	a.Broken = view.Clip(l.limits(a).BrokenBy(&j.Job, l.RealCost(j)))
	return a.Broken
}

// Agree keeps what the site that has a reservation for a job charges for it, before the grant. When the
// limit of the job's application does not allow that, it says why.
func (l Ledger) Agree(j *tables.Job, m protocol.Prepared) (why string) {
	if m.Tariff == nil {
		return ""
	}
	j.Tariff = m.Tariff
	f := j.Prediction
	if f == nil {
		return ""
	}
	start := m.Start
	if start == 0 {
		start = l.Now
		if j.QuotedAWT != nil {
			start = l.Now.Add(max(0, *j.QuotedAWT))
		}
	}
	agreed := l.Money.AtTariff(&j.Job, start, l.LinkCost(j))
	j.Prediction = agreed
	if j.App == nil {
		return ""
	}
	return l.limits(j.App).ChargedMore(j.Site, f.Cost, agreed.Cost, l.Placed(&j.App.Application).Cost)
}

// Electricity is what the site draws now, and what its runs came to; nil: it states no power, and counts
// no money.
func (l Ledger) Electricity(draw int64) *view.Electricity {
	if l.Desk.Power == 0 && draw == 0 && l.Site.Totals.Since == 0 && !l.Desk.Prices.Known() {
		return nil
	}
	v := &view.Electricity{Totals: l.Site.Totals, Draw: draw}
	v.Price, v.PriceCurrency = l.Desk.Prices.At(l.Now)
	if l.Drawing.Idle() {
		return v
	}
	for tag, r := range l.Rows.Runs {
		if r.Phase == row.RunRunning && r.Started != 0 {
			v.Running = pricing.AddEnergy(v.Running, pricing.Energy(l.powerOf(tag), l.Now.Sub(r.Started)))
		}
	}
	return v
}

// ShowJob adds the bill and the energy of a job of this origin, where it is placed, to its view.
func (l Ledger) ShowJob(v *view.Job, j *tables.Job) {
	if v.Bill = pricing.BillView(j.Tariff, j.State, j.Started, j.Outcome, l.Now); v.Bill != nil {
		v.Bill.Disputed = j.Disputed
	}
	power := pricing.ChargedPower(j.Tariff)
	if j.Site == l.Name {
		power = l.Desk.Charged(j.Tariff, &j.Spec)
	}
	v.Energy = pricing.EnergyOfJob(&j.Job, power, v.Bill, l.Now)
}

// ShowGuest adds the bill and the energy of a guest's run to its view.
func (l Ledger) ShowGuest(v *view.Job, g *tables.Guest, r *localrun.Run) {
	v.Bill = pricing.BillView(g.Tariff, protocol.Running, r.Started, r.Outcome, l.Now)
	v.Energy = pricing.EnergyOfRun(&r.Run, l.powerOf(r.Tag), v.Bill, l.Now)
}

// NoteBenefit compares a job that has run with what it would have had at this site.
func (l Ledger) NoteBenefit(b *status.Benefit, j *tables.Job) {
	if !j.LocalQuote.Known {
		return
	}
	var there *protocol.Capacity
	if one := l.Partners.Of(j.Site); one != nil {
		if one.Card == nil {
			return
		}
		there = &one.Card.Capacity
	}
	b.AddJob(&j.Job, j.LocalQuote.AWT, l.Desk.Capacity, there)
}
