package gamma_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
)

// TestSlope compares the slopes with differences. Only where the model bends, between two
// rates or where all computing is just hidden, they may part.
func TestSlope(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const step, bend = 1e-6, 1e-4
		b, m, cpus := drawBehavior(t), drawMachine(t), rapid.IntRange(1, 1000).Draw(t, "P")
		var at [gamma.Unknowns]float64
		for i := range at {
			at[i] = rapid.Float64Range(-2, 2).Draw(t, "at")
		}
		_, slope := gamma.LogTime(b, m, cpus, at)
		for i := range at {
			low, high := at, at
			low[i] -= step
			high[i] += step
			below, under := gamma.LogTime(b, m, cpus, low)
			above, over := gamma.LogTime(b, m, cpus, high)
			if math.Abs(under[i]-over[i]) > bend {
				continue
			}
			if difference := (above - below) / (2 * step); math.Abs(difference-slope[i]) > bend {
				t.Errorf("the slope by unknown %d is %g, differences say %g", i, slope[i], difference)
			}
		}
	})
}
