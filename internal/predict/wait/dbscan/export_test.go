package dbscan

import (
	"cmp"
	"math"
	"slices"
)

// Points labels points of any dimension, each a slice of coordinates; all have
// the length of the first. Time and, in dense data, memory are quadratic in the
// number of points. [Sorted] is compared with it.
func Points(points [][]float64, density Density) (labels []int) {
	near := neighbours(points, density.Reach)
	core := func(i int) bool { return len(near[i]) >= density.MinPoints }
	reach := func(i int, labels, found []int) []int {
		for _, j := range near[i] {
			if labels[j] == Noise {
				found = append(found, int(j))
			}
		}
		return found
	}
	return grow(len(points), core, reach)
}

// neighbours lists, for each point, all points within reach, itself among them.
func neighbours(points [][]float64, reach float64) [][]int32 {
	near := make([][]int32, len(points))
	axis := widest(points)
	order := make([]int32, len(points))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(points[a][axis], points[b][axis]) })
	sorted := slices.Concat(ordered(points, order)...) // side by side in memory
	for at, i := range order {
		near[i] = append(near[i], i)
		size := len(points[i])
		from := sorted[at*size : (at+1)*size]
		for next := at + 1; next < len(order); next++ {
			to := sorted[next*size : (next+1)*size]
			if to[axis]-from[axis] > reach {
				break
			}
			if within(from, to, reach) {
				j := order[next]
				near[i], near[j] = append(near[i], j), append(near[j], i)
			}
		}
	}
	return near
}

func ordered(points [][]float64, order []int32) [][]float64 {
	sorted := make([][]float64, len(order))
	for at, i := range order {
		sorted[at] = points[i]
	}
	return sorted
}

// within tells whether two points are at most reach apart. It gives up as soon as
// they cannot be.
func within(a, b []float64, reach float64) bool {
	sum := 0.0
	b = b[:len(a)]
	for k, v := range a {
		if sum += math.Abs(v - b[k]); sum > reach {
			return false
		}
	}
	return true
}

// widest is the axis along which the points spread most: there the fewest are
// within reach.
func widest(points [][]float64) (axis int) {
	if len(points) == 0 {
		return 0
	}
	spread := -1.0
	for k := range points[0] {
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range points {
			low, high = min(low, p[k]), max(high, p[k])
		}
		if high-low > spread {
			axis, spread = k, high-low
		}
	}
	return axis
}
