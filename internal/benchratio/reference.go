package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

// reference measures the fixed workload, in nanoseconds: the median of several runs, about 200 ms
// together. It sorts, allocates and looks up in a map, as the program does most of the time. Changing
// it changes the meaning of all recorded ratios.
func reference() float64 {
	const runs, size = 15, 50_000
	times := make([]float64, runs)
	for i := range times {
		rng := rand.New(rand.NewPCG(1, 1))
		begun := time.Now()
		numbers := make([]uint64, size)
		for j := range numbers {
			numbers[j] = rng.Uint64N(size)
		}
		seen := make(map[uint64]*[4]uint64)
		for _, n := range numbers {
			if seen[n] == nil {
				seen[n] = new([4]uint64)
			}
			seen[n][n%4]++
		}
		slices.Sort(numbers)
		times[i] = float64(time.Since(begun).Nanoseconds())
	}
	slices.Sort(times)
	return times[runs/2]
}
