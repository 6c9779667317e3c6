package pricing

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Prices are what a site knows of the prices of its electricity. Without any it still schedules;
// its quotes then have no energy term. The zero Prices are none.
type Prices struct {
	hourly   *price.Meter // nil: none are known
	twoPrice *price.Meter // the same prices as on-peak and off-peak only
	currency string
	known    protocol.Instant // end of the prices that are published; later ones are forecast
	missing  string           // why there are none, or none that are new
	asked    int              // how often they have been asked for
}

// Ask numbers a question for the prices.
func (p *Prices) Ask() int {
	p.asked++
	return p.asked
}

// Awaits says whether the question of that number is the last one. The answer to an earlier one counts no
// more: the feed may have been replaced since.
func (p *Prices) Awaits(asked int) bool { return asked == p.asked }

// Take replaces the prices with new ones. An answer without any price changes nothing
// but that they are missing.
func (p *Prices) Take(f price.Forecast) {
	if len(f.Prices.Slots) == 0 {
		p.Miss("none are known of this time")
		return
	}
	*p = Prices{
		hourly: price.NewMeter(f.Prices), twoPrice: price.NewMeter(f.TwoPrice),
		currency: f.Currency, known: f.PublishedUntil, missing: f.StaleReason, asked: p.asked,
	}
}

// Miss notes why there are no new prices. The previous ones stay active.
func (p *Prices) Miss(why string) { p.missing = why }

// Missing says why there are no prices, or none that are new; empty: these are the newest.
func (p *Prices) Missing() string { return p.missing }

// Known says whether any are known.
func (p *Prices) Known() bool { return p.hourly != nil }

// Currency is theirs; empty: none are known.
func (p *Prices) Currency() string { return p.currency }

// At is the price of a MWh at an instant and its currency; nil: it is not known.
func (p *Prices) At(now protocol.Instant) (*protocol.Micro, string) {
	steps := p.hourly.Steps(now, now)
	if len(steps) == 0 {
		return nil, ""
	}
	return &steps[0].PerHour, p.currency
}

// Text says what the site knows of the prices of its area; empty: it names none.
func (p *Prices) Text(area string) string {
	switch {
	case area == "":
		return ""
	case p.hourly == nil:
		return fmt.Sprintf("no prices of %s: %s", area, p.missing)
	case p.missing != "":
		return fmt.Sprintf("old prices of %s: %s", area, p.missing)
	}
	return fmt.Sprintf("%s in %s, known until %s", area, p.currency, p.known.Time().Format("2006-01-02 15:04Z"))
}

// meter has the prices for a kind of pricing; nil if there are none.
func (p *Prices) meter(by protocol.EnergyPricing) *price.Meter {
	if by == protocol.TwoPrice {
		return p.twoPrice
	}
	return p.hourly
}
