package accesstokens

import (
	"cmp"
	"encoding/base64"
	"errors"
	"sync"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// SessionLife is for how long the session of a browser lasts at most.
const SessionLife = 12 * protocol.Hour

// ErrNoSession says that a session has ended, or that there never was one.
var ErrNoSession = errors.New("the session has ended; sign in again")

// Sessions remember something of browsers, each of which has a secret of its own. They are in memory only: a restart ends them.
// The methods may be called from any goroutine.
type Sessions[T any] struct {
	most, mostOfOne int

	mu   sync.Mutex
	open map[string]session[T] // by the digests of their secrets
}

// session is that of a browser.
type session[T any] struct {
	of          string
	what        T
	began, ends protocol.Instant
}

// NewSessions makes room for this number of sessions, and this number of one holder.
func NewSessions[T any](most, mostOfOne int) *Sessions[T] {
	return &Sessions[T]{most: most, mostOfOne: mostOfOne, open: map[string]session[T]{}}
}

// Begin opens a session of a holder. It ends at its end, or when there are too many of the same holder, of which the oldest goes, or altogether,
// of which the oldest of those holders goes who have the most.
func (s *Sessions[T]) Begin(of string, what T, now, ends protocol.Instant) (secret string) {
	secret = base64.RawURLEncoding.EncodeToString(random(secretBytes))
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, one := range s.open {
		if one.ends <= now {
			delete(s.open, key)
		}
	}
	s.makeRoom(of)
	s.open[digest(secret)] = session[T]{of: of, what: what, began: now, ends: ends}
	return secret
}

// makeRoom ends a session if there are as many as there may be, of the holder who wants one more or altogether. The caller holds the lock.
func (s *Sessions[T]) makeRoom(of string) {
	held := map[string]int{}
	for _, one := range s.open {
		held[one.of]++
	}
	tooMany := held[of] >= s.mostOfOne
	if !tooMany && len(s.open) < s.most {
		return
	}
	goes, last := "", session[T]{}
	for key, one := range s.open {
		if tooMany && one.of != of {
			continue
		}
		if goes == "" || cmp.Or(cmp.Compare(held[last.of], held[one.of]), cmp.Compare(one.began, last.began)) < 0 {
			goes, last = key, one
		}
	}
	delete(s.open, goes)
}

// Find returns what a session remembers. The error is [ErrNoSession].
func (s *Sessions[T]) Find(secret string, now protocol.Instant) (what T, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.find(digest(secret), now)
	return found.what, err
}

// Take returns what a session remembers, and ends it: of all who take the same one, one gets it. The error is [ErrNoSession].
func (s *Sessions[T]) Take(secret string, now protocol.Instant) (what T, err error) {
	key := digest(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.find(key, now)
	delete(s.open, key)
	return found.what, err
}

// find returns a session by its key. The caller holds the lock.
func (s *Sessions[T]) find(key string, now protocol.Instant) (session[T], error) {
	found, known := s.open[key]
	if known && found.ends > now {
		return found, nil
	}
	delete(s.open, key)
	return session[T]{}, ErrNoSession
}

// End ends a session, if there is one.
func (s *Sessions[T]) End(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, digest(secret))
}
