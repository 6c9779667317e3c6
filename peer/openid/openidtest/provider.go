// Package openidtest runs a provider of OpenID Connect for tests: that of zitadel/oidc, over TLS, with the storage of its example.
// Nothing but tests imports it.
package openidtest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The service user of the example's storage.
const (
	client = "sid1"
	secret = "verysecret"
)

// Provider is a provider that runs until its test ends. Its methods may be called from any goroutine.
type Provider struct {
	Issuer string // its URL
	CAFile string // the authority that clients trust

	web   *httptest.Server
	store *store

	mu      sync.Mutex
	handler http.Handler
	down    bool
	asked   int // requests for keys
	keys    []*key
	next    Claims
	back    []string                      // URLs to which people who have signed in come back
	change  func(claims map[string]any)   // of ID tokens
	edit    func(document map[string]any) // of discovery
	redeems http.Handler                  // instead of the provider's; nil: that is it
}

// Claims are those of a token.
type Claims struct {
	Subject  string
	Audience []string
	Life     time.Duration  // 0: five minutes
	More     map[string]any // besides
}

// Start runs a provider.
func Start(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{}
	p.web = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.web.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	p.web.StartTLS()
	t.Cleanup(p.web.Close)
	p.Issuer, p.CAFile = p.web.URL, filepath.Join(t.TempDir(), "issuer-ca.pem")
	if err := os.WriteFile(p.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Rotate(t)
	p.store = &store{Storage: storage.NewStorageWithClients(storage.NewUserStore(p.Issuer), p.people()), provider: p}
	config := &op.Config{CryptoKey: [32]byte{1}, CryptoKeyId: "crypto", CodeMethodS256: true}
	provider, err := op.NewProvider(config, p.store, op.StaticIssuer(p.Issuer), op.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	p.handler = provider
	return p
}

// serve answers as the provider, unless that is down.
func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	handler, down := p.handler, p.down
	if strings.HasSuffix(r.URL.Path, "/keys") {
		p.asked++
	}
	p.mu.Unlock()
	if down {
		http.Error(w, "the provider is down", http.StatusBadGateway)
		return
	}
	if !p.personal(w, r) {
		handler.ServeHTTP(w, r)
	}
}

// SetDown has the provider answer nothing, or as before.
func (p *Provider) SetDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// Asked is how often the keys were asked for.
func (p *Provider) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// Rotate has tokens be signed with a new key from now on. The keys before it are not among those of the provider any more.
func (p *Provider) Rotate(t testing.TB) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, &key{strconv.Itoa(len(p.keys)), private})
}

// Token gets a token of the provider as a client does.
func (p *Provider) Token(t testing.TB, claims Claims) string {
	t.Helper()
	p.mu.Lock()
	p.next = claims
	p.mu.Unlock()
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {"openid"}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.Issuer+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(client, secret)
	answer, err := p.web.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(answer.Body)
	var got struct {
		Token string `json:"access_token"`
	}
	if err != nil || json.Unmarshal(text, &got) != nil || strings.Count(got.Token, ".") != 2 {
		t.Fatalf("the provider answers %s: %s, %v", answer.Status, text, err)
	}
	return got.Token
}

// key is a key of the provider, and the public half of it.
type key struct {
	id      string
	private *rsa.PrivateKey
}

// ID implements [op.SigningKey] and [op.Key].
func (k *key) ID() string { return k.id }

// SignatureAlgorithm implements [op.SigningKey].
func (k *key) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }

// Key implements [op.SigningKey].
func (k *key) Key() any { return k.private }

// public is a key as others see it.
type public struct{ *key }

// Algorithm implements [op.Key].
func (public) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }

// Use implements [op.Key].
func (public) Use() string { return "sig" }

// Key implements [op.Key].
func (k public) Key() any { return &k.private.PublicKey }

// store is the storage of the example, with keys and claims as the test wants them.
type store struct {
	*storage.Storage

	provider *Provider
}

func (s *store) latest() *key {
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	return s.provider.keys[len(s.provider.keys)-1]
}

func (s *store) wanted() Claims {
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	return s.provider.next
}

// SigningKey implements [op.Storage].
func (s *store) SigningKey(context.Context) (op.SigningKey, error) { return s.latest(), nil }

// SignatureAlgorithms implements [op.Storage].
func (s *store) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.RS256}, nil
}

// KeySet implements [op.Storage].
func (s *store) KeySet(context.Context) ([]op.Key, error) { return []op.Key{public{s.latest()}}, nil }

// jwtClient is a client that gets tokens which are not opaque.
type jwtClient struct{ op.Client }

// AccessTokenType implements [op.Client].
func (jwtClient) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

// ClientCredentials implements [op.ClientCredentialsStorage].
func (s *store) ClientCredentials(ctx context.Context, id, secret string) (op.Client, error) {
	found, err := s.Storage.ClientCredentials(ctx, id, secret)
	if err != nil {
		return nil, err
	}
	return jwtClient{found}, nil
}

// ClientCredentialsTokenRequest implements [op.ClientCredentialsStorage].
func (s *store) ClientCredentialsTokenRequest(_ context.Context, _ string, scopes []string) (op.TokenRequest, error) {
	wanted := s.wanted()
	return &oidc.JWTTokenRequest{Subject: wanted.Subject, Audience: slices.Clone(wanted.Audience), Scopes: scopes}, nil
}

// CreateAccessToken implements [op.Storage].
func (s *store) CreateAccessToken(ctx context.Context, request op.TokenRequest) (string, time.Time, error) {
	id, expires, err := s.Storage.CreateAccessToken(ctx, request)
	if life := s.wanted().Life; life != 0 {
		expires = time.Now().Add(life)
	}
	return id, expires, err
}

// GetPrivateClaimsFromScopes implements [op.Storage].
func (s *store) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return maps.Clone(s.wanted().More), nil
}
