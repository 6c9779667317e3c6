// Package gridqueue keeps the jobs of one site that are not yet placed, in the
// order in which they were submitted. A job is ready, taken by a round, held until
// an instant, parked until it is called, or blocked until a site can be asked that could
// run it.
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
	ready    ids       // may hold ids that are no longer ready
	deferred deferrals // may have ids that are no longer deferred so
	parked   ids       // may hold ids that are no longer parked
	blocked  int       // jobs
}

type place struct {
	kind  kind
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
)

// put says what a job of the queue is from here on.
func (q *Queue) put(id protocol.JobID, to place) {
	if q.places[id].kind == blocked {
		q.blocked--
	}
	if to.kind == blocked {
		q.blocked++
	}
	q.places[id] = to
}

// Len is how many jobs are in the queue, in whatever state.
func (q *Queue) Len() int { return len(q.places) }

// Has says whether the job is in the queue.
func (q *Queue) Has(id protocol.JobID) bool {
	_, ok := q.places[id]
	return ok
}

// Put makes the job ready, whether it is new or comes back.
func (q *Queue) Put(id protocol.JobID) {
	if q.places == nil {
		q.places = map[protocol.JobID]place{}
	}
	if q.places[id].kind == ready {
		return
	}
	q.put(id, place{kind: ready})
	heap.Push(&q.ready, id)
}

// Defer keeps a job of the queue from being taken until an instant.
func (q *Queue) Defer(id protocol.JobID, until protocol.Instant) {
	if !q.Has(id) {
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
	if kind := q.places[id].kind; kind == absent || kind == parked {
		return
	}
	q.put(id, place{kind: parked})
	heap.Push(&q.parked, id)
}

// UnparkAll makes all parked jobs that are wanted ready.
func (q *Queue) UnparkAll(wanted func(protocol.JobID) bool) { q.Unpark(q.parked.Len(), wanted) }

// Unpark makes the first n parked jobs that are wanted ready, oldest first.
func (q *Queue) Unpark(n int, wanted func(protocol.JobID) bool) {
	var stay ids
	for n > 0 && q.parked.Len() > 0 {
		id := q.parked[0]
		heap.Pop(&q.parked)
		if q.places[id].kind != parked {
			continue
		}
		if !wanted(id) {
			stay = append(stay, id)
			continue
		}
		q.Put(id)
		n--
	}
	for _, id := range stay {
		heap.Push(&q.parked, id)
	}
}

// Block keeps a job of the queue from being taken until Unblock.
func (q *Queue) Block(id protocol.JobID) {
	if q.Has(id) {
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
	var free ids
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
	if q.places[id].kind == blocked {
		q.blocked--
	}
	delete(q.places, id)
}

// Take hands out up to n ready jobs, oldest first. Each stays in the queue until
// it is removed, held or put back.
func (q *Queue) Take(n int) []protocol.JobID {
	var out []protocol.JobID
	for len(out) < n && q.ready.Len() > 0 {
		id := q.ready[0]
		heap.Pop(&q.ready)
		if q.places[id].kind != ready {
			continue
		}
		q.put(id, place{kind: taken})
		out = append(out, id)
	}
	return out
}

// TakeAlso hands one more job out, ready, held or blocked, that shall not be parted from one
// that was taken. It says whether it could.
func (q *Queue) TakeAlso(id protocol.JobID) bool {
	if kind := q.places[id].kind; kind != ready && kind != deferred && kind != blocked {
		return false
	}
	q.put(id, place{kind: taken})
	return true
}

// Ready says whether a job could be taken now.
func (q *Queue) Ready() bool {
	for q.ready.Len() > 0 {
		if q.places[q.ready[0]].kind == ready {
			return true
		}
		heap.Pop(&q.ready)
	}
	return false
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
	return q.places[h.id] == place{kind: deferred, until: h.until}
}

type ids []protocol.JobID

func (s *ids) Len() int           { return len(*s) }
func (s *ids) Less(i, j int) bool { return (*s)[i] < (*s)[j] }
func (s *ids) Swap(i, j int)      { (*s)[i], (*s)[j] = (*s)[j], (*s)[i] }

// Push implements [heap.Interface].
func (s *ids) Push(x any) {
	if id, ok := x.(protocol.JobID); ok {
		*s = append(*s, id)
	}
}

// Pop implements [heap.Interface].
func (s *ids) Pop() any {
	last := len(*s) - 1
	id := (*s)[last]
	*s = (*s)[:last]
	return id
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
