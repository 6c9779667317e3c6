package dbscan

import (
	"math"
	"slices"
)

// Noise is the label of a point in no cluster.
const Noise = -1

// Density says what is dense: MinPoints points, the middle one counted, within
// Reach of it.
type Density struct {
	Reach     float64 // eps; a point at this very distance is within it
	MinPoints int
}

// Sorted labels points of a plane that come in the order of their x. It looks
// only at the stretch of x that a point reaches, passes over what has a label, and
// keeps no neighbours.
func Sorted(x, y []float64, density Density) (labels []int) {
	from := func(i int) (first int) { // of the stretch
		first, _ = slices.BinarySearchFunc(x[:i], x[i], func(left, right float64) int {
			if right-left > density.Reach {
				return -1
			}
			return 1
		})
		return first
	}
	near := func(i, j int) bool { return math.Abs(x[j]-x[i])+math.Abs(y[j]-y[i]) <= density.Reach }
	core := func(i int) bool {
		count := 0
		for j := from(i); j < len(x) && x[j]-x[i] <= density.Reach && count < density.MinPoints; j++ {
			if near(i, j) {
				count++
			}
		}
		return count >= density.MinPoints
	}
	free := newRow(len(x))
	reach := func(i int, labels, found []int) []int {
		for j := free.from(from(i), labels); j < len(x) && x[j]-x[i] <= density.Reach; j = free.from(j+1, labels) {
			if near(i, j) {
				found = append(found, j)
			}
		}
		return found
	}
	return grow(len(x), core, reach)
}

// row finds the next place in a row that has no label. Places once labelled stay
// so, and runs of them are passed over at once.
type row []int

func newRow(n int) row {
	r := make(row, n+1)
	for i := range r {
		r[i] = i
	}
	return r
}

// from is the first place from i on that has no label, or the row's end.
func (r row) from(i int, labels []int) int {
	last := i
	for last < len(labels) && (r[last] != last || labels[last] != Noise) {
		last = max(r[last], last+1)
	}
	for i < last {
		i, r[i] = max(r[i], i+1), last
	}
	return last
}

// grow makes the clusters: from each core point that has no cluster yet, all that
// is reached over core points. Reach appends to found the points within reach of
// i that have no label yet.
func grow(n int, core func(i int) bool, reach func(i int, labels, found []int) []int) []int {
	labels := make([]int, n)
	for i := range labels {
		labels[i] = Noise
	}
	clusters := 0
	var edge []int // core points of the cluster whose reach is not yet explored
	var found []int
	for i := range n {
		if labels[i] != Noise || !core(i) {
			continue
		}
		labels[i] = clusters
		edge = append(edge[:0], i)
		for len(edge) > 0 {
			last := edge[len(edge)-1]
			edge = edge[:len(edge)-1]
			found = reach(last, labels, found[:0])
			for _, j := range found {
				labels[j] = clusters
				if core(j) {
					edge = append(edge, j)
				}
			}
		}
		clusters++
	}
	return labels
}
