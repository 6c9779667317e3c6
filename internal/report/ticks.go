package report

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
)

// ticker finds the ticks of an axis for numbers of the kind.
func (k Kind) ticker() plot.Ticker {
	if k == Time {
		return timeTicks{}
	}
	return roundTicks{}
}

// timeTicks are at multiples of what divides minutes, hours or days. They are fewer than
// others, for their labels are long.
type timeTicks struct{}

// Ticks implements [plot.Ticker].
func (timeTicks) Ticks(low, high float64) []plot.Tick {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	steps := []float64{
		1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
		hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day,
	}
	at := slices.IndexFunc(steps, func(step float64) bool { return (high-low)/step < 5.5 })
	if at >= 0 {
		return multiples(steps[at], low, high, Time)
	}
	return multiples(day*roundStep((high-low)/day), low, high, Time)
}

// roundTicks are at multiples of 1, 2 or 5 times a power of ten, four to ten of them.
type roundTicks struct{}

// Ticks implements [plot.Ticker].
func (roundTicks) Ticks(low, high float64) []plot.Tick {
	return multiples(roundStep(high-low), low, high, Number)
}

// roundStep is 1, 2 or 5 times a power of ten, about a fifth of a range; 0 where that
// has no ticks.
func roundStep(span float64) float64 {
	rough := span / 5
	if rough <= 0 || math.IsInf(rough, 0) {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := power
	for _, times := range []float64{2, 5, 10} {
		if rough > 0.7*times*power {
			step = times * power
		}
	}
	return step
}

func multiples(step, low, high float64, k Kind) []plot.Tick {
	if step <= 0 {
		return nil
	}
	var at []float64
	for i := math.Ceil(low / step); i*step <= high; i++ {
		at = append(at, i*step)
	}
	return ticksAt(at, k)
}

// logTicks are at 1, 2 and 5 times each power of ten.
type logTicks struct{ kind Kind }

// Ticks implements [plot.Ticker].
func (l logTicks) Ticks(low, high float64) []plot.Tick {
	var at []float64
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high; power *= 10 {
		for _, times := range []float64{1, 2, 5} {
			if x := times * power; low <= x && x <= high {
				at = append(at, x)
			}
		}
	}
	return ticksAt(at, l.kind)
}

func ticksAt(at []float64, k Kind) plot.ConstantTicks {
	ticks := make(plot.ConstantTicks, len(at))
	for i, x := range at {
		ticks[i] = plot.Tick{Value: x, Label: k.Text(x)}
	}
	return ticks
}
