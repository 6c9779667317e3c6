package workload

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// Gamma is a gamma distribution: mean Shape · Scale, variance Shape · Scale².
type Gamma struct {
	Shape float64 `json:"shape" toml:"shape"`
	Scale float64 `json:"scale" toml:"scale"`
}

// The parameters that are computed with: beyond them the inverse is not exact.
const (
	gammaLeast = 1e-3
	gammaMost  = 1e5
)

// Validate reports the first parameter that is out of bounds.
func (g Gamma) Validate() error {
	switch {
	case !(g.Shape >= gammaLeast && g.Shape <= gammaMost):
		return fmt.Errorf("shape: %v is not from %g to %g", g.Shape, gammaLeast, gammaMost)
	case !(g.Scale >= gammaLeast && g.Scale <= gammaMost):
		return fmt.Errorf("scale: %v is not from %g to %g", g.Scale, gammaLeast, gammaMost)
	}
	return nil
}

// Mean returns E[X].
func (g Gamma) Mean() float64 { return g.Shape * g.Scale }

// Below returns the probability of a value up to x.
func (g Gamma) Below(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return mathext.GammaIncReg(g.Shape, x/g.Scale)
}

// cutGamma is a gamma distribution within bounds, as drawing again what is
// outside of them leaves it. Each draw takes one random number whatever the
// parameters, so that a change of these does not shift those that follow.
type cutGamma struct {
	gamma     Gamma
	low, high float64
	from, to  float64 // the probabilities below low and below high
}

// leastMass is how much of a distribution must lie within its bounds: of less,
// floating point does not give a faithful picture.
const leastMass = 1e-9

func (g Gamma) within(low, high float64) (cutGamma, error) {
	c := cutGamma{gamma: g, low: low, high: high, from: g.Below(low), to: g.Below(high)}
	if !(c.to-c.from >= leastMass) {
		return c, fmt.Errorf("shape, scale: %v and %v give no value from %.4g to %.4g", g.Shape, g.Scale, low, high)
	}
	return c, nil
}

func (c cutGamma) draw(rng *rand.Rand) float64 {
	u := c.from + (c.to-c.from)*rng.Float64()
	x := c.gamma.Scale * mathext.GammaIncRegInv(c.gamma.Shape, u)
	return math.Min(math.Max(x, c.low), c.high)
}
