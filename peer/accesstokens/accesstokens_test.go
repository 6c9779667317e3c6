package accesstokens_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const now protocol.Instant = 1_795_000_000_000

func open(t *testing.T, path string) *accesstokens.Book {
	t.Helper()
	book, err := accesstokens.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return book
}

func annsFor(life protocol.Duration) accesstokens.Token {
	return accesstokens.Token{User: "ann", Scopes: accesstokens.Scopes{accesstokens.Read}, Maker: "ann", Expires: now.Add(life)}
}

// A token is found by its secret until it expires or is revoked, also after a restart, and the file does not
// have the secret.
func TestTokenLives(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens.json")
	book := open(t, path)
	secret, made, err := book.Create(annsFor(protocol.Hour), now)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := book.Create(annsFor(2*protocol.Hour), now)
	if err != nil || other == secret {
		t.Fatalf("the second is %q, %v", other, err)
	}
	for _, b := range []*accesstokens.Book{book, open(t, path)} {
		var got accesstokens.Token
		if got, err = b.Find(secret, now); err != nil || got.ID != made.ID || got.User != "ann" || !slices.Equal(got.Scopes, made.Scopes) {
			t.Errorf("found %+v, %v", got, err)
		}
		if _, err = b.Find(secret, now.Add(protocol.Hour)); !errors.Is(err, accesstokens.ErrExpired) {
			t.Errorf("at its end: %v", err)
		}
		for _, wrong := range []string{"", "sy_", secret[:len(secret)-1], secret + "x", "sy_" + made.ID + "_", strings.ToUpper(secret), strings.TrimPrefix(secret, "sy_")} {
			if _, err = b.Find(wrong, now); !errors.Is(err, accesstokens.ErrUnknown) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
	}
	text, err := os.ReadFile(path)
	if _, hidden, _ := strings.Cut(strings.TrimPrefix(secret, "sy_"), "_"); err != nil || strings.Contains(string(text), hidden) {
		t.Errorf("the file has the secret, or is not there: %v", err)
	}
	if info, failed := os.Stat(path); failed != nil || info.Mode() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), failed)
	}
	if err = book.Revoke(made.ID, "bob", now); !errors.Is(err, accesstokens.ErrUnknown) {
		t.Errorf("revoked by another: %v", err)
	}
	if err = book.Revoke(made.ID, "ann", now); err != nil {
		t.Error(err)
	}
	for _, b := range []*accesstokens.Book{book, open(t, path)} {
		if _, err = b.Find(secret, now); !errors.Is(err, accesstokens.ErrUnknown) {
			t.Errorf("revoked: %v", err)
		}
		if _, err = b.Find(other, now); err != nil {
			t.Errorf("the other: %v", err)
		}
	}
}

// A list has the tokens of one user, or of all, that have not expired.
func TestList(t *testing.T) {
	t.Parallel()
	book := open(t, filepath.Join(t.TempDir(), "tokens.json"))
	for _, token := range []accesstokens.Token{
		annsFor(protocol.Hour), annsFor(protocol.Minute), {User: "bob", Scopes: accesstokens.All(), Maker: "root", Expires: now.Add(protocol.Hour)},
	} {
		if _, _, err := book.Create(token, now); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		user string
		at   protocol.Instant
		want []string
	}{
		{"ann", now, []string{"ann", "ann"}}, {"", now, []string{"ann", "ann", "bob"}}, {"", now.Add(protocol.Minute), []string{"ann", "bob"}}, {"carol", now, []string{}},
	} {
		got := []string{}
		for _, token := range book.List(c.user, c.at) {
			got = append(got, token.User)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestInvalidTokens(t *testing.T) {
	t.Parallel()
	book := open(t, filepath.Join(t.TempDir(), "tokens.json"))
	for name, change := range map[string]func(*accesstokens.Token){
		"no user":         func(t *accesstokens.Token) { t.User = "" },
		"no scopes":       func(t *accesstokens.Token) { t.Scopes = nil },
		"another scope":   func(t *accesstokens.Token) { t.Scopes = accesstokens.Scopes{"all"} },
		"one scope twice": func(t *accesstokens.Token) { t.Scopes = accesstokens.Scopes{accesstokens.Read, accesstokens.Read} },
		"no life":         func(t *accesstokens.Token) { t.Expires = now },
		"too long a life": func(t *accesstokens.Token) { t.Expires = now.Add(accesstokens.MaxLife + 1) },
		"a long note":     func(t *accesstokens.Token) { t.Note = strings.Repeat("x", 201) },
	} {
		token := annsFor(protocol.Hour)
		change(&token)
		if _, _, err := book.Create(token, now); !errors.As(err, new(*accesstokens.InvalidError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range accesstokens.MaxOfUser {
		if _, _, err := book.Create(annsFor(protocol.Hour), now); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := book.Create(annsFor(protocol.Hour), now); !errors.As(err, new(*accesstokens.InvalidError)) {
		t.Errorf("one too many: %v", err)
	}
	if _, _, err := book.Create(annsFor(3*protocol.Hour), now.Add(protocol.Hour)); err != nil {
		t.Errorf("after the others expired: %v", err)
	}
}

// A token that cannot be written down is not made; one that is revoked works no more, even so.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gone")
	book := open(t, filepath.Join(dir, "tokens.json"))
	if secret, _, err := book.Create(annsFor(protocol.Hour), now); err == nil || len(book.List("", now)) > 0 {
		t.Errorf("made %q, %v", secret, err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	secret, made, err := book.Create(annsFor(protocol.Hour), now)
	if err != nil {
		t.Fatal(err)
	}
	if err = os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err = book.Revoke(made.ID, "", now); err == nil {
		t.Error("no error, and it is not written down")
	}
	if _, err = book.Find(secret, now); !errors.Is(err, accesstokens.ErrUnknown) {
		t.Errorf("revoked in memory: %v", err)
	}
}

func TestDamagedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens.json")
	if err := os.WriteFile(path, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := accesstokens.Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

func TestParseScopes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]accesstokens.Scopes{"read": {accesstokens.Read}, "submit, read": {accesstokens.Submit, accesstokens.Read}, "read,submit,operate": accesstokens.All()} {
		if got, err := accesstokens.ParseScopes(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "read,", "all", "Read", "read,read"} {
		if got, err := accesstokens.ParseScopes(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
