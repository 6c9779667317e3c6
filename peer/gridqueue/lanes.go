package gridqueue

import (
	"container/heap"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Lane numbers the jobs that are handed out by their ranks and ages alone among each other, such as those of one user.
// A job is in lane 0 unless [Queue.SetLane] says otherwise.
type Lane uint32

// Rank is which jobs of a lane are handed out first: the lower, the sooner, and of one rank the oldest. A job has rank 0 unless
// [Queue.SetLane] says otherwise.
type Rank int64

// line has a job that is ready or parked wait among those that are.
func (q *Queue) line(id protocol.JobID) {
	switch at := q.places[id]; at.kind { //nolint:exhaustive // the others have no order
	case ready:
		q.ready.push(at.lane, waiter{at.rank, id})
	case parked:
		heap.Push(&q.parked, waiter{at.rank, id})
	}
}

// lanes are the ready jobs of each lane.
type lanes map[Lane]*waiting

func (l *lanes) push(lane Lane, one waiter) {
	if *l == nil {
		*l = lanes{}
	}
	if (*l)[lane] == nil {
		(*l)[lane] = &waiting{}
	}
	heap.Push((*l)[lane], one)
}

// SetLane has a job of the queue be in a lane, with a rank, until it is removed.
func (q *Queue) SetLane(id protocol.JobID, lane Lane, rank Rank) {
	at, in := q.places[id]
	if !in || at.lane == lane && at.rank == rank {
		return
	}
	at.lane, at.rank = lane, rank
	q.places[id] = at
	q.line(id)
}

// head is the first ready job of a lane that is not closed; false: it has none. A lane that is closed opens as soon as
// another job is its first.
func (q *Queue) head(lane Lane) (protocol.JobID, bool) {
	first := q.ready[lane]
	if first == nil {
		return 0, false
	}
	for first.Len() > 0 {
		one := (*first)[0]
		if at := q.places[one.id]; at.kind == ready && at.lane == lane && at.rank == one.rank {
			return one.id, q.closed[lane] != one.id
		}
		heap.Pop(first)
	}
	delete(q.ready, lane)
	return 0, false
}

// OpenAll opens all lanes that [Queue.TakeBy] has closed. It says whether there were any.
func (q *Queue) OpenAll() bool {
	some := len(q.closed) > 0
	clear(q.closed)
	return some
}

// Ready says whether a job could be taken now: one that is in no closed lane.
func (q *Queue) Ready() bool {
	for lane := range q.ready {
		if _, has := q.head(lane); has {
			return true
		}
	}
	return false
}

// Take hands out up to n ready jobs by their ranks and ages, whatever their lanes. Each stays in the queue until
// it is removed, held or put back.
func (q *Queue) Take(n int) []protocol.JobID {
	return q.TakeBy(n, func(heads []protocol.JobID) (next int, take bool) {
		for i, id := range heads {
			one, first := waiter{q.places[id].rank, id}, waiter{q.places[heads[next]].rank, heads[next]}
			if one.before(first) {
				next = i
			}
		}
		return next, true
	})
}

// Choice is which lane is next: the index of its first ready job among those of all lanes that have any,
// and whether that is taken. Otherwise the lane is closed until [Queue.OpenAll], or until that job is not its first ready
// one any more.
type Choice func(heads []protocol.JobID) (next int, take bool)

// TakeBy is [Queue.Take] with another order of the lanes.
func (q *Queue) TakeBy(n int, choose Choice) (out []protocol.JobID) {
	var open []Lane
	var heads []protocol.JobID
	for lane := range q.ready {
		if _, has := q.head(lane); has {
			open = append(open, lane)
		}
	}
	slices.Sort(open)
	for _, lane := range open {
		id, _ := q.head(lane)
		heads = append(heads, id)
	}
	for len(out) < n && len(heads) > 0 {
		i, take := choose(heads)
		if take {
			q.put(heads[i], place{kind: taken})
			out = append(out, heads[i])
		} else {
			q.close(open[i], heads[i])
		}
		if next, more := q.head(open[i]); more {
			heads[i] = next
			continue
		}
		open, heads = slices.Delete(open, i, i+1), slices.Delete(heads, i, i+1)
	}
	return out
}

func (q *Queue) close(lane Lane, head protocol.JobID) {
	if q.closed == nil {
		q.closed = map[Lane]protocol.JobID{}
	}
	q.closed[lane] = head
}

// waiter is a job among others that wait for the same.
type waiter struct {
	rank Rank
	id   protocol.JobID
}

func (w waiter) before(other waiter) bool {
	return w.rank < other.rank || w.rank == other.rank && w.id < other.id
}

// waiting is a heap of jobs.
type waiting []waiter

func (s *waiting) Len() int           { return len(*s) }
func (s *waiting) Less(i, j int) bool { return (*s)[i].before((*s)[j]) }
func (s *waiting) Swap(i, j int)      { (*s)[i], (*s)[j] = (*s)[j], (*s)[i] }

// Push implements [heap.Interface].
func (s *waiting) Push(x any) {
	if one, ok := x.(waiter); ok {
		*s = append(*s, one)
	}
}

// Pop implements [heap.Interface].
func (s *waiting) Pop() any {
	last := len(*s) - 1
	one := (*s)[last]
	*s = (*s)[:last]
	return one
}
