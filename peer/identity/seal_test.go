package identity_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/identity"
)

// Only the site for whose key a text is sealed opens it, for the same purpose, and not if a byte was changed.
func TestSeal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var keys [2]*identity.Key
		for i := range keys {
			seed, _, err := identity.GenerateKey()
			if err != nil {
				t.Fatal(err)
			}
			if keys[i], err = identity.ParseKey(seed); err != nil {
				t.Fatal(err)
			}
		}
		text := rapid.SliceOf(rapid.Byte()).Draw(t, "text")
		sealed, err := identity.Seal(keys[0].Public(), identity.Keyring, text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := keys[0].Open(identity.Keyring, sealed); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("opened as %x, %v", got, err)
		}
		changed := slices.Clone(sealed)
		changed[rapid.IntRange(0, len(changed)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 6).Draw(t, "bit")
		for name, open := range map[string]func() ([]byte, error){
			"another key":     func() ([]byte, error) { return keys[1].Open(identity.Keyring, sealed) },
			"another purpose": func() ([]byte, error) { return keys[0].Open(identity.Invitation, sealed) },
			"changed":         func() ([]byte, error) { return keys[0].Open(identity.Keyring, changed) },
			"empty":           func() ([]byte, error) { return keys[0].Open(identity.Keyring, nil) },
		} {
			if got, err := open(); !errors.Is(err, identity.ErrSealed) {
				t.Fatalf("%s: %x, %v", name, got, err)
			}
		}
	})
}

func TestNothingIsSealedForWhatIsNoKey(t *testing.T) {
	t.Parallel()
	for _, public := range []string{"", "U", strings.Repeat("U", 56)} {
		if sealed, err := identity.Seal(public, identity.Keyring, []byte("text")); err == nil {
			t.Errorf("%q: sealed as %x", public, sealed)
		}
	}
}
