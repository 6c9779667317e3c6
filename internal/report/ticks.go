package report

import (
	"math"

	"gonum.org/v1/plot"
)

// roundTicks are at multiples of 1, 2 or 5 times a power of ten, four to ten of them.
type roundTicks struct{}

// Ticks implements [plot.Ticker].
func (roundTicks) Ticks(low, high float64) []plot.Tick {
	rough := (high - low) / 5
	if rough <= 0 || math.IsInf(rough, 0) {
		return nil
	}
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := power
	for _, times := range []float64{2, 5, 10} {
		if rough > 0.7*times*power {
			step = times * power
		}
	}
	var at []float64
	for i := math.Ceil(low / step); i*step <= high; i++ {
		at = append(at, i*step)
	}
	return ticksAt(at)
}

// logTicks are at 1, 2 and 5 times each power of ten.
type logTicks struct{}

// Ticks implements [plot.Ticker].
func (logTicks) Ticks(low, high float64) []plot.Tick {
	var at []float64
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high; power *= 10 {
		for _, times := range []float64{1, 2, 5} {
			if x := times * power; low <= x && x <= high {
				at = append(at, x)
			}
		}
	}
	return ticksAt(at)
}

func ticksAt(at []float64) plot.ConstantTicks {
	ticks := make(plot.ConstantTicks, len(at))
	for i, x := range at {
		ticks[i] = plot.Tick{Value: x, Label: number(x)}
	}
	return ticks
}
