package accesstokens_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sessions are those of users who each have some tokens.
type sessions struct {
	*accesstokens.Sessions

	book *accesstokens.Book
}

func newSessions(t *testing.T) *sessions {
	t.Helper()
	book := open(t, filepath.Join(t.TempDir(), "tokens.json"))
	return &sessions{accesstokens.NewSessions(book), book}
}

func (s *sessions) token(t *testing.T, user string, life protocol.Duration) accesstokens.Token {
	t.Helper()
	wanted := annsFor(life)
	wanted.User = user
	_, made, err := s.book.Create(wanted, now)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// goes checks whether a session goes on.
func (s *sessions) goes(t *testing.T, what, secret string, at protocol.Instant, want error) {
	t.Helper()
	if _, err := s.Find(secret, at); !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// A session ends by its own end, at that of its token, when it is ended, and when its token is revoked; others go on.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	long, short := s.token(t, "ann", 100*protocol.Hour), s.token(t, "ann", protocol.Hour)
	secret := s.Begin(long, now)
	if found, err := s.Find(secret, now); err != nil || found.ID != long.ID {
		t.Fatalf("%+v, %v", found, err)
	}
	s.goes(t, "another secret", secret+"x", now, accesstokens.ErrNoSession)
	s.goes(t, "before its end", secret, now.Add(accesstokens.SessionLife-1), nil)
	s.goes(t, "at its end", secret, now.Add(accesstokens.SessionLife), accesstokens.ErrNoSession)
	s.goes(t, "once it has ended", secret, now, accesstokens.ErrNoSession)

	secret = s.Begin(short, now)
	s.goes(t, "before the end of its token", secret, now.Add(protocol.Hour-1), nil)
	s.goes(t, "at the end of its token", secret, now.Add(protocol.Hour), accesstokens.ErrNoSession)

	first, second := s.Begin(long, now), s.Begin(long, now)
	s.End(first)
	s.End("never begun")
	s.goes(t, "signed out", first, now, accesstokens.ErrNoSession)
	s.goes(t, "the other browser", second, now, nil)

	other := s.Begin(short, now)
	if err := s.book.Revoke(long.ID, "ann", now); err != nil {
		t.Fatal(err)
	}
	s.goes(t, "of a token that is revoked", second, now, accesstokens.ErrUnknown)
	s.goes(t, "of another token", other, now, nil)
}

// A user with many tokens has 20 sessions at once, the newest.
func TestSessionsOfOneUser(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	of := s.Begin(s.token(t, "bob", protocol.Hour), now)
	var all []string
	for i := range 50 {
		all = append(all, s.Begin(s.token(t, "ann", protocol.Hour), now.Add(protocol.Duration(i))))
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
	s := newSessions(t)
	only := s.Begin(s.token(t, "ann", protocol.Hour), now)
	var greedy []string
	for i := range 51 { // 1000 and more
		token := s.token(t, fmt.Sprintf("user%d", i), protocol.Hour)
		for range 20 {
			greedy = append(greedy, s.Begin(token, now.Add(1)))
		}
	}
	last := s.Begin(s.token(t, "bob", protocol.Hour), now.Add(2))
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
