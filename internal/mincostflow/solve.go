package mincostflow

import "fmt"

const (
	sampleStep  = 4  // how many times larger the next sample is
	sampleRatio = 8  // jobs in the smallest sample, at least, for each system
	sampleLeast = 64 // and in all
)

// Solve serves as many jobs as possible, at the least cost of pairs and steps.
// Costs may be as coarse or as fine as the caller likes, 0 to 100 as in [MC] or up
// to a million: the result is exact, coarse costs have more equal optima.
//
// The same problem and hint give the same solution. Of several optimal ones it is
// that which this rule finds: each job in its order goes to the system that is
// cheapest, of equals to the one with most places left, then to the lower index. If
// places do not suffice for that, prices are put on them as the package's comment
// tells, jobs go where cost plus price is least by the same rule, and those in excess
// move on along shortest paths, of these along one that moves fewest jobs, of equal
// jobs the first.
//
// The hint is that of a solution to a similar problem: its prices are tried first.
// It never changes flow and cost, but may change which optimal solution is found. One
// that does not fit is ignored.
//
// Solve needs memory for some 50 offers of 8 bytes for each job at worst, and 50
// bytes for each pair of systems. An error is a problem's that is not valid.
func Solve(p *Problem, hint []byte) (*Solution, error) {
	penalty, err := p.measure()
	if err != nil {
		return nil, fmt.Errorf("min-cost flow: %w", err)
	}
	if m := newMarket(newSample(p, penalty, 1), nil, nil); m.uncontended() {
		return m.solution(), nil
	}
	known := new(moves)
	if price, ok := parseHint(hint, p.Systems, penalty); ok {
		m := newMarket(newSample(p, penalty, 1), price, known)
		m.clear(m.ask(fewOffers))
		return m.solution(), nil
	}
	stride := firstStride(p)
	price := newSample(p, penalty, stride).haggle()
	slack := int64(far)
	for {
		m := newMarket(newSample(p, penalty, stride), price, known)
		if slack == far {
			slack = m.ask(fewOffers)
		} else {
			// Prices move about half as far as in the sample before.
			slack = min(slack+1, m.ask(manyOffers))
		}
		slack = m.clear(slack)
		if stride == 1 {
			return m.solution(), nil
		}
		price = m.plain()
		stride /= sampleStep
	}
}

// firstStride is that of the smallest sample.
func firstStride(p *Problem) int {
	least := max(sampleRatio*p.Systems, sampleLeast)
	stride := 1
	for p.Jobs/(stride*sampleStep) > least {
		stride *= sampleStep
	}
	return stride
}

// solution is what a cleared market of the whole problem shows.
func (m *market) solution() *Solution {
	unserved := m.sink - 1
	prices := m.plain()
	s := &Solution{System: m.at, Prices: prices[:unserved], Unserved: prices[unserved]}
	load := make([]int, m.sink)
	for j, a := range m.at {
		if a == unserved {
			s.System[j] = Nowhere
			continue
		}
		s.Flow++
		s.Cost += int64(m.here[j]) + m.step(int(a), load[a])
		load[a]++
	}
	for i, price := range s.Prices {
		s.Prices[i] = max(0, price) // a system without jobs may as well cost nothing
	}
	s.Hint = formatHint(s.Prices, s.Unserved)
	return s
}
