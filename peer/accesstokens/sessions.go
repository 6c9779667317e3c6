package accesstokens

import (
	"cmp"
	"encoding/base64"
	"errors"
	"sync"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits of sessions.
const (
	SessionLife     = 12 * protocol.Hour
	maxSessions     = 1000
	maxUserSessions = 20 // of one user
)

// ErrNoSession says that a session has ended, or that there never was one.
var ErrNoSession = errors.New("the session has ended; sign in again")

// Sessions are those of browsers, in which each has shown a token once. They are in memory only: a restart ends them.
// The methods may be called from any goroutine.
type Sessions struct {
	book *Book

	mu   sync.Mutex
	open map[string]session // by the digests of their secrets
}

// session is in the name of a token, for a while.
type session struct {
	token       Token
	began, ends protocol.Instant
}

// NewSessions are sessions of the tokens of a book.
func NewSessions(book *Book) *Sessions {
	return &Sessions{book: book, open: map[string]session{}}
}

// Begin opens a session for a token that is good. It ends after [SessionLife], with the token, or when there are too many
// of the same user, of which the oldest goes, or altogether, of which the oldest of those users goes who have the most.
func (s *Sessions) Begin(t Token, now protocol.Instant) (secret string) {
	secret = base64.RawURLEncoding.EncodeToString(random(secretBytes))
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, one := range s.open {
		if one.ends <= now {
			delete(s.open, key)
		}
	}
	s.makeRoom(t.User)
	s.open[digest(secret)] = session{token: t, began: now, ends: min(t.Expires, now.Add(SessionLife))}
	return secret
}

// makeRoom ends a session if there are as many as there may be, of the user who wants one more or altogether. The caller holds the lock.
func (s *Sessions) makeRoom(user string) {
	held := map[string]int{}
	for _, one := range s.open {
		held[one.token.User]++
	}
	tooMany := held[user] >= maxUserSessions
	if !tooMany && len(s.open) < maxSessions {
		return
	}
	goes, last := "", session{}
	for key, one := range s.open {
		if tooMany && one.token.User != user {
			continue
		}
		if goes == "" || cmp.Or(cmp.Compare(held[last.token.User], held[one.token.User]), cmp.Compare(one.began, last.began)) < 0 {
			goes, last = key, one
		}
	}
	delete(s.open, goes)
}

// Find returns the token of a session. The error is [ErrNoSession], or that of [Book.Good]: the session ends with its token.
func (s *Sessions) Find(secret string, now protocol.Instant) (Token, error) {
	key := digest(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	found, known := s.open[key]
	if !known {
		return Token{}, ErrNoSession
	}
	if found.ends <= now {
		delete(s.open, key)
		return Token{}, ErrNoSession
	}
	if err := s.book.Good(found.token.ID, now); err != nil {
		delete(s.open, key)
		return Token{}, err
	}
	return found.token, nil
}

// End ends a session, if there is one.
func (s *Sessions) End(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, digest(secret))
}
