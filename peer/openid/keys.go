package openid

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Times and bounds of fetching keys.
const (
	fetchTime   = 10 * time.Second // for the discovery document and the keys
	freshFor    = 10 * time.Minute // then keys are fetched again, beside the requests
	goodFor     = 24 * time.Hour   // then keys that could not be fetched again are used no more
	fetchPause  = 10 * time.Second // between fetches that requests cause, whatever keys they name
	maxDocument = 1 << 20          // bytes
	maxReason   = 300              // characters of why keys could not be fetched, for the log
	maxRedirect = 3
	minRSA      = 2048 // bits
)

// keySet are the keys of an issuer.
type keySet struct {
	issuer string
	client *http.Client
	now    func() time.Time
	failed func(error) // for the log

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	signIn  endpoints
	fetched time.Time      // when they were; zero: never
	tried   time.Time      // the last fetch that has ended
	err     error          // of it
	under   *fetch         // way; nil: none is
	running sync.WaitGroup // fetches
}

// fetch is one that is under way.
type fetch struct{ done chan struct{} }

// newClient makes the client by which keys are fetched: over TLS only, small documents only.
func newClient(trust *x509.CertPool) *http.Client {
	return &http.Client{
		Timeout: fetchTime,
		Transport: small{&http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
		}},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Scheme != "https" || len(via) > maxRedirect {
				return fmt.Errorf("%s leads to %s", via[0].URL, r.URL)
			}
			return nil
		},
	}
}

// small bounds what is read of answers.
type small struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (s small) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" {
		return nil, fmt.Errorf("%s is not over TLS", r.URL)
	}
	response, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxDocument)
	}
	return response, err
}

// find returns the keys that may have signed a token by their ID, or by their algorithm if the token names none. It fetches keys if
// there are none, or none of that ID.
func (k *keySet) find(ctx context.Context, id string, algorithm jose.SignatureAlgorithm) ([]jose.JSONWebKey, error) {
	var found []jose.JSONWebKey
	err := k.await(ctx, func() bool {
		found = matching(k.keys, id, algorithm)
		return len(found) > 0
	})
	if errors.Is(err, errNotThere) {
		err = refuse("the token was signed with a key that %s does not have", k.issuer)
	}
	return found, err
}

// endpoints returns where people sign in. It fetches the discovery document if there is none.
func (k *keySet) endpoints(ctx context.Context) (found endpoints, err error) {
	err = k.await(ctx, func() bool {
		found = k.signIn
		return true
	})
	return found, err
}

// errNotThere says that what was asked for is not among what the issuer has.
var errNotThere = errors.New("the issuer does not have it")

// await waits for a fetch if what is here is too old, or not what look looks for. It calls look with the lock held. The error is errNotThere, an
// [*UnavailableError], or that of ctx.
func (k *keySet) await(ctx context.Context, look func() bool) error {
	under, err := k.look(look, true) //nolint:contextcheck // what it begins is for all requests
	if under == nil {
		return err
	}
	select {
	case <-under.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	_, err = k.look(look, false) //nolint:contextcheck // see above
	return err
}

// look looks at what is here, or returns the fetch that may bring it if a request may cause one.
func (k *keySet) look(look func() bool, mayFetch bool) (under *fetch, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	usable := !k.fetched.IsZero() && now.Sub(k.fetched) < goodFor
	paused := !k.tried.IsZero() && now.Sub(k.tried) < fetchPause
	if usable && now.Sub(k.fetched) >= freshFor && !paused {
		k.begin() // the request does not wait for it
	}
	switch {
	case usable && look():
		return nil, nil
	case mayFetch && (k.under != nil || !paused):
		return k.begin(), nil
	case k.err != nil || !usable: // with a new key the token may be good
		return nil, &UnavailableError{Issuer: k.issuer}
	}
	return nil, errNotThere
}

// matching are the keys that may have signed a token.
func matching(keys []jose.JSONWebKey, id string, algorithm jose.SignatureAlgorithm) (found []jose.JSONWebKey) {
	for i := range keys {
		key := &keys[i]
		if (id == "" || key.KeyID == id) && (key.Algorithm == "" || key.Algorithm == string(algorithm)) {
			found = append(found, *key)
		}
	}
	return found
}

// begin begins a fetch, unless one is under way. The lock is held.
func (k *keySet) begin() *fetch {
	if k.under != nil {
		return k.under
	}
	one := &fetch{make(chan struct{})}
	k.under = one
	k.running.Go(func() {
		ctx, stop := context.WithTimeout(context.Background(), fetchTime)
		defer stop()
		keys, signIn, err := k.get(ctx)
		k.mu.Lock()
		k.under, k.tried, k.err = nil, k.now(), err
		if err == nil {
			k.keys, k.signIn, k.fetched = keys, signIn, k.tried
		}
		k.mu.Unlock()
		if err != nil {
			k.failed(lineOf(err))
		}
		close(one.done)
	})
	return one
}

// lineOf is an error as the log has it: it may have a whole answer of the issuer.
func lineOf(err error) error {
	return errors.New(protocol.EscapeText(fmt.Sprintf("%.*s", maxReason, err)))
}

// get fetches the discovery document and the keys of the issuer.
func (k *keySet) get(ctx context.Context) ([]jose.JSONWebKey, endpoints, error) {
	ctx = oidc.ClientContext(ctx, k.client)
	provider, err := oidc.NewProvider(ctx, k.issuer) // which checks that the document is this issuer's
	if err != nil {
		return nil, endpoints{}, reasonOf(err)
	}
	var document struct {
		endpoints

		Keys string `json:"jwks_uri"`
	}
	if err = provider.Claims(&document); err != nil {
		return nil, endpoints{}, err
	}
	keys, err := k.getKeys(ctx, document.Keys)
	return keys, document.endpoints, err
}

// getKeys fetches keys.
func (k *keySet) getKeys(ctx context.Context, at string) ([]jose.JSONWebKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("jwks_uri: %w", err)
	}
	response, err := k.client.Do(request)
	if err != nil {
		return nil, reasonOf(err)
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", at, response.Status)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", at, err)
	}
	var list struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err = json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("read %s: %w", at, err)
	}
	keys := usableOf(list.Keys)
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s has no public key for signatures", at)
	}
	return keys, nil
}

// usableOf are the keys for signatures, of those that can be read. A shared secret is none.
func usableOf(list []json.RawMessage) (keys []jose.JSONWebKey) {
	for _, text := range list {
		var key jose.JSONWebKey
		if json.Unmarshal(text, &key) != nil || !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
			continue
		}
		if number, ok := key.Key.(*rsa.PublicKey); ok && number.N.BitLen() < minRSA {
			continue
		}
		keys = append(keys, key)
	}
	return slices.Clip(keys)
}

// reasonOf is an error of fetching without the words of the library that say no more.
func reasonOf(err error) error {
	if at, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", at.URL, at.Err)
	}
	return err
}
