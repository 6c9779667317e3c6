package mincostflow

import "slices"

const (
	haggleRounds = 64 // jobs that come, for each system
	haggleVisits = 16 // but each job so often at most
	haggleCuts   = 8  // how often the rises are halved
	haggleRise   = 8  // the first rise is this part of the highest cost
)

// haggle guesses prices: jobs come one by one to where they are cheapest and raise
// the price there, and in between all prices fall as if places came free. Rises and
// falls get smaller. It is a stochastic subgradient of the dual problem, with a price
// of the unserved that is not far from the others.
func (s *sample) haggle() []int64 {
	systems := s.problem.Systems
	price := make([]int64, systems+1)
	top := s.penalty / int64(systems+1)
	soft := 2*top + 1
	price[systems] = soft
	places := 0
	for _, c := range s.capacity[:systems] {
		places += c
	}
	var (
		scan   = newScan(price)
		left   = slices.Clone(s.capacity)
		offers = make([]offer, 0, systems+1)
		owed   = make([]int64, systems)
		visits = min(haggleRounds*(systems+1), haggleVisits*s.jobs)
		turn   = max(1, s.jobs*systems/max(places, 1)) // jobs that come while each system has one place come free
		rise   = max(1, top/haggleRise)
	)
	for visit := range visits {
		row := s.row(int32(visit % s.jobs)) //nolint:gosec // within MaxJobs
		least := scan.least(row)
		offers = scan.within(offers[:0], row, least)
		if to := int(scan.emptiest(offers, least, left).system); to < systems {
			left[to]--
			price[to] += rise
			scan.retag(to)
		}
		if (visit+1)%turn == 0 {
			s.fall(scan, owed, rise*int64(turn))
		}
		if (visit+1)%(visits/haggleCuts) == 0 {
			rise = max(1, rise/2)
		}
	}
	s.harden(price, soft, places)
	return price
}

// fall lowers prices by total times each system's part of the jobs, not below 0.
// What cannot be divided stays owed.
func (s *sample) fall(scan *scan, owed []int64, total int64) {
	for i := range owed {
		owed[i] += total * int64(s.capacity[i])
		drop := owed[i] / int64(s.jobs)
		owed[i] -= drop * int64(s.jobs)
		scan.price[i] = max(0, scan.price[i]-drop)
		scan.retag(i)
	}
}

// harden gives the unserved its true price. If places are short, those of systems
// go up with it.
func (s *sample) harden(price []int64, soft int64, places int) {
	last := len(price) - 1
	price[last] = s.penalty
	if places >= s.jobs {
		return
	}
	for i := range price[:last] {
		price[i] += s.penalty - soft
	}
}
