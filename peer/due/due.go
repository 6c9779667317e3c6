// Package due keeps what is due at which instant, in order, for a state machine without a clock.
package due

import (
	"container/heap"
	"iter"
	"maps"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Set has at most one instant for each key. Keys that are due at one instant come in an order that
// only the calls before decide, as a rule that in which they were set. The zero Set is empty.
type Set[K comparable] struct {
	due  map[K]protocol.Instant // the live ones
	heap entries[K]             // and those that were moved or stopped since
	seq  uint64
}

type entry[K comparable] struct {
	at  protocol.Instant
	seq uint64
	key K
}

// Set has a key be due at an instant, and not at the one before.
func (s *Set[K]) Set(key K, at protocol.Instant) {
	if s.due == nil {
		s.due = map[K]protocol.Instant{}
	}
	s.due[key] = at
	s.seq++
	heap.Push(&s.heap, entry[K]{at: at, seq: s.seq, key: key})
}

// Stop has a key not be due any more.
func (s *Set[K]) Stop(key K) { delete(s.due, key) }

// Has says whether a key is due some time.
func (s *Set[K]) Has(key K) bool {
	_, ok := s.due[key]
	return ok
}

// Keys are those that are due some time, in no order.
func (s *Set[K]) Keys() iter.Seq[K] { return maps.Keys(s.due) }

// PutOff moves all instants.
func (s *Set[K]) PutOff(by protocol.Duration) {
	for key, at := range s.due {
		s.due[key] = at.Add(by)
	}
	for i := range s.heap {
		s.heap[i].at = s.heap[i].at.Add(by)
	}
}

// Next is the key that is due first; ok is false when there is none.
func (s *Set[K]) Next() (key K, at protocol.Instant, ok bool) {
	for s.heap.Len() > 0 {
		first := s.heap[0]
		if at, live := s.due[first.key]; live && at == first.at {
			return first.key, at, true
		}
		heap.Pop(&s.heap)
	}
	return key, 0, false
}

type entries[K comparable] []entry[K]

func (h *entries[K]) Len() int { return len(*h) }
func (h *entries[K]) Less(i, j int) bool {
	if (*h)[i].at != (*h)[j].at {
		return (*h)[i].at < (*h)[j].at
	}
	return (*h)[i].seq < (*h)[j].seq
}
func (h *entries[K]) Swap(i, j int) { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }

// Push implements [heap.Interface].
func (h *entries[K]) Push(x any) {
	if one, ok := x.(entry[K]); ok {
		*h = append(*h, one)
	}
}

// Pop implements [heap.Interface].
func (h *entries[K]) Pop() any {
	last := len(*h) - 1
	one := (*h)[last]
	*h = (*h)[:last]
	return one
}
