package mincostflow

import "fmt"

// Certify proves that a solution is a maximum flow at the least cost, or says what
// is wrong. It reads each cost once and knows nothing of how the solution was made.
//
// The proof is complementary slackness. With u units on a system, its price is at
// least the step of the last one, and while it has places at most the step of the
// next. No job has a system whose cost and price sum to less than at its own, or to
// less than Unserved if it is left out; none pays more than Unserved. So no
// rerouting is cheaper, and none that serves one more job costs less than Unserved.
// A rerouting meets each system at most once and ends with one step: if Unserved is
// above what that can cost, no rerouting serves one more job, and the flow is
// maximum. If all jobs are served, or those left out have no pairs, it is anyway.
func Certify(p *Problem, s *Solution) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if err := s.shaped(p); err != nil {
		return err
	}
	load, err := s.loads(p)
	if err != nil {
		return err
	}
	for i, units := range load {
		if err := s.priced(p, i, units); err != nil {
			return err
		}
	}
	var highest int32
	short := false
	for j, at := range s.System {
		top, err := s.settled(p, j)
		if err != nil {
			return err
		}
		highest = max(highest, top)
		short = short || at == Nowhere && top >= 0
	}
	if highestCost := int64(p.Systems)*int64(highest) + p.lastStep(); short && s.Unserved <= highestCost {
		return fmt.Errorf("unserved: a price of %d does not prove the flow maximum, a rerouting may cost %d", s.Unserved, highestCost)
	}
	return nil
}

func (s *Solution) shaped(p *Problem) error {
	switch {
	case len(s.System) != p.Jobs:
		return fmt.Errorf("system: there are %d, not one for each of %d jobs", len(s.System), p.Jobs)
	case len(s.Prices) != p.Systems:
		return fmt.Errorf("prices: there are %d, not one for each of %d systems", len(s.Prices), p.Systems)
	case s.Unserved < 0 || s.Unserved > far:
		return fmt.Errorf("unserved: %d is not a price", s.Unserved)
	}
	for i, price := range s.Prices {
		if price < 0 || price > far {
			return fmt.Errorf("prices[%d]: %d is not a price", i, price)
		}
	}
	return nil
}

// loads is how many jobs each system has. It checks capacities, flow and cost.
func (s *Solution) loads(p *Problem) ([]int, error) {
	load := make([]int, p.Systems)
	var flow int
	var cost int64
	for j, at := range s.System {
		switch {
		case at == Nowhere:
			continue
		case at < 0 || int(at) >= p.Systems:
			return nil, fmt.Errorf("system[%d]: there is no system %d", j, at)
		case p.Costs[j*p.Systems+int(at)] == Missing:
			return nil, fmt.Errorf("system[%d]: the job cannot be on system %d", j, at)
		}
		cost += int64(p.Costs[j*p.Systems+int(at)]) + p.step(int(at), load[at])
		load[at]++
		flow++
	}
	for i, units := range load {
		if units > p.Capacity[i] {
			return nil, fmt.Errorf("system: %d jobs are on system %d, which takes %d", units, i, p.Capacity[i])
		}
	}
	switch {
	case flow != s.Flow:
		return nil, fmt.Errorf("flow: %d, but %d jobs are served", s.Flow, flow)
	case cost != s.Cost:
		return nil, fmt.Errorf("cost: %d, but pairs and steps cost %d", s.Cost, cost)
	}
	return load, nil
}

// priced checks a system's price against its steps.
func (s *Solution) priced(p *Problem, system, units int) error {
	price := s.Prices[system]
	if units > 0 && price < p.step(system, units-1) {
		return fmt.Errorf("prices[%d]: %d is below the last job's step, %d", system, price, p.step(system, units-1))
	}
	if units < p.Capacity[system] && price > p.step(system, units) {
		return fmt.Errorf("prices[%d]: %d is above the next job's step, %d", system, price, p.step(system, units))
	}
	return nil
}

// settled checks that a job is where cost plus price is least, and returns its
// highest cost, below 0 if it has no pairs.
func (s *Solution) settled(p *Problem, job int) (highest int32, err error) {
	row := p.Costs[job*p.Systems:][:p.Systems]
	pays := s.Unserved
	if at := s.System[job]; at != Nowhere {
		pays = int64(row[at]) + s.Prices[at]
	}
	if pays > s.Unserved {
		return 0, fmt.Errorf("system[%d]: the job pays %d, more than if it were unserved, %d", job, pays, s.Unserved)
	}
	highest = -1
	for i, c := range row {
		if c == Missing {
			continue
		}
		highest = max(highest, c)
		if int64(c)+s.Prices[i] < pays {
			return 0, fmt.Errorf("system[%d]: the job pays %d, but %d on system %d", job, pays, int64(c)+s.Prices[i], i)
		}
	}
	return highest, nil
}

// lastStep is the highest step.
func (p *Problem) lastStep() int64 {
	var last int64
	for i, steps := range p.Steps {
		last = max(last, p.step(i, len(steps)))
	}
	return last
}
