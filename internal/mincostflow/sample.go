package mincostflow

// sample is every stride-th job of a problem, with capacities shared out
// accordingly; with stride 1 it is the problem itself. Its last system is the one
// that unserved jobs are on: it takes them all, for nothing but a step above all
// other costs.
type sample struct {
	problem  *Problem
	jobs     int
	stride   int
	capacity []int // of each system and of the unserved
	penalty  int64 // the unserved system's step
}

func newSample(p *Problem, penalty int64, stride int) *sample {
	s := &sample{
		problem: p, jobs: (p.Jobs + stride - 1) / stride, stride: stride,
		capacity: make([]int, p.Systems+1),
		penalty:  penalty,
	}
	// One place more than there are jobs is as good as any number: never sold out.
	// Rounded so that all systems together have their share, rounded up: else a
	// sample lacks places where the problem does not.
	var whole, given int
	for i, capacity := range p.Capacity {
		whole += min(capacity, p.Jobs+1)
		s.capacity[i] = (whole+stride-1)/stride - given
		given += s.capacity[i]
	}
	s.capacity[p.Systems] = s.jobs
	return s
}

// row is the costs of a job.
func (s *sample) row(job int32) []int32 {
	from := int(job) * s.stride * s.problem.Systems
	return s.problem.Costs[from : from+s.problem.Systems]
}

// cost is that of a pair that is not missing.
func (s *sample) cost(job, system int32) int32 {
	if int(system) == s.problem.Systems {
		return 0
	}
	return s.row(job)[system]
}

// step is what the u-th unit costs on a system: that of the middle one of those
// that it stands for.
func (s *sample) step(system, unit int) int64 {
	if system == s.problem.Systems {
		return s.penalty
	}
	return s.problem.step(system, unit*s.stride+s.stride/2)
}

// units is how many of a system's units have such a step, if the first ones do.
func (s *sample) units(system int, such func(step int64) bool) int {
	low, high := 0, s.capacity[system]
	for low < high {
		if middle := low + (high-low)/2; such(s.step(system, middle)) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
