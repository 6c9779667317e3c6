package accesstokens

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits of tokens.
const (
	MaxLife   = 366 * 24 * protocol.Hour
	MaxOfUser = 100 // tokens of one user that have not expired
	maxNote   = 200 // bytes
)

// Token is what is known of a token besides its secret.
type Token struct {
	ID      string           `json:"id"`   // its first part, which is no secret
	User    string           `json:"user"` // of the site, in whose name its caller acts
	UID     int              `json:"uid"`  // the user's number: a name may be given to another later
	Scopes  Scopes           `json:"scopes"`
	Note    string           `json:"note,omitempty"` // what it is for, in its maker's words
	Maker   string           `json:"created_by"`
	Created protocol.Instant `json:"created_ms"`
	Expires protocol.Instant `json:"expires_ms"`
}

// entry is a token in the file.
type entry struct {
	Token

	SHA256 string `json:"sha256"` // of the secret, in hexadecimal digits
}

// Book keeps the tokens of a site in a file. Its methods may be called from any goroutine.
type Book struct {
	path string

	writing sync.Mutex // held over changes, which wait for the disk

	mu   sync.Mutex
	byID map[string]entry
}

// The errors of [Book.Find] and [Book.Revoke].
var (
	ErrUnknown = errors.New("the token is not known here; it was revoked, has expired, or is another site's")
	ErrExpired = errors.New("the token has expired; ask for a new one: switchyard token create")
)

// InvalidError says why there can be no such token.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

func invalid(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

// Open reads the file of a book. One that is not there has no tokens.
func Open(path string) (*Book, error) {
	b := &Book{path: path, byID: map[string]entry{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	var kept []entry
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil {
		return nil, fmt.Errorf("file of tokens %s: %w; restore it, or delete it and make new tokens", path, err)
	}
	for _, e := range kept {
		b.byID[e.ID] = e
	}
	return b, nil
}

// A secret is prefix, the id, "_" and random bytes.
const (
	prefix      = "sy_"
	idBytes     = 6
	secretBytes = 32
)

// Create makes a token, durably; its ID and the instant of its creation are set here. The secret is
// nowhere else. The error is an [*InvalidError], or about the file.
func (b *Book) Create(t Token, now protocol.Instant) (secret string, made Token, err error) {
	t.Created = now
	if err = t.check(); err != nil {
		return "", Token{}, err
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	kept := b.unexpired(now)
	if n := countOf(kept, t.User); n >= MaxOfUser {
		return "", Token{}, invalid("%s has %d tokens; revoke some", t.User, n)
	}
	for t.ID = ""; t.ID == "" || kept[t.ID].ID != ""; {
		t.ID = hex.EncodeToString(random(idBytes))
	}
	secret = prefix + t.ID + "_" + base64.RawURLEncoding.EncodeToString(random(secretBytes))
	kept[t.ID] = entry{Token: t, SHA256: digest(secret)}
	return secret, t, b.save(kept)
}

// random is from the system's generator: secrets come from no seed.
func random(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.Read(data) // it never fails
	return data
}

// check refuses what no token may have.
func (t *Token) check() error {
	switch life := t.Expires.Sub(t.Created); {
	case t.User == "":
		return invalid("the token has no user")
	case len(t.Note) > maxNote:
		return invalid("the note has %d bytes; at most %d are allowed", len(t.Note), maxNote)
	case life <= 0 || life > MaxLife:
		return invalid("invalid lifetime %s; use more than none and at most %d days", life.Text(), MaxLife/(24*protocol.Hour))
	}
	return t.Scopes.check()
}

// Looks reports whether a text has the form of a token.
func Looks(secret string) bool {
	id, rest, ok := strings.Cut(strings.TrimPrefix(secret, prefix), "_")
	return ok && strings.HasPrefix(secret, prefix) && id != "" && rest != "" && !strings.ContainsAny(secret, " \t\r\n")
}

// Find returns the token of a secret. The error is [ErrUnknown] or [ErrExpired].
func (b *Book) Find(secret string, now protocol.Instant) (Token, error) {
	id, _, ok := strings.Cut(strings.TrimPrefix(secret, prefix), "_")
	if !ok || !strings.HasPrefix(secret, prefix) {
		return Token{}, ErrUnknown
	}
	found, known := b.entry(id)
	if !known || subtle.ConstantTimeCompare([]byte(digest(secret)), []byte(found.SHA256)) != 1 {
		return Token{}, ErrUnknown
	}
	if found.Expires <= now {
		return Token{}, ErrExpired
	}
	return found.Token, nil
}

// Good reports whether a token that was found is still good. The error is [ErrUnknown] or [ErrExpired].
func (b *Book) Good(id string, now protocol.Instant) error {
	switch found, known := b.entry(id); {
	case !known:
		return ErrUnknown
	case found.Expires <= now:
		return ErrExpired
	}
	return nil
}

func (b *Book) entry(id string) (entry, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, known := b.byID[id]
	return found, known
}

// List returns the tokens of a user that have not expired, or with an empty name all users', by user
// and creation.
func (b *Book) List(user string, now protocol.Instant) []Token {
	all := []Token{}
	for _, e := range b.unexpired(now) {
		if user == "" || e.User == user {
			all = append(all, e.Token)
		}
	}
	slices.SortFunc(all, func(x, y Token) int {
		return cmp.Or(cmp.Compare(x.User, y.User), cmp.Compare(x.Created, y.Created), cmp.Compare(x.ID, y.ID))
	})
	return all
}

// Revoke has the token of an id work no more, durably. With a user it must be that user's. The error
// wraps [ErrUnknown], or is about the file: then the token works again after a restart.
func (b *Book) Revoke(id, user string, now protocol.Instant) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	kept := b.unexpired(now)
	if found, known := kept[id]; !known || user != "" && found.User != user {
		return fmt.Errorf("token %q: %w", id, ErrUnknown)
	}
	delete(kept, id)
	b.set(kept)
	if err := b.save(kept); err != nil {
		return fmt.Errorf("token %s is revoked until the peer restarts: %w", id, err)
	}
	return nil
}

// unexpired is a copy of the tokens that have not expired.
func (b *Book) unexpired(now protocol.Instant) map[string]entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := make(map[string]entry, len(b.byID))
	for id, e := range b.byID {
		if e.Expires > now {
			kept[id] = e
		}
	}
	return kept
}

func countOf(kept map[string]entry, user string) (n int) {
	for _, e := range kept {
		if e.User == user {
			n++
		}
	}
	return n
}

// set has these tokens be those of the book.
func (b *Book) set(kept map[string]entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byID = kept
}

// save writes the file, and has these tokens be those of the book. No other change is under way.
func (b *Book) save(kept map[string]entry) error {
	all := make([]entry, 0, len(kept))
	for _, e := range kept {
		all = append(all, e)
	}
	slices.SortFunc(all, func(x, y entry) int { return cmp.Compare(x.ID, y.ID) })
	if err := statedir.WriteJSON(b.path, all); err != nil {
		return fmt.Errorf("write the file of tokens: %w", err)
	}
	b.set(kept)
	return nil
}

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
