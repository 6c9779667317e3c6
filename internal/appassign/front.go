package appassign

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Front is what no choices beat in both cost and end, the fastest first.
type Front struct {
	Points []Solution
	Gap    int  // at most this many ppm lie between the cost of a point and the least cost for its end
	Whole  bool // no point was passed over
}

// Pareto finds the front of cost and end within the limits, of at most the given number of points
// and 2 at least, if there are as many. It lowers the limit of time to below the end of the
// previous point and looks for the least cost (the ε-constraint method); if there are more
// points than asked for, by steps. The weights and the cost of waiting count for nothing.
// The points between the ends share the steps of a few solutions. The error is that of [Solve].
func Pareto(p *Problem, opt Options, points int) (Front, error) {
	slowest, err := Solve(p.least(), opt)
	if err != nil {
		return Front{}, err
	}
	fast := p.fastest()
	fast.MaxEnd = p.MaxEnd
	soon, err := Solve(fast, opt)
	if err != nil {
		return Front{}, err
	}
	soon.Z = soon.Cost
	points = max(2, points)
	opt.Nodes = max(1, opt.nodes()/points*sharedSteps)
	front := p.descend(opt, slowest, soon, 1, points)
	if !front.Whole {
		stride := (slowest.End-soon.End)/protocol.Duration(points-1) + 1
		front = p.descend(opt, slowest, soon, stride, points)
		front.Whole = false
	}
	slices.Reverse(front.Points)
	return front, nil
}

// sharedSteps are the solutions whose steps the points of a front share.
const sharedSteps = 2

// least is the problem of the least cost within the limits.
func (p *Problem) least() *Problem {
	cheap := p.cheapest()
	cheap.MaxCost = p.MaxCost
	return cheap
}

// descend goes from the cheapest point to the fastest, in steps of at least stride.
func (p *Problem) descend(opt Options, from, soon Solution, stride protocol.Duration, points int) (front Front) {
	cheap := p.least()
	for at := from; ; {
		front.add(at)
		if at.End <= soon.End {
			front.Whole = true
			return front
		}
		if len(front.Points) == points {
			return front
		}
		cheap.MaxEnd = max(soon.End, at.End-stride)
		at = cheap.point(opt, soon)
	}
}

// point is the cheapest point within the limits, which soon keeps. Where the search gives up
// before it finds any, soon is taken, with what is proven of the cost.
func (p *Problem) point(opt Options, soon Solution) Solution {
	if len(p.Components) == 1 {
		if one, ok := single(p); ok {
			return one
		}
	}
	s := newSearch(newInstance(p), opt)
	s.start(soon.Chosen)
	s.run()
	if s.chosen != nil {
		return s.solution()
	}
	soon.Bound = min(soon.Cost, s.bounded())
	return soon
}

// add adds a point. If its least cost is not proven, it may cost no more than earlier points,
// which it then dominates.
func (f *Front) add(point Solution) {
	for len(f.Points) > 0 && f.Points[len(f.Points)-1].Cost >= point.Cost {
		f.Points = f.Points[:len(f.Points)-1]
	}
	f.Points = append(f.Points, point)
	f.Gap = max(f.Gap, point.Gap())
}

// start has the search know a solution, if none of its choices is superfluous.
func (s *search) start(chosen []int) {
	options := make([]int, len(chosen))
	for k, i := range chosen {
		if options[k] = s.in.find(k, i); options[k] < 0 {
			return
		}
	}
	s.offer(options)
}
