package cost

import "github.com/switchyard-hpc/switchyard/protocol"

// Objective names weights for users who do not want to choose numbers.
type Objective string

// The objectives.
const (
	Fastest  Objective = "fastest"
	Cheapest Objective = "cheapest"
	Green    Objective = "green"
	Balanced Objective = "balanced"
)

// Objectives lists their names in the order in which messages and help show them.
func Objectives() []Objective { return []Objective{Fastest, Cheapest, Green, Balanced} }

// Weights are those of z [IS 4.2], in parts per million: α of K_e and K_l, β of K_w, γ of
// K_eco, δ of K_d.
type Weights struct{ Alpha, Beta, Gamma, Delta int }

// greenest is γ of [Green]: energy that is a hundredth of a bill weighs as much as the rest.
const greenest = 100 * protocol.PPM

// Weights are what an objective stands for; ok is false when there is no such one.
//
// Fastest is [IS 4.2]'s α = γ = δ = 0, β ≠ 0. Cheapest has β = 0 and α = γ = δ, as the bill
// is least only when every unit of money weighs the same; the paper asks just that they are
// not 0. Balanced counts an hour of waiting as what it costs, like any other money. Green is
// cheapest with energy so heavy that the rest decides only between choices whose energy
// costs nearly the same; without the rest the most expensive machine would be chosen, if it saved a watt.
func (o Objective) Weights() (w Weights, ok bool) {
	switch o {
	case Fastest:
		return Weights{Beta: protocol.PPM}, true
	case Cheapest:
		return Weights{Alpha: protocol.PPM, Gamma: protocol.PPM, Delta: protocol.PPM}, true
	case Green:
		return Weights{Alpha: protocol.PPM, Gamma: greenest, Delta: protocol.PPM}, true
	case Balanced:
		return Weights{Alpha: protocol.PPM, Beta: protocol.PPM, Gamma: protocol.PPM, Delta: protocol.PPM}, true
	}
	return Weights{}, false
}
