package appassign

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Solve finds the best choices. The error is an [*InfeasibleError] if there are none within the
// limits, or none were found; otherwise it says what makes the problem none.
func Solve(p *Problem, opt Options) (Solution, error) {
	if err := p.check(); err != nil {
		return Solution{}, fmt.Errorf("assignment: %w", err)
	}
	if len(p.Components) == 1 {
		if one, ok := single(p); ok {
			return one, nil
		}
	}
	s := solved(p, opt)
	if s.chosen == nil {
		return Solution{}, advise(p, opt, s.exhausted())
	}
	return s.solution(), nil
}

// single is the answer to a problem of one component, which needs no search. Without ok
// there is none.
func single(p *Problem) (one Solution, ok bool) {
	in := newBare(p)
	best, at := worst(), -1
	for i := range in.options {
		o := &in.options[i]
		v := value{o.load + o.late, o.end, o.cost}
		if o.end < p.Floor {
			v.z, v.end = o.load+in.late(p.Floor), p.Floor
		}
		if v.end <= in.latest && v.cost <= in.maxCost && v.compare(best) < 0 {
			best, at = v, i
		}
	}
	if at < 0 {
		return Solution{}, false
	}
	o := &in.options[at]
	return Solution{
		Chosen: []int{o.index}, Waits: []protocol.Duration{o.alone}, Starts: []protocol.Duration{max(o.alone, o.ready)}, Ends: []protocol.Duration{o.end},
		Z: best.z, Cost: best.cost, End: best.end, Bound: best.z, Exact: true, Nodes: in.pairs, Pairs: in.pairs,
	}, true
}

// solved is the search of a problem at its end.
func solved(p *Problem, opt Options) *search {
	s := newSearch(newInstance(p), opt)
	s.run()
	return s
}

// exhausted says whether the search has seen all that matters.
func (s *search) exhausted() bool { return len(s.open) == 0 && s.left == worst() }

// bounded is what no z is below.
func (s *search) bounded() int64 {
	least := min(s.best.z, s.left.z)
	if len(s.open) > 0 {
		least = min(least, s.open[0].least.z)
	}
	return least
}

// solution tells the best one.
func (s *search) solution() Solution {
	n := len(s.in.p.Components)
	out := Solution{
		Chosen: make([]int, n), Waits: make([]protocol.Duration, n), Starts: make([]protocol.Duration, n), Ends: make([]protocol.Duration, n),
		Z: s.best.z, Cost: s.best.cost, End: s.best.end, Bound: s.bounded(), Pairs: s.in.pairs,
	}
	out.Exact = s.exhausted() && s.settle()
	out.Nodes = s.spent
	s.state.try(s.chosen)
	for k, f := range s.state.frames {
		o := &s.in.options[f.option]
		out.Chosen[k], out.Waits[k], out.Starts[k] = o.index, f.wait, s.state.start(k)
		out.Ends[k] = out.Starts[k].Plus(o.tail)
	}
	return out
}

// Limit is what rules out all choices.
type Limit int

// The limits.
const (
	Room   Limit = iota // the sites do not take all components
	Cost                // MaxCost, whatever MaxEnd
	Time                // MaxEnd, whatever MaxCost
	Either              // each can be kept, but not both
	Both                // neither can be kept
	Steps               // none is known to: the search gave up
)

// InfeasibleError says which limit rules out all choices, and the smallest changes that would
// not. With Exact, less is not enough; without, somewhat less may be.
type InfeasibleError struct {
	Limit Limit
	// MaxCost is what it has to be at least, with MaxEnd as it is, under [Cost] and
	// [Either], or, under [Both], with it changed too; [Unlimited]: this alone does not help.
	MaxCost int64
	MaxEnd  protocol.Duration // the same, under [Time], [Either] and [Both]; [protocol.Never] if this alone does not help
	Exact   bool
	Without int // under [Room], the first component without any choice; -1: each has some
}

