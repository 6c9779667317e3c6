package nodebench

import "math"

// For tests of what the package keeps to itself.
var (
	Nominal      = nominal
	FlagsOf      = flagsOf
	FreeMemory   = freeMemory
	LargestCache = largestCache
	Scalars      = []func() float64{multiplyThenAdd, fusedMultiplyAdd}
)

// Triad makes the vectors of so many CPUs and passes those of the first once. It returns the
// words moved, and the elements that are wrong of how many.
func Triad(cpus int) (moved float64, wrong, elements int) {
	all := newVectors(cpus)
	v := all[0]
	moved = v.triad()
	for _, x := range v.a {
		if math.Abs(x-(1+2*scale)) > 1e-12 {
			wrong++
		}
	}
	return moved, wrong, len(v.a)
}
