package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// beginPrices asks for prices, when the site says where it buys its electricity.
func (p *Peer) beginPrices() {
	if p.cfg.Area == "" {
		return
	}
	p.prices.Miss("no answer yet")
	p.askPrices()
}

// askPrices takes the prices of the next days in, and asks again later. Those of
// before serve until then.
func (p *Peer) askPrices() {
	p.call(event.PriceOp{Area: p.cfg.Area, From: p.now, Until: p.now.Add(p.cfg.PriceSpan)}, askPrices{})
}

// askPrices asks for the prices of the next days.
type askPrices struct{}

func (askPrices) answered(p *Peer, result event.Result, err error) {
	priced, err := step.ResultAs[event.PriceResult](result, err)
	if err == nil {
		priced.Trouble = clip(priced.Trouble)
		p.prices.Take(price.Forecast(priced))
	} else {
		p.prices.Miss(clip(err.Error()))
	}
	again := p.cfg.PriceRefresh
	if why := p.prices.Missing(); why != "" {
		p.logEvent(event.LogEvent{Kind: event.LogPricesMissing, Site: p.cfg.Site, Text: why})
		again = min(again, p.dice.Jitter(p.cfg.CheckInterval))
	}
	p.after(again, timer{kind: priceTimer})
}

// desk is where jobs are priced, as the site is configured and by the prices of now.
func (p *Peer) desk() pricing.Desk {
	return pricing.Desk{
		Number: p.cfg.Number, Capacity: &p.cfg.Capacity, Tariff: p.cfg.Tariff, Costs: p.cfg.Costs,
		Power: p.cfg.Power, Spread: p.cfg.Spread, Prices: &p.prices,
	}
}

// charge adds to a quote what the work costs here, or declines what is not sold.
func (p *Peer) charge(q *protocol.Quote, spec *protocol.Spec, by protocol.EnergyPricing) {
	if q.Declined != "" {
		return
	}
	p.desk().Charge(q, spec, by, p.now)
	q.Declined, q.Note = clip(q.Declined), view.ClipTo(quoting.MaxNote, q.Note)
}

// noteDraw counts a run while it runs.
func (p *Peer) noteDraw(r *localrun.Run) {
	runs := r.Phase == row.RunRunning && p.rows.Runs[r.Tag] == r
	if p.cfg.Power == 0 || runs == r.Draws {
		return
	}
	r.Draws = runs
	if !runs {
		p.drawing.Remove(r.Power, r.Request.CPUs)
		return
	}
	if spec := p.rows.SpecOf(r.Tag); spec != nil {
		r.Power = p.desk().Draw(spec)
	}
	p.drawing.Add(r.Power, r.Request.CPUs)
}

// powerOf is what a placement here is taken to draw, in milliwatts.
func (p *Peer) powerOf(tag protocol.Tag) int64 {
	return p.desk().Charged(p.rows.TariffOf(tag), p.rows.SpecOf(tag))
}

// totals are what the runs that are over came to at this site. Who changes them saves the site.
func (p *Peer) totals() *pricing.Totals { return (*pricing.Totals)(&p.site.Totals) }

// noteEnergy counts a run that has ended here.
func (p *Peer) noteEnergy(tag protocol.Tag, o *protocol.Outcome) {
	if p.totals().AddRun(p.powerOf(tag), o, p.now) {
		p.rows.SaveSite()
	}
}

// electricityView is nil where there is nothing to tell: no power is stated, and no money counted.
func (p *Peer) electricityView() *view.Electricity {
	if p.cfg.Power == 0 && p.load.Draw == 0 && p.site.Totals.Since == 0 && !p.prices.Known() {
		return nil
	}
	v := &view.Electricity{Totals: p.site.Totals, Draw: p.load.Draw}
	v.Price, v.PriceCurrency = p.prices.At(p.now)
	if p.drawing.Idle() {
		return v
	}
	for tag, r := range p.rows.Runs {
		if r.Phase == row.RunRunning && r.Started != 0 {
			v.Running = pricing.AddEnergy(v.Running, pricing.Energy(p.powerOf(tag), p.now.Sub(r.Started)))
		}
	}
	return v
}

// ownEnergy is what a job of this origin draws, where it is placed.
func (p *Peer) ownEnergy(j *tables.Job, bill *view.Bill) *view.JobEnergy {
	power := pricing.ChargedPower(j.Tariff)
	if j.Site == p.cfg.Site {
		power = p.desk().Charged(j.Tariff, &j.Spec)
	}
	return pricing.EnergyOfJob(&j.Job, power, bill, p.now)
}
