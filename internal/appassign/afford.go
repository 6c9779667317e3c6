package appassign

import (
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// affordable is what no solution within MaxCost ends before: to end sooner costs more, by
// the bound of the problem of the least cost. The bounds of z alone see this late, since
// the price of money has to grow without end for them to do so.
func (s *search) affordable() protocol.Duration {
	if s.in.maxCost == Unlimited || len(s.in.p.Components) < 2 {
		return s.in.p.Floor
	}
	cheap := newSearch(newInstance(s.in.p.cheapest()), s.opt)
	first, _ := slices.BinarySearchFunc(cheap.in.ends, true, func(end protocol.Duration, _ bool) int {
		if cheap.costs(end, s.in.maxCost) {
			return -1
		}
		return 1
	})
	s.spent += cheap.spent
	if first == 0 {
		return s.in.p.Floor
	}
	return max(s.in.p.Floor, cheap.in.ends[first-1]+1)
}

// costs says whether all that ends by then is known to cost more than a limit. The problem
// is that of the least cost.
func (s *search) costs(end protocol.Duration, limit int64) bool {
	allowed := value{limit, protocol.Never, math.MaxInt64}
	s.best, s.chosen = allowed, []int{}
	none := s.in.free()
	_, ok := s.bound(s.in.p.Floor, end, &none, firstRounds)
	return !ok && s.best == allowed // else it has found one
}
