package eventstream

import (
	"errors"
	"sync"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Stream has the latest events. Its methods may be called from any goroutine.
type Stream struct {
	life protocol.Instant

	mu        sync.Mutex
	ring      []*Event // by number
	next      uint64   // the number of the next event
	followed  bool     // somebody follows, or has
	followers int
	waiting   chan struct{} // closed by the next event; nil: no follower waits
}

// New makes a stream that keeps the given number of events. It begins at an instant at which none before it began.
func New(begins protocol.Instant, keep int) *Stream {
	return &Stream{life: begins, ring: make([]*Event, keep), next: 1}
}

// Followed reports whether anybody follows, or has followed. Until then events are not kept.
func (s *Stream) Followed() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.followed
}

// Followers is how many follow now.
func (s *Stream) Followers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.followers
}

// Publish adds an event. It does not wait for followers.
func (s *Stream) Publish(e *Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.followed {
		return
	}
	e.ID = ID{s.life, s.next}
	s.ring[s.next%uint64(len(s.ring))] = e
	s.next++
	if s.waiting != nil {
		close(s.waiting)
		s.waiting = nil
	}
}

// oldest is the number of the oldest event that is kept, or of the next one. The lock is held.
func (s *Stream) oldest() uint64 {
	if kept := uint64(len(s.ring)); s.next > kept {
		return s.next - kept
	}
	return 1
}

// Gap says that events are not kept any more that a follower has not read.
type Gap struct {
	Missed uint64 `json:"missed,omitempty"` // how many; 0: it is not known, since the peer has been restarted
}

// ErrSlow says that a follower reads more slowly than events come.
var ErrSlow = errors.New("events come faster than they are read")

// Follower reads a stream. It is for one goroutine.
type Follower struct {
	stream *Stream
	next   uint64
	gap    *Gap // not returned yet
	behind bool // since a gap
}

// Follow begins to read after an event; nil: with the next one there will be. Close ends it.
func (s *Stream) Follow(after *ID) *Follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.followed = true
	s.followers++
	f := &Follower{stream: s, next: s.next}
	switch {
	case after == nil:
	case after.Life != s.life || after.N >= s.next:
		f.next, f.gap = s.oldest(), &Gap{}
	default:
		f.next = after.N + 1
	}
	return f
}

// Close ends the following.
func (f *Follower) Close() {
	f.stream.mu.Lock()
	defer f.stream.mu.Unlock()
	f.stream.followers--
}

// Place is the ID of the last event before those that are not read yet.
func (f *Follower) Place() ID { return ID{f.stream.life, f.next - 1} }

// Take reads up to most events, and says what is missing before them; nil: nothing is. It does not wait. The error is [ErrSlow]
// if there is a gap once more before the events after the last one have all been read.
func (f *Follower) Take(most int) (events []*Event, gap *Gap, err error) {
	s := f.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	gap, f.gap = f.gap, nil
	if oldest := s.oldest(); f.next < oldest {
		if f.behind {
			return nil, nil, ErrSlow
		}
		gap = &Gap{Missed: oldest - f.next}
		f.next = oldest
	}
	f.behind = f.behind || gap != nil
	for ; f.next < s.next && len(events) < most; f.next++ {
		events = append(events, s.ring[f.next%uint64(len(s.ring))])
	}
	f.behind = f.behind && f.next < s.next
	return events, gap, nil
}

// More is closed when there is something to take.
func (f *Follower) More() <-chan struct{} {
	s := f.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = make(chan struct{})
	}
	waiting := s.waiting
	if f.next < s.next || f.gap != nil {
		waiting = make(chan struct{})
		close(waiting)
	}
	return waiting
}
