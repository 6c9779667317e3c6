package budget

import (
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Kilowatt is a kilowatt in milliwatts.
const Kilowatt int64 = 1_000_000

// AbovePrice is a budget in milliwatts that holds while a MWh costs more than a threshold.
// While no price is known there is no budget, nor is there any by a series that
// [price.Series.Check] refuses.
func AbovePrice(s price.Series, threshold protocol.Micro, limit int64) power.Signal {
	return slots(s, func(cost protocol.Micro) int64 { return limitIf(cost > threshold, limit) })
}

// Series is a budget that is another one in each slot of a series: what stands there for a
// price is a power, in units of the given number of milliwatts. A negative one is 0. Where the series
// has no slot there is no budget.
func Series(s price.Series, unit int64) power.Signal {
	return slots(s, func(amount protocol.Micro) int64 { return scaled(amount, unit) })
}

// slots is a signal with a budget for each slot, and none between them.
func slots(s price.Series, limit func(protocol.Micro) int64) power.Signal {
	steps := make([]power.Step, 0, len(s.Slots)+1)
	for i, slot := range s.Slots {
		steps = append(steps, power.Step{At: slot.Start, Limit: limit(slot.Price)})
		if i+1 == len(s.Slots) || s.Slots[i+1].Start != slot.End() {
			steps = append(steps, power.Step{At: slot.End(), Limit: power.Unlimited})
		}
	}
	return signal(steps)
}

// scaled is amount · unit without the millionths, rounded down; at most what is no budget.
func scaled(amount protocol.Micro, unit int64) int64 {
	return int128.Product(max(0, int64(amount)), max(0, unit)).Down(int64(protocol.Unit))
}

// signal is that of steps in the order of time.
func signal(steps []power.Step) power.Signal {
	s, _ := power.NewSignal(steps) // fails only for series out of order: no budget
	return s
}
