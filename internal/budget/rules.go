package budget

import (
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rules are what a site says of its power budget.
type Rules struct {
	Limit int64           // milliwatts; [power.Unlimited]: none but that of a series
	Hours Hours           // at which Limit holds
	Zone  *time.Location  // of the clock that Hours mean; nil: UTC
	Above *protocol.Micro // Limit holds only while a MWh costs more; nil: at any price
}

// Known is what is known of the time that rules are asked for.
type Known struct {
	Prices price.Series // of electricity, for [Rules.Above]
	Series price.Series // budgets in kilowatts, one for each slot; empty: none
}

// Signal is the budget from one instant to another: the limit at those of its hours that
// cost more than its price, and the budget of the series; the lower of the two where both
// hold. Hours and prices that are published beyond that time count there too.
func (r Rules) Signal(known Known, from, until protocol.Instant) power.Signal {
	return power.Min(r.limited(known.Prices, from, until), Series(known.Series, Kilowatt))
}

// limited is the budget of the limit alone.
func (r Rules) limited(prices price.Series, from, until protocol.Instant) power.Signal {
	if r.Limit == power.Unlimited {
		return power.Signal{}
	}
	zone := r.Zone
	if zone == nil {
		zone = time.UTC
	}
	hours := r.Hours.Signal(zone, from, until, r.Limit)
	if r.Above == nil {
		return hours
	}
	return higher(hours, AbovePrice(prices, *r.Above, r.Limit))
}

// higher is the higher of two budgets at every instant: what holds where both do.
func higher(a, b power.Signal) power.Signal {
	var at []protocol.Instant
	for _, step := range slices.Concat(a.Steps(), b.Steps()) {
		at = append(at, step.At)
	}
	slices.Sort(at)
	var steps []power.Step
	for _, now := range slices.Compact(at) {
		one, _ := a.At(now)
		two, _ := b.At(now)
		steps = append(steps, power.Step{At: now, Limit: max(one, two)})
	}
	return signal(steps)
}
