package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/plugins/price"
)

// beginPrices asks for prices, when the site says where it buys its electricity.
func (p *Peer) beginPrices() {
	if p.cfg.Area == "" {
		return
	}
	p.prices.Miss("no answer yet")
	p.askPrices()
}

// askPrices takes the prices of the next days in, and asks again later. The previous
// ones are used until then.
func (p *Peer) askPrices() {
	p.timers.Stop(due.Once(due.PriceTimer)) // what it would ask for is asked for now
	p.call(event.PriceOp{Area: p.cfg.Area, From: p.now, Until: p.now.Add(p.cfg.PriceSpan)}, askPrices{p.prices.Ask()})
}

// askPrices asks for the prices of the next days.
type askPrices struct{ nth int }

func (a askPrices) answered(p *Peer, result event.Result, err error) {
	if !p.prices.Awaits(a.nth) {
		return
	}
	priced, err := step.ResultAs[event.PriceResult](result, err)
	if err == nil {
		priced.StaleReason = clip(priced.StaleReason)
		p.prices.Take(price.Forecast(priced))
	} else {
		p.prices.Miss(clip(err.Error()))
	}
	again := p.cfg.PriceRefresh
	if why := p.prices.Missing(); why != "" {
		p.logEvent(event.LogEvent{Kind: event.LogPricesMissing, Site: p.cfg.Site, Text: why})
		again = min(again, p.dice.Jitter(p.cfg.CheckInterval))
	}
	p.after(again, due.Once(due.PriceTimer))
}

// desk is where jobs are priced, as the site is configured and by the prices of now.
func (p *Peer) desk() pricing.Desk {
	return pricing.Desk{
		Number: p.cfg.Number, Capacity: &p.cfg.Capacity, Tariff: p.cfg.Tariff, Costs: p.cfg.Costs,
		Power: p.cfg.Power, Spread: p.cfg.Spread, Prices: &p.prices,
	}
}
