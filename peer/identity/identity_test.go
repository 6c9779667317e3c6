package identity_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/identity"
)

func newKey(t testing.TB) *identity.Key {
	t.Helper()
	seed, public, err := identity.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	key, err := identity.ParseKey(seed)
	if err != nil {
		t.Fatal(err)
	}
	if key.Public() != public {
		t.Fatalf("the seed of %s gives %s", public, key.Public())
	}
	return key
}

func TestKeyFilesRoundTrip(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "site.nk")
	seed, public, err := identity.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	if err = identity.SaveKey(path, seed); err != nil {
		t.Fatal(err)
	}
	key, err := identity.LoadKey(path)
	if err != nil || key.Public() != public {
		t.Fatalf("got %v, %v; want the key %s", key, err, public)
	}
	if err = identity.SaveKey(path, seed); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("overwriting: got %v, want a refusal", err)
	}
}

func TestLoadKeyRefuses(t *testing.T) {
	t.Parallel()
	seed, public, err := identity.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		content string
		mode    os.FileMode
		want    []string
	}{
		"group can read":  {string(seed), 0o640, []string{"0640", "chmod 600 "}},
		"others can read": {string(seed), 0o604, []string{"0604", "chmod 600 "}},
		"public key":      {public, 0o600, []string{"not an nkey seed"}},
		"account seed":    {"SAANDLKMXL6CUS3CP52WIXBEDN6YJ545GDKC65U5JZPPV6WH6ESWUA6YAI", 0o600, []string{"not an nkey seed", "needs one of a user"}},
		"empty":           {"", 0o600, []string{"not an nkey seed"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "site.nk")
			got := loadError(t, path, c.content, c.mode)
			if !strings.Contains(got, path) || !containsAny(got, c.want) {
				t.Errorf("got %q, want the path and one of %q", got, c.want)
			}
			if strings.Contains(got, string(seed)) {
				t.Error("the error shows the seed")
			}
		})
	}
	_, err = identity.LoadKey(filepath.Join(t.TempDir(), "none"))
	if err == nil || !strings.Contains(err.Error(), "switchyard keygen") {
		t.Errorf("no file: got %v, want the remedy", err)
	}
}

func loadError(t *testing.T, path, content string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	_, err := identity.LoadKey(path)
	return fmt.Sprint(err)
}

func containsAny(s string, subs []string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}

func TestSignaturesHoldForOneKeyPurposeAndMessage(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.SliceOf(rapid.Byte()).Draw(t, "message")
		signature := key.Sign(identity.Card, message)
		if err := identity.Verify(key.Public(), identity.Card, message, signature); err != nil {
			t.Fatal(err)
		}
		flipped := append([]byte{}, signature...)
		flipped[rapid.IntRange(0, 63).Draw(t, "byte")] ^= 1
		for name, err := range map[string]error{
			"other key":       identity.Verify(other.Public(), identity.Card, message, signature),
			"other purpose":   identity.Verify(key.Public(), identity.Gossip, message, signature),
			"other message":   identity.Verify(key.Public(), identity.Card, append(message, 0), signature),
			"other signature": identity.Verify(key.Public(), identity.Card, message, flipped),
			"short signature": identity.Verify(key.Public(), identity.Card, message, signature[:63]),
		} {
			if !errors.Is(err, identity.ErrSignature) {
				t.Fatalf("%s: got %v", name, err)
			}
		}
	})
}

func TestSignersServeOnePurpose(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	signature := key.Signer(identity.Gossip)([]byte("hi"))
	if !identity.Verifier(identity.Gossip)(key.Public(), []byte("hi"), signature) {
		t.Error("the signer's signature does not verify")
	}
	if identity.Verifier(identity.Hello)(key.Public(), []byte("hi"), signature) {
		t.Error("the signature serves another purpose")
	}
}

func TestPartnerTLSPinsTheKey(t *testing.T) {
	t.Parallel()
	server, client, other := newKey(t), newKey(t), newKey(t)
	key, err := handshake(t, server, client, server.Public())
	if err != nil || key != client.Public() {
		t.Errorf("the right key: the server sees %s, %v; want %s", key, err, client.Public())
	}
	_, err = handshake(t, server, client, other.Public())
	if err == nil || !strings.Contains(err.Error(), "public_key") {
		t.Errorf("another key: got %v, want a refusal with the remedy", err)
	}
	if _, err = client.PartnerTLS("desy", time.Now(), "UNOKEY"); err == nil {
		t.Error("a public key that is none was accepted")
	}
	if _, err = identity.PeerKey(tls.ConnectionState{}); err == nil {
		t.Error("a connection without certificate has a key")
	}
}

// handshake returns the key that the server sees and the client's error.
func handshake(t *testing.T, server, client *identity.Key, pinned string) (seen string, err error) {
	t.Helper()
	serverTLS, err := server.ServerTLS("cern", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	partnerTLS, err := client.PartnerTLS("desy", time.Now(), pinned)
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer far.Close()
		conn := tls.Server(far, serverTLS)
		if conn.HandshakeContext(t.Context()) == nil {
			seen, _ = identity.PeerKey(conn.ConnectionState())
		}
		_, _ = conn.Read(make([]byte, 1))
	}()
	conn := tls.Client(near, partnerTLS)
	if err = conn.HandshakeContext(t.Context()); err == nil {
		_, err = conn.Write([]byte{1})
	}
	_ = near.Close()
	<-done
	return seen, err
}

func FuzzParseKey(f *testing.F) {
	seed, _, err := identity.GenerateKey()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte("SU"))
	f.Fuzz(func(t *testing.T, seed []byte) {
		key, err := identity.ParseKey(seed)
		if err != nil {
			return
		}
		if err = identity.ValidatePublic(key.Public()); err != nil {
			t.Fatalf("a key with a bad public key: %v", err)
		}
	})
}

func FuzzValidatePublic(f *testing.F) {
	f.Add("U" + strings.Repeat("A", 55))
	f.Fuzz(func(t *testing.T, public string) {
		if err := identity.ValidatePublic(public); err == nil && len(public) != 56 {
			t.Fatalf("%q was accepted", public)
		}
	})
}
