// Package gridqueue keeps the jobs of one site that are not yet placed, by their ranks and, of
// one rank, in the order in which they were submitted. A job is ready, taken by a round, deferred until
// an instant, parked until it is called, blocked until a site can be asked that could
// run it, or held until it is released.
package gridqueue

import (
	"container/heap"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Queue is a grid queue. Its zero value is empty and ready to use. Job ids of one
// origin rise with submission, so the smallest id is the oldest job.
type Queue struct {
	places   map[protocol.JobID]place
	ready    lanes                   // may hold ids that are no longer ready, or in another lane
	deferred deferrals               // may have ids that are no longer deferred so
	parked   waiting                 // may hold ids that are no longer parked, or of another rank
	blocked  int                     // jobs
	closed   map[Lane]protocol.JobID // by the job that was not taken; counts while that is the first of the lane
	held     int                     // jobs
}

type place struct {
	kind  kind
	lane  Lane
	rank  Rank
	until protocol.Instant // of deferred
}

type kind uint8

const (
	absent kind = iota // not in the queue
	ready
	taken
	deferred
	parked
	blocked
	held // until Release or Remove, whatever else is called
)

// put says what a job of the queue is from here on.
func (q *Queue) put(id protocol.JobID, to place) {
	q.count(q.places[id].kind, -1)
	q.count(to.kind, +1)
	to.lane, to.rank = q.places[id].lane, q.places[id].rank
	q.places[id] = to
}

// count counts a job that becomes something, or is it no more.
func (q *Queue) count(kind kind, by int) {
	switch kind { //nolint:exhaustive // the others are not counted
	case blocked:
		q.blocked += by
	case held:
		q.held += by
	}
}

// Len is how many jobs are in the queue, in whatever state.
func (q *Queue) Len() int { return len(q.places) }

// Has says whether the job is in the queue.
func (q *Queue) Has(id protocol.JobID) bool {
	_, ok := q.places[id]
	return ok
}

// Waiting is how many jobs are in the queue that are not held.
func (q *Queue) Waiting() int { return len(q.places) - q.held }

// Put makes the job ready, whether it is new or comes back, unless it is held.
func (q *Queue) Put(id protocol.JobID) {
	if q.places == nil {
		q.places = map[protocol.JobID]place{}
	}
	if kind := q.places[id].kind; kind == ready || kind == held {
		return
	}
	q.put(id, place{kind: ready})
	q.line(id)
}

// Hold keeps the job from being taken until Release, whether it is new or in the queue, and also if a round has taken
// it. No other call makes it ready.
func (q *Queue) Hold(id protocol.JobID) {
	if q.places == nil {
		q.places = map[protocol.JobID]place{}
	}
	q.put(id, place{kind: held})
}

// IsHeld says whether the job is.
func (q *Queue) IsHeld(id protocol.JobID) bool { return q.places[id].kind == held }

// IsTaken says whether the job is, and nothing has been done with it since.
func (q *Queue) IsTaken(id protocol.JobID) bool { return q.places[id].kind == taken }

// Release makes a held job ready.
func (q *Queue) Release(id protocol.JobID) {
	if q.IsHeld(id) {
		q.put(id, place{})
		q.Put(id)
	}
}

// Defer keeps a job of the queue from being taken until an instant.
func (q *Queue) Defer(id protocol.JobID, until protocol.Instant) {
	if !q.Has(id) || q.IsHeld(id) {
		return
	}
	q.put(id, place{kind: deferred, until: until})
	heap.Push(&q.deferred, deferral{id: id, until: until})
}

// Wake makes a job ready that is deferred or parked.
func (q *Queue) Wake(id protocol.JobID) {
	if kind := q.places[id].kind; kind == deferred || kind == parked {
		q.Put(id)
	}
}

// Park keeps a job of the queue from being taken until Unpark.
func (q *Queue) Park(id protocol.JobID) {
	if kind := q.places[id].kind; kind == absent || kind == parked || kind == held {
		return
	}
	q.put(id, place{kind: parked})
	q.line(id)
}

// UnparkAll makes all parked jobs that are wanted ready.
func (q *Queue) UnparkAll(wanted func(protocol.JobID) bool) { q.Unpark(q.parked.Len(), wanted) }

// Unpark makes the first n parked jobs that are wanted ready, those of the lowest rank first, and of one rank the oldest.
func (q *Queue) Unpark(n int, wanted func(protocol.JobID) bool) {
	var stay waiting
	for n > 0 && q.parked.Len() > 0 {
		one := q.parked[0]
		heap.Pop(&q.parked)
		if at := q.places[one.id]; at.kind != parked || at.rank != one.rank {
			continue
		}
		if !wanted(one.id) {
			stay = append(stay, one)
			continue
		}
		q.Put(one.id)
		n--
	}
	for _, one := range stay {
		heap.Push(&q.parked, one)
	}
}

// Block keeps a job of the queue from being taken until Unblock.
func (q *Queue) Block(id protocol.JobID) {
	if q.Has(id) && !q.IsHeld(id) {
		q.put(id, place{kind: blocked})
	}
}

// Blocked is how many jobs are blocked.
func (q *Queue) Blocked() int { return q.blocked }

// IsBlocked says whether the job is.
func (q *Queue) IsBlocked(id protocol.JobID) bool { return q.places[id].kind == blocked }

// Unblock makes the blocked jobs that are wanted ready. It looks at all jobs of the queue, in
// any order, unless none is blocked.
func (q *Queue) Unblock(wanted func(protocol.JobID) bool) {
	if q.blocked == 0 {
		return
	}
	var free []protocol.JobID
	for id, p := range q.places {
		if p.kind == blocked && wanted(id) {
			free = append(free, id)
		}
	}
	slices.Sort(free) // equal queues stay equal, in their heaps too
	for _, id := range free {
		q.Put(id)
	}
}

// Any wants every job.
func Any(protocol.JobID) bool { return true }

// Remove takes the job out for good.
func (q *Queue) Remove(id protocol.JobID) {
	q.count(q.places[id].kind, -1)
	delete(q.places, id)
}

// TakeAlso hands one more job out, ready, deferred or blocked, that shall not be parted from one
// that was taken. It says whether it could.
func (q *Queue) TakeAlso(id protocol.JobID) bool {
	if kind := q.places[id].kind; kind != ready && kind != deferred && kind != blocked {
		return false
	}
	q.put(id, place{kind: taken})
	return true
}

// ResumeDue makes ready the jobs that were deferred until now or earlier.
func (q *Queue) ResumeDue(now protocol.Instant) {
	for q.deferred.Len() > 0 && q.deferred[0].until <= now {
		q.popDeferred()
	}
}

// ResumeAll makes every deferred job ready.
func (q *Queue) ResumeAll() {
	for q.deferred.Len() > 0 {
		q.popDeferred()
	}
}

// PutOff defers all deferred jobs for longer.
func (q *Queue) PutOff(by protocol.Duration) {
	for id, p := range q.places {
		if p.kind == deferred {
			p.until = p.until.Add(by)
			q.places[id] = p
		}
	}
	for i := range q.deferred {
		q.deferred[i].until = q.deferred[i].until.Add(by)
	}
}

// Next is when the next deferred job becomes ready. Zero means that none is deferred.
func (q *Queue) Next() protocol.Instant {
	for q.deferred.Len() > 0 {
		h := q.deferred[0]
		if q.isDeferred(h) {
			return h.until
		}
		heap.Pop(&q.deferred)
	}
	return 0
}

func (q *Queue) popDeferred() {
	h := q.deferred[0]
	heap.Pop(&q.deferred)
	if q.isDeferred(h) {
		q.Put(h.id)
	}
}

// isDeferred reports whether the job is still deferred until that instant.
func (q *Queue) isDeferred(h deferral) bool {
	at := q.places[h.id]
	return at.kind == deferred && at.until == h.until
}

type deferral struct {
	id    protocol.JobID
	until protocol.Instant
}

type deferrals []deferral

func (s *deferrals) Len() int           { return len(*s) }
func (s *deferrals) Less(i, j int) bool { return (*s)[i].until < (*s)[j].until }
func (s *deferrals) Swap(i, j int)      { (*s)[i], (*s)[j] = (*s)[j], (*s)[i] }

// Push implements [heap.Interface].
func (s *deferrals) Push(x any) {
	if h, ok := x.(deferral); ok {
		*s = append(*s, h)
	}
}

// Pop implements [heap.Interface].
func (s *deferrals) Pop() any {
	last := len(*s) - 1
	h := (*s)[last]
	*s = (*s)[:last]
	return h
}
