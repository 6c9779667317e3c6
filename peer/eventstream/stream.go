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
	first     uint64   // the number of the oldest event that is kept, or of the next one
	next      uint64   // the number of the next event
	bytes     int      // of the events that are kept
	most      int      // of bytes
	followed  bool     // somebody follows, or has
	followers int
	watchers  int
	waiting   chan struct{} // closed when something happens next; nil: none waits for it
}

// New makes a stream that keeps the last events: the given number of them, or fewer if they would have more bytes than given, but at least
// one. It begins at an instant at which none before it began.
func New(begins protocol.Instant, keep, bytes int) *Stream {
	return &Stream{life: begins, ring: make([]*Event, keep), first: 1, next: 1, most: bytes}
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

// overhead is what an event takes in memory besides its text, about, in bytes.
const overhead = 256

// Publish adds an event. It does not wait for followers.
func (s *Stream) Publish(e *Event) {
	size := overhead
	if s.Followed() {
		text, _ := e.JSON() // the error is kept for those who read it
		size += len(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
	if !s.followed {
		return
	}
	for s.first < s.next && (s.next-s.first == uint64(len(s.ring)) || s.bytes+size > s.most) {
		oldest := &s.ring[s.first%uint64(len(s.ring))]
		s.bytes -= (*oldest).size
		*oldest = nil
		s.first++
	}
	e.ID, e.size = ID{s.life, s.next}, size
	s.ring[s.next%uint64(len(s.ring))] = e
	s.bytes += size
	s.next++
}

// wake closes what is closed when something happens. The caller holds mu.
func (s *Stream) wake() {
	if s.waiting != nil {
		close(s.waiting)
		s.waiting = nil
	}
}

// Happened says that something has happened, of which no event is made while there are no followers.
func (s *Stream) Happened() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
}

// Watch counts who wants to know that something has happened ([Stream.Next]), and not what, until the function that it returns is called
// once: no events are kept for that.
func (s *Stream) Watch() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers--
	}
}

// Watched reports whether anybody follows or watches now.
func (s *Stream) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.followers+s.watchers > 0
}

// Next is closed when something happens.
func (s *Stream) Next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wait()
}

// wait is closed when something happens. The caller holds mu.
func (s *Stream) wait() chan struct{} {
	if s.waiting == nil {
		s.waiting = make(chan struct{})
	}
	return s.waiting
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
	after  ID   // where it began, if there is a gap since
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
		f.next, f.gap, f.after = s.first, &Gap{}, *after
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

// Place is the ID of the last event before those that are not read yet, or of one after which a gap follows again, if there is a gap
// that is not read yet.
func (f *Follower) Place() ID {
	if f.gap != nil {
		return f.after
	}
	return ID{f.stream.life, f.next - 1}
}

// Take reads up to most events, and says what is missing before them; nil: nothing is. It does not wait. The error is [ErrSlow]
// if there is a gap once more before the events after the last one have all been read.
func (f *Follower) Take(most int) (events []*Event, gap *Gap, err error) {
	s := f.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	gap, f.gap = f.gap, nil
	if oldest := s.first; f.next < oldest {
		if f.behind {
			return nil, nil, ErrSlow
		}
		switch missed := oldest - f.next; {
		case gap == nil:
			gap = &Gap{Missed: missed}
		case gap.Missed > 0: // else the peer has been restarted, and how many are missing is not known
			gap = &Gap{Missed: gap.Missed + missed}
		}
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
	waiting := s.wait()
	if f.next < s.next || f.gap != nil {
		waiting = make(chan struct{})
		close(waiting)
	}
	return waiting
}