// Error implements error.
func (e *InfeasibleError) Error() string {
	switch e.Limit {
	case Room:
		if e.Without >= 0 {
			return fmt.Sprintf("no site takes component %d", e.Without)
		}
		return "the sites do not take all components at once"
	case Cost:
		return fmt.Sprintf("the limit of cost rules out all choices; the least cost is %d", e.MaxCost)
	case Time:
		return fmt.Sprintf("the limit of time rules out all choices; the earliest end is %v", e.MaxEnd)
	case Either:
		return fmt.Sprintf("the limits of cost and time rule out all choices together; raise that of cost to %d, or that of time to %v", e.MaxCost, e.MaxEnd)
	case Both:
		return fmt.Sprintf("the limits of cost and time rule out all choices; raise that of cost to %d and that of time to %v", e.MaxCost, e.MaxEnd)
	case Steps:
	}
	return "no choice within the limits was found before the search gave up"
}

// cheapest is the problem of the least cost alone.
func (p *Problem) cheapest() *Problem {
	costs := make([]Component, len(p.Components))
	for k, c := range p.Components {
		costs[k] = Component{Together: c.Together, Choices: append([]Choice(nil), c.Choices...)}
		for i := range costs[k].Choices {
			costs[k].Choices[i].Weighted = costs[k].Choices[i].Cost
		}
	}
	cheap := *p
	cheap.Components, cheap.Late, cheap.EachLate, cheap.MaxCost = costs, nil, false, Unlimited
	return &cheap
}

// fastest is the problem of the earliest end alone.
func (p *Problem) fastest() *Problem {
	plain := make([]Component, len(p.Components))
	for k, c := range p.Components {
		plain[k] = Component{Together: c.Together, Choices: append([]Choice(nil), c.Choices...)}
		for i := range plain[k].Choices {
			plain[k].Choices[i].Weighted = 0
		}
	}
	fast := *p
	fast.Components, fast.EachLate, fast.MaxEnd = plain, false, protocol.Never
	fast.Late = func(end protocol.Duration) int64 { return int64(end) }
	return &fast
}

// advise finds what limit rules out all choices. Sure says that there are none.
func advise(p *Problem, opt Options, sure bool) error {
	opt.Gap = 0
	free := *p
	free.MaxCost, free.MaxEnd = Unlimited, protocol.Never
	if without := free.without(); without >= 0 || !newRelaxation(newInstance(&free)).roomy() {
		return &InfeasibleError{Limit: Room, MaxCost: Unlimited, MaxEnd: protocol.Never, Exact: true, Without: without}
	}
	cheapest, slow := solved(p.cheapest(), opt), solved(p.fastest(), opt)
	out := &InfeasibleError{MaxCost: Unlimited, MaxEnd: protocol.Never, Exact: sure && cheapest.exhausted() && slow.exhausted(), Without: -1}
	if cheapest.chosen != nil {
		out.MaxCost = cheapest.best.cost
	}
	if slow.chosen != nil {
		out.MaxEnd = slow.best.end
	}
	switch {
	case !sure:
		out.Limit = Steps
	case cheapest.chosen != nil && slow.chosen != nil:
		out.Limit = Either
	case cheapest.chosen != nil:
		out.Limit = Cost
	case slow.chosen != nil:
		out.Limit = Time
	default:
		out.Limit = Both
	}
	if out.Limit == Both {
		both(&free, opt, out)
	}
	return out
}

// both finds the earliest end at all, and the least cost of what ends then.
func both(free *Problem, opt Options, out *InfeasibleError) {
	soon := solved(free.fastest(), opt)
	if soon.chosen == nil {
		out.Limit, out.Exact = Steps, false
		return
	}
	out.MaxEnd = soon.best.end
	within := free.cheapest()
	within.MaxEnd = out.MaxEnd
	least := solved(within, opt)
	out.MaxCost = soon.best.cost
	if least.chosen != nil {
		out.MaxCost = least.best.cost
	}
	out.Exact = out.Exact && soon.exhausted() && least.exhausted()
}

// without is the first component that no site takes; -1: each has one.
func (p *Problem) without() int {
	in := newInstance(p)
	for k := range p.Components {
		if in.first[k] == in.first[k+1] {
			return k
		}
	}
	return -1
}

// roomy says whether the sites take all components.
func (r *relaxation) roomy() bool {
	all := make([]int, len(r.in.options))
	for i := range all {
		all[i] = i
	}
	return r.keep(all, func(int) bool { return true }) && r.fits()
}
