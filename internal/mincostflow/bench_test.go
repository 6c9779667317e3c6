package mincostflow_test

import (
	"fmt"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
)

// shapes are the instances of the benchmarks, all of seed 1.
func shapes() [][3]int {
	return [][3]int{
		{100, 8, 2}, {500, 58, 5}, {1000, 6, 10000}, {2000, 50, 40}, {10000, 58, 200}, {100000, 58, 2000}, {100000, 1000, 120},
	}
}

// BenchmarkSolve reads the costs once and builds no graph: what others spend on
// building is in it. The largest instance needs 400 MB for its costs.
func BenchmarkSolve(b *testing.B) {
	for _, scale := range []int{mincostflow.ReferenceScale, 1_000_000} {
		for _, shape := range shapes() {
			b.Run(fmt.Sprintf("%dx%dx%d/scale=%d", shape[0], shape[1], shape[2], scale), func(b *testing.B) {
				p := instance(b, shape[0], shape[1], shape[2], 1, scale)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := mincostflow.Solve(p, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
