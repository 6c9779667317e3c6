package mincostflow

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

const (
	// Missing is the cost of a pair that is none: the system cannot run the job.
	Missing int32 = math.MaxInt32
	// MaxCost is the highest cost of a pair, and the highest step.
	MaxCost = Missing - 1
	// MaxJobs and MaxSystems bound a problem, so that it fits into memory: there is
	// a table of all pairs of systems.
	MaxJobs = 1 << 24
	// MaxSystems see MaxJobs.
	MaxSystems = 1 << 13
	// Unbounded is the capacity of a system that takes any number of jobs.
	Unbounded = math.MaxInt
)

// Problem is which job may go to which system, at what cost. The costs' unit is
// the caller's, the same for all; see [Solve] for what is asked.
type Problem struct {
	Jobs, Systems int

	// Costs has a row for each job with a column for each system, so job j on
	// system s is Costs[j*Systems+s]: 0 to MaxCost, or Missing.
	Costs []int32

	// Capacity is how many jobs each system takes, 0 to Unbounded; the receiver's
	// MaxQ of [MC 3.2].
	Capacity []int

	// Steps, unless nil, is what each further job on a system costs on top: the
	// u-th one (from 0) costs Steps[s][u], and those beyond the end as much as the
	// last. Steps never fall, or the cost would not be convex. A system without
	// any has no extra cost.
	Steps [][]int32
}

// Validate reports the first thing that is wrong, by its place.
func (p *Problem) Validate() error {
	_, err := p.measure()
	return err
}

// measure validates a problem and returns what no rerouting of a single job can
// cost or save: a price above it for leaving a job unserved makes the cheapest
// flow a maximum one. A chain of reroutings meets a system at most once.
func (p *Problem) measure() (int64, error) {
	if err := p.validateShape(); err != nil {
		return 0, err
	}
	highest, err := p.highestCost()
	if err != nil {
		return 0, err
	}
	steepest, err := p.highestStep()
	if err != nil {
		return 0, err
	}
	penalty := (int64(p.Systems)+1)*(int64(highest)+1) + int64(steepest) + 1
	if bits.Len64(uint64(penalty))+hopBits(p.Systems+2) > maxPriceBits { //nolint:gosec // not negative
		return 0, fmt.Errorf("systems: %d with costs up to %d are more than 64-bit prices can tell apart; scale the costs down",
			p.Systems, max(highest, steepest))
	}
	return penalty, nil
}

func (p *Problem) validateShape() error {
	switch {
	case p.Jobs < 0 || p.Jobs > MaxJobs:
		return fmt.Errorf("jobs: %d is not 0 to %d", p.Jobs, MaxJobs)
	case p.Systems < 0 || p.Systems > MaxSystems:
		return fmt.Errorf("systems: %d is not 0 to %d", p.Systems, MaxSystems)
	case len(p.Costs) != p.Jobs*p.Systems:
		return fmt.Errorf("costs: there are %d, not one for each of %d jobs on each of %d systems", len(p.Costs), p.Jobs, p.Systems)
	case len(p.Capacity) != p.Systems:
		return fmt.Errorf("capacity: there are %d, not one for each of %d systems", len(p.Capacity), p.Systems)
	case p.Steps != nil && len(p.Steps) != p.Systems:
		return fmt.Errorf("steps: there are %d, not one for each of %d systems", len(p.Steps), p.Systems)
	}
	for s, capacity := range p.Capacity {
		if capacity < 0 {
			return fmt.Errorf("capacity[%d]: %d is less than 0", s, capacity)
		}
	}
	return nil
}

// highestCost is that of a pair which is not missing.
func (p *Problem) highestCost() (int32, error) {
	var highest, sign int32
	for _, c := range p.Costs {
		sign |= c
		if c != Missing {
			highest = max(highest, c)
		}
	}
	if sign >= 0 {
		return highest, nil
	}
	for i, c := range p.Costs {
		if c < 0 {
			return 0, fmt.Errorf("costs: %d of job %d on system %d is less than 0", c, i/p.Systems, i%p.Systems)
		}
	}
	return 0, errors.New("costs: changed while they were read")
}

func (p *Problem) highestStep() (int32, error) {
	var highest int32
	for s, steps := range p.Steps {
		var below int32
		for u, step := range steps {
			switch {
			case step < 0 || step > MaxCost:
				return 0, fmt.Errorf("steps[%d][%d]: %d is not 0 to %d", s, u, step, MaxCost)
			case step < below:
				return 0, fmt.Errorf("steps[%d][%d]: %d is less than the one before it, %d", s, u, step, below)
			}
			below = step
		}
		highest = max(highest, below)
	}
	return highest, nil
}

// step is what the u-th unit costs on a system, from 0.
func (p *Problem) step(system, unit int) int64 {
	if p.Steps == nil || len(p.Steps[system]) == 0 {
		return 0
	}
	steps := p.Steps[system]
	return int64(steps[min(unit, len(steps)-1)])
}
