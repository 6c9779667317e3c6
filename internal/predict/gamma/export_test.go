package gamma

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Unknowns is how many numbers the fit looks for.
const Unknowns = unknowns

// LogTime is ln T of a run whose unknowns are so, and its slope as the fit reckons it.
func LogTime(b protocol.Behavior, m protocol.Machine, cpus int, at [Unknowns]float64) (float64, [Unknowns]float64) {
	s := sample{node: newNode(&m, cpus), work: workOf(&b)}
	v := vector(at)
	by := v.factors()
	t := s.times(&by)
	return math.Log(t.total()), t.slope()
}
