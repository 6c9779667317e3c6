package assignment

import (
	"errors"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Front is what no choices beat in both cost and end, the fastest first.
type Front struct {
	Points []Solution
	Gap    int  // the cost of a point is above the least for its end by so many parts per million of it, at most
	Whole  bool // no point was passed over
}

// Pareto finds the front of cost and end within the limits, of so many points at most and
// 2 at least, if there are as many. It lowers the limit of time to below the end of the
// point before and looks for the least cost (the ε-constraint method); if there are more
// points than asked for, by steps. The weights and the cost of waiting count for nothing.
// The error is that of [Solve].
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
	points = max(2, points)
	front, err := p.descend(opt, slowest, soon.End, 1, points)
	if err == nil && !front.Whole {
		stride := (slowest.End-soon.End)/protocol.Duration(points-1) + 1
		front, err = p.descend(opt, slowest, soon.End, stride, points)
		front.Whole = false
	}
	slices.Reverse(front.Points)
	return front, err
}

// least is the problem of the least cost within the limits.
func (p *Problem) least() *Problem {
	cheap := p.cheapest()
	cheap.MaxCost = p.MaxCost
	return cheap
}

// descend goes from the cheapest point to the fastest, which ends at last, in steps of at
// least stride.
func (p *Problem) descend(opt Options, from Solution, last, stride protocol.Duration, points int) (front Front, err error) {
	cheap := p.least()
	for at := from; ; {
		front.add(at)
		if at.End <= last {
			front.Whole = true
			return front, nil
		}
		if len(front.Points) == points {
			return front, nil
		}
		cheap.MaxEnd = max(last, at.End-stride)
		if at, err = Solve(cheap, opt); err != nil {
			if _, none := errors.AsType[*InfeasibleError](err); none {
				return front, nil // the fastest was found by its own problem alone
			}
			return front, err
		}
	}
}

// add adds a point. Where the least cost is not proven it may be no dearer than those
// before it, which it then beats.
func (f *Front) add(point Solution) {
	for len(f.Points) > 0 && f.Points[len(f.Points)-1].Cost >= point.Cost {
		f.Points = f.Points[:len(f.Points)-1]
	}
	f.Points = append(f.Points, point)
	f.Gap = max(f.Gap, point.Gap())
}
