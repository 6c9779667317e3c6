package assignment

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Alternative is what changing the choice of one component alone would make of a solution.
type Alternative struct {
	Choice int // index in Component.Choices; -1: no other one is within the limits
	Z      int64
	End    protocol.Duration
	Cost   int64
}

// Alternatives are the best other choices of each component while the others of a solution
// stay as they are.
func Alternatives(p *Problem, chosen []int) []Alternative {
	whole := newBare(p)
	state, options := newState(whole), make([]int, len(chosen))
	for k, i := range chosen {
		options[k] = whole.find(k, i)
	}
	out := make([]Alternative, len(chosen))
	for k, own := range options {
		best := worst()
		out[k].Choice = -1
		for i := whole.first[k]; i < whole.first[k+1]; i++ {
			if i == own {
				continue
			}
			options[k] = i
			if v, ok := state.try(options); ok && v.compare(best) < 0 {
				best = v
				out[k] = Alternative{whole.options[i].index, v.z, v.end, v.cost}
			}
		}
		options[k] = own
	}
	return out
}

// find is the option of a choice.
func (in *instance) find(k, index int) int {
	for i := in.first[k]; i < in.first[k+1]; i++ {
		if in.options[i].index == index {
			return i
		}
	}
	return -1
}

// Take has a site know of a choice that was placed there.
func Take(s *Site, c *Choice) {
	s.Accept--
	s.Taken = min(s.Taken+c.CPUs, math.MaxInt32)
	s.Work = min(s.Work+product(int64(c.CPUs), int64(c.Run)), most)
}
