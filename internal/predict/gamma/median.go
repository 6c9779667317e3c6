package gamma

import (
	"cmp"
	"slices"
)

// weighted is a number and how much it counts.
type weighted struct{ value, weight float64 }

// median is the first number below or at which half of the weight lies. Of nothing it is 0.
func median(of []weighted) float64 {
	slices.SortFunc(of, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	var all, below float64
	for _, w := range of {
		all += w.weight
	}
	for _, w := range of {
		if below += w.weight; below >= all/2 {
			return w.value
		}
	}
	return 0
}
