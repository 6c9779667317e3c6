package forecast

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/predict/sarima"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Past is the prices before an instant, by the local clock and the oldest first.
type Past struct {
	Prices []protocol.Micro // [Hole] where none is known
	Day    int              // slots in a day: a multiple of 24
}

// Forecaster continues a past.
type Forecaster interface {
	// Name is what configurations and reports call it.
	Name() string
	// Forecast returns the next steps prices, none of them a [Hole]. It needs one known
	// price; without any, all are 0.
	Forecast(past Past, steps int) []protocol.Micro
}

// Named returns a forecaster by its name: "auto", "yesterday", "blend", "mean",
// "flat" or "sarima", or an order as [sarima.ParseOrder] reads it.
func Named(name string) (Forecaster, error) {
	known := append(simple(), NewAuto(), NewSeasonal(PaperOrder()))
	if i := slices.IndexFunc(known, func(f Forecaster) bool { return f.Name() == name }); i >= 0 {
		return known[i], nil
	}
	if strings.HasPrefix(name, "(") {
		order, err := sarima.ParseOrder(name)
		if err != nil {
			return nil, err
		}
		return NewSeasonal(order), nil
	}
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.Name()
	}
	return nil, fmt.Errorf("no forecaster is called %q; use %s or an order such as (1,0,1)(1,0,1)24", name, strings.Join(names, ", "))
}

// simple are the forecasters that cost nothing; of equally good ones the first is
// taken.
func simple() []Forecaster { return []Forecaster{blend{}, yesterday{}, mean{}, flat{}} }

// memory is how many days back prices are looked at, if one is known in them.
const memory = 14

// recent is a copy of the end of a past, with room for a forecast.
func (p Past) recent(steps int) Past {
	start := max(0, len(p.Prices)-memory*p.Day)
	for start > 0 && !slices.ContainsFunc(p.Prices[start:], func(cost protocol.Micro) bool { return cost != Hole }) {
		start = max(0, start-p.Day)
	}
	kept := p.Prices[start:]
	return Past{Prices: append(make([]protocol.Micro, 0, len(kept)+steps), kept...), Day: p.Day}
}

// daysBefore is the price at the same hour some days before a slot.
func (p Past) daysBefore(at, days int) (protocol.Micro, bool) {
	if at -= days * p.Day; at < 0 || p.Prices[at] == Hole {
		return 0, false
	}
	return p.Prices[at], true
}

// sameHour is the price at the same hour of the last day on which it is known, or the
// last known one at all.
func (p Past) sameHour(at int) protocol.Micro {
	for days := 1; days*p.Day <= at; days++ {
		if cost, ok := p.daysBefore(at, days); ok {
			return cost
		}
	}
	for i := at - 1; i >= 0; i-- {
		if p.Prices[i] != Hole {
			return p.Prices[i]
		}
	}
	return 0
}

// continued calls next for each slot to come; what it returned counts as known.
func continued(past Past, steps int, next func(p Past, at int) protocol.Micro) []protocol.Micro {
	p := past.recent(steps)
	known := len(p.Prices)
	for range steps {
		p.Prices = append(p.Prices, next(p, len(p.Prices)))
	}
	return p.Prices[known:]
}

// yesterday is the same hour of the day before.
type yesterday struct{}

func (yesterday) Name() string { return "yesterday" }

func (yesterday) Forecast(past Past, steps int) []protocol.Micro {
	return continued(past, steps, Past.sameHour)
}

// fill returns the prices with the holes between them filled.
func (yesterday) fill(past Past) []protocol.Micro {
	all := Past{Prices: slices.Clone(past.Prices), Day: past.Day}
	for i, cost := range all.Prices {
		if cost == Hole {
			all.Prices[i] = all.sameHour(i)
		}
	}
	return all.Prices
}

// blend is 0.6 of yesterday's hour and 0.4 of that of the same weekday last week,
// yesterday's alone where that is not known.
type blend struct{}

func (blend) Name() string { return "blend" }

func (blend) Forecast(past Past, steps int) []protocol.Micro {
	return continued(past, steps, func(p Past, at int) protocol.Micro {
		near := p.sameHour(at)
		if week, ok := p.daysBefore(at, 7); ok {
			return share(6*near+4*week, 10)
		}
		return near
	})
}

// mean is the mean of the hour on the three days before, of those on which it is
// known.
type mean struct{}

func (mean) Name() string { return "mean" }

func (mean) Forecast(past Past, steps int) []protocol.Micro {
	return continued(past, steps, func(p Past, at int) protocol.Micro {
		var sum, days protocol.Micro
		for back := 1; back <= 3; back++ {
			if cost, ok := p.daysBefore(at, back); ok {
				sum, days = sum+cost, days+1
			}
		}
		if days == 0 {
			return p.sameHour(at)
		}
		return share(sum, days)
	})
}

// flat is the mean of all that is known of the last three days, or else the last
// known price: right for a fixed tariff, and the measure of how much the hour
// matters.
type flat struct{}

func (flat) Name() string { return "flat" }

func (flat) Forecast(past Past, steps int) []protocol.Micro {
	var sum, known protocol.Micro
	for _, cost := range past.Prices[max(0, len(past.Prices)-3*past.Day):] {
		if cost != Hole {
			sum, known = sum+cost, known+1
		}
	}
	level := past.sameHour(len(past.Prices))
	if known > 0 {
		level = share(sum, known)
	}
	return slices.Repeat([]protocol.Micro{level}, max(steps, 0))
}

// share divides and rounds to the nearest, halves away from zero.
func share(sum, by protocol.Micro) protocol.Micro {
	if sum < 0 {
		return (sum - by/2) / by
	}
	return (sum + by/2) / by
}
