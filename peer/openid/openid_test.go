package openid_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/openid/openidtest"
)

// clock is one that the test sets ahead.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

// verifier is one of a provider's tokens for the audience "switchyard".
func verifier(t *testing.T, p *openidtest.Provider, rules ...openid.Rule) (*openid.Verifier, *clock) {
	t.Helper()
	trust, err := clientcert.ReadAuthorities(p.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{}
	v := openid.New(openid.Config{Issuer: p.Issuer, Audience: "switchyard", Trust: trust, Rules: rules, Now: c.now})
	t.Cleanup(v.Wait)
	return v, c
}

var (
	read     = accesstokens.Scopes{accesstokens.Read}
	anyToken = openid.Rule{User: "ada", Scopes: read}
	forUs    = openidtest.Claims{Subject: "s-1", Audience: []string{"other", "switchyard"}}
)

func refusedAs(t *testing.T, err error, words string) {
	t.Helper()
	if refused, ok := errors.AsType[*openid.RefusedError](err); !ok || !strings.Contains(refused.Reason, words) {
		t.Errorf("got %v, want a refusal with %q", err, words)
	}
}

// The first rule whose conditions all hold says for whom a token stands, and what it may do.
func TestRules(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	all := accesstokens.All()
	v, _ := verifier(t, p,
		openid.Rule{Subject: "s-1", User: "ada", Scopes: all},
		openid.Rule{Email: "bob@example.org", User: "bob", Scopes: read},
		openid.Rule{Email: "kim@example.ork", User: "kim", Scopes: read},
		openid.Rule{Group: "ops", Scope: "switchyard.operate", Scopes: all},
		openid.Rule{Group: "ops", Scopes: read},
		openid.Rule{Scope: "portal", User: "portal", Scopes: read},
	)
	for name, c := range map[string]struct {
		subject string
		more    map[string]any
		user    string
		named   bool
		scopes  accesstokens.Scopes
	}{
		"subject":         {"s-1", nil, "ada", true, all},
		"address":         {"s-2", map[string]any{"email": "Bob@example.org", "email_verified": true}, "bob", true, read},
		"address, texts":  {"s-2", map[string]any{"email": "bob@example.org", "email_verified": "true"}, "bob", true, read},
		"not verified":    {"s-2", map[string]any{"email": "bob@example.org", "email_verified": false}, "", false, nil},
		"not said":        {"s-2", map[string]any{"email": "bob@example.org"}, "", false, nil},
		"group and scope": {"s-3", map[string]any{"groups": []string{"x", "ops"}, "scope": "openid switchyard.operate", "preferred_username": "eve"}, "eve", false, all},
		"another k":       {"s-2", map[string]any{"email": "kim@example.or\u212a", "email_verified": true}, "", false, nil},
		"part of a group": {"s-3", map[string]any{"groups": "x ops", "scope": "openid", "preferred_username": "eve"}, "", false, nil},
		"group":           {"s-3", map[string]any{"groups": "ops", "scope": "openid", "preferred_username": "eve"}, "eve", false, read},
		"no name":         {"s-3", map[string]any{"groups": []string{"ops"}}, "", false, nil},
		"a number":        {"s-3", map[string]any{"groups": []string{"ops"}, "preferred_username": "0"}, "", false, nil},
		"a path":          {"s-3", map[string]any{"groups": []string{"ops"}, "preferred_username": "../eve"}, "", false, nil},
		"no text":         {"s-3", map[string]any{"groups": []string{"ops"}, "preferred_username": []string{"eve"}}, "", false, nil},
		"scope":           {"s-4", map[string]any{"scope": []string{"portal"}}, "portal", true, read},
		"part of a scope": {"s-4", map[string]any{"scope": "portals"}, "", false, nil},
		"none":            {"s-5", nil, "", false, nil},
	} {
		got, err := v.Find(t.Context(), p.Token(t, openidtest.Claims{Subject: c.subject, Audience: forUs.Audience, More: c.more}))
		if c.user == "" {
			refusedAs(t, err, "token")
		} else if err != nil || got.User != c.user || got.Named != c.named || !slices.Equal(got.Scopes, c.scopes) || got.Subject != c.subject {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A token is for one audience, of one issuer, for its time, give or take a minute.
func TestWhatIsChecked(t *testing.T) {
	t.Parallel()
	p, other := openidtest.Start(t), openidtest.Start(t)
	v, c := verifier(t, p, anyToken)
	good := p.Token(t, forUs)
	token, err := v.Find(t.Context(), good)
	if err != nil || v.Good(&token) != nil {
		t.Fatalf("%v, %v", err, v.Good(&token))
	}
	_, err = v.Find(t.Context(), p.Token(t, openidtest.Claims{Subject: "s-1", Audience: []string{"another"}}))
	refusedAs(t, err, "audience")
	_, err = v.Find(t.Context(), other.Token(t, forUs))
	refusedAs(t, err, "") // its key has an ID that this issuer's has too
	_, err = v.Find(t.Context(), p.Token(t, openidtest.Claims{Subject: "s-1", Audience: forUs.Audience, Life: 8 * 24 * time.Hour}))
	refusedAs(t, err, "too long")
	_, err = v.Find(t.Context(), p.Token(t, openidtest.Claims{Subject: "", Audience: forUs.Audience}))
	refusedAs(t, err, "no subject")
	parts := strings.Split(good, ".")
	for name, text := range map[string]string{
		"another signature": parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2])), "cut": good[:len(good)-4], "no signature": parts[0] + "." + parts[1] + ".", "long": good + strings.Repeat("A", 20_000),
		"no algorithm": "eyJhbGciOiJub25lIn0." + parts[1] + ".",
	} {
		if _, err = v.Find(t.Context(), text); !errors.As(err, new(*openid.RefusedError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.pass(-2 * time.Minute)
	_, err = v.Find(t.Context(), good)
	refusedAs(t, err, "not good yet")
	c.pass(2*time.Minute + 5*time.Minute + 30*time.Second)
	if _, err = v.Find(t.Context(), good); err != nil || v.Good(&token) != nil {
		t.Errorf("half a minute after its end: %v, %v", err, v.Good(&token))
	}
	c.pass(time.Minute)
	_, err = v.Find(t.Context(), good)
	refusedAs(t, err, "expired")
	refusedAs(t, v.Good(&token), "expired")
}

// Other rules hold for tokens that were found before.
func TestRulesChange(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	v, _ := verifier(t, p, anyToken)
	token, err := v.Find(t.Context(), p.Token(t, forUs))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		rules []openid.Rule
		good  bool
	}{
		"none": {nil, false}, "less": {[]openid.Rule{{User: "ada", Scopes: accesstokens.Scopes{accesstokens.Submit}}}, false}, "another": {[]openid.Rule{{User: "bob", Scopes: read}}, false},
		"the same": {[]openid.Rule{{Subject: "s-1", User: "ada", Scopes: read}}, true},
	} {
		v.SetRules(c.rules)
		if err = v.Good(&token); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A new key is fetched when a token is signed with it; one that the issuer has no more counts until the keys are fetched again.
func TestKeysChange(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	v, c := verifier(t, p, anyToken)
	first := p.Token(t, openidtest.Claims{Subject: "s-1", Audience: forUs.Audience, Life: time.Hour})
	for range 3 {
		if _, err := v.Find(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	if p.Asked() != 1 {
		t.Errorf("the keys were asked for %d times", p.Asked())
	}
	p.Rotate(t)
	second := p.Token(t, openidtest.Claims{Subject: "s-1", Audience: forUs.Audience, Life: time.Hour})
	_, err := v.Find(t.Context(), second)
	refusedAs(t, err, "does not have") // so soon after a fetch there is no other, whatever tokens name
	if p.Asked() != 1 {
		t.Errorf("the keys were asked for %d times", p.Asked())
	}
	c.pass(11 * time.Second)
	if _, err = v.Find(t.Context(), second); err != nil {
		t.Errorf("signed with the new key: %v", err)
	}
	_, err = v.Find(t.Context(), first)
	refusedAs(t, err, "does not have")
	p.Rotate(t)
	c.pass(11 * time.Minute)
	if _, err = v.Find(t.Context(), second); err != nil { // begins a fetch, and does not wait for it
		t.Errorf("while keys are fetched: %v", err)
	}
	v.Wait()
	_, err = v.Find(t.Context(), second)
	refusedAs(t, err, "does not have")
}

// Without its issuer the peer verifies tokens with the keys that it has, for a day; without keys it says that it cannot now.
func TestIssuerIsDown(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	v, c := verifier(t, p, anyToken)
	text := p.Token(t, openidtest.Claims{Subject: "s-1", Audience: forUs.Audience, Life: 48 * time.Hour})
	unavailable := func() {
		t.Helper()
		_, err := v.Find(t.Context(), text)
		if failed, ok := errors.AsType[*openid.UnavailableError](err); !ok || !strings.Contains(failed.Error(), p.Issuer) {
			t.Errorf("got %v", err)
		}
	}
	p.SetDown(true)
	unavailable()
	p.SetDown(false)
	unavailable() // for a while it is not asked again
	c.pass(11 * time.Second)
	if _, err := v.Find(t.Context(), text); err != nil {
		t.Errorf("once it is back: %v", err)
	}
	if v.Failing() {
		t.Error("a fetch that has succeeded has failed")
	}
	p.SetDown(true)
	for range 4 {
		c.pass(5 * time.Hour)
		if _, err := v.Find(t.Context(), text); err != nil {
			t.Errorf("by the keys that were fetched: %v", err)
		}
		v.Wait()
		if !v.Failing() {
			t.Error("the fetch of new keys has not failed")
		}
	}
	c.pass(5 * time.Hour)
	unavailable()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c.pass(time.Minute)
	if _, err := v.Find(ctx, text); err == nil {
		t.Error("no error")
	}
}

// issuer is one whose keys and tokens are the test's.
func issuer(t *testing.T, keys ...any) (url string, v *openid.Verifier) {
	t.Helper()
	var web *httptest.Server
	web = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = map[string]any{"keys": keys}
		if r.URL.Path != "/keys" {
			answer = map[string]any{"issuer": web.URL, "jwks_uri": web.URL + "/keys", "authorization_endpoint": web.URL, "token_endpoint": web.URL, "id_token_signing_alg_values_supported": []string{"HS256", "RS256", "none"}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(web.Close)
	pool := web.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	v = openid.New(openid.Config{Issuer: web.URL, Audience: "switchyard", Trust: pool, Rules: []openid.Rule{anyToken}})
	t.Cleanup(v.Wait)
	return web.URL, v
}

// signed is a token that is good but for how it is signed.
func signed(t *testing.T, issuer string, key jose.SigningKey, kind string, more ...map[string]any) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithType(jose.ContentType(kind)).WithHeader("kid", "k")
	signer, err := jose.NewSigner(key, options)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	claims := map[string]any{"iss": issuer, "aud": "switchyard", "sub": "s-1", "iat": now, "exp": now + 300}
	for _, one := range more {
		maps.Copy(claims, one)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Only key pairs that are long enough sign tokens, and only tokens that give access count.
func TestKindsOfKeysAndTokens(t *testing.T) {
	t.Parallel()
	strong, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	shared := []byte(strings.Repeat("s", 32))
	public := jose.JSONWebKey{Key: &strong.PublicKey, KeyID: "k", Algorithm: "RS256", Use: "sig"}
	at, v := issuer(t, jose.JSONWebKey{Key: shared, KeyID: "k", Algorithm: "HS256", Use: "sig"}, public, "no key")
	for kind, good := range map[string]bool{"at+jwt": true, "application/at+JWT": true, "JWT": true, "logout+jwt": false, "secevent+jwt": false} {
		_, err = v.Find(t.Context(), signed(t, at, jose.SigningKey{Algorithm: jose.RS256, Key: strong}, kind))
		if (err == nil) != good {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for words, claims := range map[string]map[string]any{
		"not good yet": {"nbf": time.Now().Unix() + 120}, "different provider": {"iss": "https://other.example"}, "does not say when": {"exp": 0}, "when it was made": {"iat": 0}, "nbf cannot be read": {"nbf": -1},
		"no subject": {"sub": ""}, "audience": {"aud": []string{"switchyards"}}, "good yet": {"iat": time.Now().Unix() + 120}, "expired": {"exp": time.Now().Unix() - 61, "iat": 1},
	} {
		_, err = v.Find(t.Context(), signed(t, at, jose.SigningKey{Algorithm: jose.RS256, Key: strong}, "JWT", claims))
		refusedAs(t, err, words)
	}
	for name, c := range map[string]struct {
		claims map[string]any
		good   bool
	}{
		"nonce": {map[string]any{"nonce": "n"}, false}, "at_hash": {map[string]any{"at_hash": "h"}, false}, "events": {map[string]any{"events": map[string]any{}}, false},
		"ID": {map[string]any{"typ": "ID"}, false}, "Refresh": {map[string]any{"typ": "Refresh"}, false}, "Bearer": {map[string]any{"typ": "Bearer"}, true}, "at+jwt": {map[string]any{"typ": "at+jwt"}, true},
	} {
		if _, err = v.Find(t.Context(), signed(t, at, jose.SigningKey{Algorithm: jose.RS256, Key: strong}, "JWT", c.claims)); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = v.Find(t.Context(), signed(t, at, jose.SigningKey{Algorithm: jose.HS256, Key: shared}, "at+jwt"))
	refusedAs(t, err, "key pair")
	_, err = v.Find(t.Context(), signed(t, at, jose.SigningKey{Algorithm: jose.PS256, Key: strong}, "at+jwt"))
	refusedAs(t, err, "does not have") // the key is for another algorithm
	at, v = issuer(t, jose.JSONWebKey{Key: &strong.PublicKey, KeyID: "k", Algorithm: "RS256", Use: "enc"}, jose.JSONWebKey{Key: shared, KeyID: "k"})
	if _, err = v.Find(t.Context(), signed(t, at, jose.SigningKey{Algorithm: jose.RS256, Key: strong}, "at+jwt")); !errors.As(err, new(*openid.UnavailableError)) {
		t.Errorf("no key for signatures: %v", err)
	}
}

// What is at the issuer's address may be anything.
func TestOtherDocuments(t *testing.T) {
	t.Parallel()
	var answer atomic.Pointer[string]
	var web *httptest.Server
	web = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			http.Redirect(w, r, "http://"+r.Host+"/plain", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(strings.ReplaceAll(*answer.Load(), "HERE", web.URL))) // a client that goes
	}))
	t.Cleanup(web.Close)
	pool := web.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for name, document := range map[string]string{
		"another issuer":     `{"issuer":"https://other.example","jwks_uri":"HERE/keys"}`,
		"no document":        "<html>",
		"not over TLS":       `{"issuer":"HERE","jwks_uri":"http://127.0.0.1:1/keys"}`,
		"redirect to plain":  `{"issuer":"HERE","jwks_uri":"HERE/keys"}`,
		"a document too big": `{"issuer":"HERE","jwks_uri":"HERE/keys","x":"` + strings.Repeat("x", 2<<20) + `"}`,
	} {
		answer.Store(&document)
		v := openid.New(openid.Config{Issuer: web.URL, Audience: "switchyard", Trust: pool, Rules: []openid.Rule{anyToken}})
		_, err := v.Find(t.Context(), "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.e30.AAAA")
		if !errors.As(err, new(*openid.UnavailableError)) {
			t.Errorf("%s: %v", name, err)
		}
		v.Wait()
	}
}

// What an issuer answers instead of its document is bounded and escaped for the log, and nobody else gets it.
func TestErrorPage(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("\x1b[31mgateway\n" + strings.Repeat("y", 100_000))) // a client that goes
	}))
	t.Cleanup(web.Close)
	var logged atomic.Pointer[string]
	v := openid.New(openid.Config{
		Issuer: web.URL, Audience: "switchyard", Trust: web.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		Failed: func(err error) { text := err.Error(); logged.Store(&text) },
	})
	_, err := v.Find(t.Context(), "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.e30.AAAA")
	v.Wait()
	if !errors.As(err, new(*openid.UnavailableError)) || strings.Contains(err.Error(), "gateway") {
		t.Errorf("the caller gets %.200q", err)
	}
	if text := logged.Load(); text == nil || !strings.Contains(*text, "gateway") || len(*text) > 1000 || strings.ContainsAny(*text, "\x1b\n") {
		t.Error("the log gets all of it, or nothing")
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"eyJh.eyJz.AA": true, "sy_0123_abc": false, "": false, "eyJh.eyJz": false, "eyJh.eyJz.A A": false, "a.b.c": false} {
		if openid.Looks(text) != want {
			t.Errorf("%q", text)
		}
	}
}
