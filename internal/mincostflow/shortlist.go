package mincostflow

import "slices"

// offer is a system that a job may be on, and its cost there.
type offer struct{ system, cost int32 }

const (
	fewOffers  = 12      // offers listed for a job, about, if prices are a guess
	manyOffers = 24      // and at most, about, if they are known well
	maxOffers  = 48      // for all jobs on average; beyond that lists are given up
	spareOffer = 1 << 16 // beyond that average, for few jobs
	asked      = 96      // jobs whose offers are sampled
	smallTable = 1 << 12 // pairs of a problem so small that all are listed
)

// ask returns by how much the count-th offer of a typical job costs more than its
// first.
func (m *market) ask(count int) int64 {
	if int(m.sink)*m.jobs <= smallTable || int(m.sink) <= count {
		return far
	}
	price := m.plain()
	stride := max(1, m.jobs/asked)
	var slacks []int64
	sums := make([]int64, 0, m.sink)
	for j := 0; j < m.jobs; j += stride {
		sums = sums[:0]
		for s, c := range m.row(int32(j)) {
			if c != Missing {
				sums = append(sums, int64(c)+price[s])
			}
		}
		if len(sums) < count {
			continue
		}
		slices.Sort(sums)
		slacks = append(slacks, sums[count-1]-sums[0])
	}
	if len(slacks) == 0 {
		return far
	}
	slices.Sort(slacks)
	return slacks[len(slacks)/2]
}

// shortlist lists the offers to each job that cost more than its cheapest by at
// most slack, or by less if these are too many. Jobs that are nowhere go to a
// cheapest system, and take one of the places left.
func (m *market) shortlist(slack int64, left []int) {
	k := m.moves
	k.base = append(k.base[:0], m.price...)
	k.surveyed = false
	for ; ; slack /= 2 {
		if m.list(slack, left) {
			k.slack = slack
			return
		}
		if slack == 0 {
			break
		}
	}
	m.unlist() // everything ties: only surveys can tell
	k.slack = -1
}

// unlist empties all lists.
func (m *market) unlist() {
	k := m.moves
	k.offers = k.offers[:0]
	k.start = append(k.start[:0], make([]int32, m.jobs+1)...)
}

// list is shortlist with that slack; it gives up if offers are too many.
func (m *market) list(slack int64, left []int) bool {
	most := maxOffers*m.jobs + spareOffer
	k := m.moves
	k.start = append(k.start[:0], 0)
	k.offers = k.offers[:0]
	fits := true
	scan := newScan(m.plain())
	for j := range int32(m.jobs) { //nolint:gosec // within MaxJobs
		row := m.row(j)
		least := scan.least(row)
		from := len(k.offers)
		k.offers = scan.within(k.offers, row, least+slack)
		if m.at[j] == Nowhere {
			to := scan.emptiest(k.offers[from:], least, left)
			left[to.system]--
			m.at[j], m.here[j] = to.system, to.cost
		}
		if len(k.offers) > most {
			fits = false
			k.offers = k.offers[:0]
		}
		k.start = append(k.start, int32(len(k.offers))) //nolint:gosec // within mostOffers for each of MaxJobs
	}
	return fits
}
