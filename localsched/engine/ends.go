package engine

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// ends are the running jobs in the order of their estimated ends, of equal ones
// in the order of the starts. Most jobs come near the back and leave at the
// front, so the shorter part is moved.
type ends struct {
	jobs  []Running // the list is jobs[begin:]
	begin int
}

func (e *ends) list() []Running { return e.jobs[e.begin:] }

func (e *ends) len() int { return len(e.jobs) - e.begin }

// first is the job that ends first, nil when none runs.
func (e *ends) first() *Running {
	if e.begin == len(e.jobs) {
		return nil
	}
	return &e.jobs[e.begin]
}

// place is the first index whose job does not come before one of this end and
// order.
func (e *ends) place(end protocol.Instant, order uint64) int {
	list := e.list()
	low, high := 0, len(list)
	for low < high {
		middle := int(uint(low+high) / 2)
		if r := &list[middle]; r.End < end || (r.End == end && r.order < order) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (e *ends) insert(r *Running) {
	i := e.begin + e.place(r.End, r.order)
	if e.begin > 0 && i-e.begin < len(e.jobs)-i {
		e.begin--
		copy(e.jobs[e.begin:i-1], e.jobs[e.begin+1:i])
		e.jobs[i-1] = *r
		return
	}
	if len(e.jobs) == cap(e.jobs) && e.begin > e.len() {
		e.jobs, i, e.begin = e.jobs[:copy(e.jobs, e.list())], i-e.begin, 0
	}
	e.jobs = slices.Insert(e.jobs, i, *r)
}

func (e *ends) remove(i int) {
	if i < e.len()/2 || i == 0 {
		copy(e.jobs[e.begin+1:], e.jobs[e.begin:e.begin+i])
		e.begin++
		return
	}
	e.jobs = slices.Delete(e.jobs, e.begin+i, e.begin+i+1)
}

// find is where the job of this end and order stands.
func (e *ends) find(end protocol.Instant, order uint64) (i int, ok bool) {
	list := e.list()
	if len(list) > 0 && list[0].order == order {
		return 0, true
	}
	i = e.place(end, order)
	return i, i < len(list) && list[i].order == order
}

func (e *ends) copyFrom(other *ends) {
	e.jobs, e.begin = append(e.jobs[:0], other.list()...), 0
}
