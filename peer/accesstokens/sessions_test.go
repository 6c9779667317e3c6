package accesstokens_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sessions are those of users, with a number each.
type sessions struct{ *accesstokens.Sessions[int] }

func newSessions() sessions { return sessions{accesstokens.NewSessions[int](1000, 20)} }

// begin begins a session of an hour.
func (s sessions) begin(user string, at protocol.Instant) string {
	return s.Begin(user, 1, at, at.Add(protocol.Hour))
}

// goes checks whether a session goes on.
func (s sessions) goes(t *testing.T, what, secret string, at protocol.Instant, want error) {
	t.Helper()
	if _, err := s.Find(secret, at); !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// A session ends by its own end, and when it is ended; others go on.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	s := newSessions()
	secret := s.Begin("ann", 7, now, now.Add(protocol.Hour))
	if found, err := s.Find(secret, now); err != nil || found != 7 {
		t.Fatalf("%d, %v", found, err)
	}
	s.goes(t, "another secret", secret+"x", now, accesstokens.ErrNoSession)
	s.goes(t, "before its end", secret, now.Add(protocol.Hour-1), nil)
	s.goes(t, "at its end", secret, now.Add(protocol.Hour), accesstokens.ErrNoSession)
	s.goes(t, "once it has ended", secret, now, accesstokens.ErrNoSession)

	first, second := s.begin("ann", now), s.begin("ann", now)
	s.End(first)
	s.End("never begun")
	s.goes(t, "signed out", first, now, accesstokens.ErrNoSession)
	s.goes(t, "the other browser", second, now, nil)
}

// What is taken is there once, whoever comes at the same time.
func TestSessionsAreTakenOnce(t *testing.T) {
	t.Parallel()
	s := newSessions()
	secret := s.begin("ann", now)
	if _, err := s.Take(secret+"x", now); !errors.Is(err, accesstokens.ErrNoSession) {
		t.Errorf("another secret: %v", err)
	}
	var got atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if one, err := s.Take(secret, now); err == nil && one == 1 {
				got.Add(1)
			}
		})
	}
	all.Wait()
	if got.Load() != 1 {
		t.Errorf("%d got it", got.Load())
	}
	secret = s.begin("ann", now)
	if _, err := s.Take(secret, now.Add(protocol.Hour)); !errors.Is(err, accesstokens.ErrNoSession) {
		t.Errorf("at its end: %v", err)
	}
}

// A user has 20 sessions at once, the newest.
func TestSessionsOfOneUser(t *testing.T) {
	t.Parallel()
	s := newSessions()
	of := s.begin("bob", now)
	var all []string
	for i := range 50 {
		all = append(all, s.begin("ann", now.Add(protocol.Duration(i))))
	}
	later := now.Add(protocol.Minute)
	for i, secret := range all {
		want := error(nil)
		if i < len(all)-20 {
			want = accesstokens.ErrNoSession
		}
		s.goes(t, fmt.Sprintf("session %d", i), secret, later, want)
	}
	s.goes(t, "of another user", of, later, nil)
}

// When there are as many sessions as there may be, one more costs those a session who have the most.
func TestSessionsOfMany(t *testing.T) {
	t.Parallel()
	s := newSessions()
	only := s.begin("ann", now)
	var greedy []string
	for i := range 51 { // 1000 and more
		for range 20 {
			greedy = append(greedy, s.begin(fmt.Sprintf("user%d", i), now.Add(1)))
		}
	}
	last := s.begin("bob", now.Add(2))
	later, open := now.Add(protocol.Minute), 0
	s.goes(t, "the only one of a user, and the oldest", only, later, nil)
	s.goes(t, "the newest", last, later, nil)
	for _, secret := range greedy {
		if _, err := s.Find(secret, later); err == nil {
			open++
		}
	}
	if open != 998 {
		t.Errorf("%d others are open, want 998", open)
	}
}
