package openidtest

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The clients by which people sign in: one with a secret, one without.
const (
	WebClient    = "pages"
	WebSecret    = "pages-secret"
	PublicClient = "pages-public"
)

// The user who signs in, one of the example's.
const (
	userName     = "test-user2"
	userPassword = "verysecure"
)

// people are the clients by which people sign in, at whatever URL the test has them come back to.
func (p *Provider) people() map[string]*storage.Client {
	return map[string]*storage.Client{WebClient: storage.WebClient(WebClient, WebSecret), PublicClient: storage.NativeClient(PublicClient)}
}

// ComesBackTo has the clients send people back to a URL.
func (p *Provider) ComesBackTo(at string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.back = append(p.back, at)
}

// ChangeIDTokens has claims of ID tokens be changed before they are signed; nil: none.
func (p *Provider) ChangeIDTokens(change func(claims map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = change
}

// ChangeDocument has the discovery document be changed; nil: it is not.
func (p *Provider) ChangeDocument(change func(document map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.edit = change
}

// RedeemBy has codes be redeemed by a handler instead of the provider; nil: by that.
func (p *Provider) RedeemBy(handler http.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.redeems = handler
}

// SignIn signs the user in, who has been sent to an address of the provider. It returns where the provider sends the browser back to.
func (p *Provider) SignIn(t testing.TB, address string) string {
	t.Helper()
	web := *p.web.Client()
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for range 5 {
		if !strings.HasPrefix(address, p.Issuer+"/") {
			return address
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := web.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		next := answer.Header.Get("Location")
		if _, after, has := strings.Cut(string(text), `<a href="`); has && next == "" {
			next, _, _ = strings.Cut(after, `"`)
			next = html.UnescapeString(next)
		}
		to, err := request.URL.Parse(next)
		if err != nil || next == "" {
			t.Fatalf("%s: %s, %s, %v", address, answer.Status, text, err)
		}
		address = to.String()
	}
	t.Fatalf("the sign-in does not end, but is at %s", address)
	return ""
}

// logIn is the page on which the user signs in, who is known already. It leads on by itself, as the page of an institution does: so browsers
// see that it comes from another site than the one that it leads to.
func (p *Provider) logIn(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("authRequestID")
	if err := p.store.CheckUsernamePassword(userName, userPassword, id); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	next := html.EscapeString("/authorize/callback?id=" + url.QueryEscape(id))
	w.Header().Set("Content-Type", "text/html")
	_, _ = fmt.Fprintf(w, `<!DOCTYPE html><title>Log in</title><meta http-equiv="refresh" content="0; url=%s"><a href="%s">Go on</a>`, next, next)
}

// personal answers requests of the sign-in of people that the test may want answered in another way than the provider does, if this is one.
func (p *Provider) personal(w http.ResponseWriter, r *http.Request) bool {
	p.mu.Lock()
	change, edit, redeems := p.change, p.edit, p.redeems
	p.mu.Unlock()
	switch {
	case r.URL.Path == "/login/username":
		p.logIn(w, r)
	case r.URL.Path == "/oauth/token" && redeems != nil && r.FormValue("grant_type") == string(oidc.GrantTypeCode):
		redeems.ServeHTTP(w, r)
	case r.URL.Path == "/oauth/token" && change != nil:
		p.edited(w, r, func(answer map[string]any) error { return p.reissue(answer, change) })
	case r.URL.Path == oidc.DiscoveryEndpoint && edit != nil:
		p.edited(w, r, func(answer map[string]any) error {
			edit(answer)
			return nil
		})
	default:
		return false
	}
	return true
}

// edited answers as the provider, but for what the test changes.
func (p *Provider) edited(w http.ResponseWriter, r *http.Request, edit func(answer map[string]any) error) {
	made := httptest.NewRecorder()
	p.handler.ServeHTTP(made, r)
	var answer map[string]any
	text := made.Body.Bytes()
	err := json.Unmarshal(text, &answer)
	if err == nil {
		err = edit(answer)
	}
	if err == nil {
		text, err = json.Marshal(answer)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(made.Code)
	_, _ = w.Write(text)
}

// reissue signs the ID token of an answer, if there is one, with other claims.
func (p *Provider) reissue(answer map[string]any, change func(claims map[string]any)) error {
	text, ok := answer["id_token"].(string)
	if !ok {
		return nil
	}
	token, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return err
	}
	var claims map[string]any
	if err = json.Unmarshal(token.UnsafePayloadWithoutVerification(), &claims); err != nil {
		return err
	}
	change(claims)
	answer["id_token"], err = p.sign(claims)
	return err
}

// sign makes a token with the provider's key.
func (p *Provider) sign(claims map[string]any) (string, error) {
	text, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	latest := p.store.latest()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: latest.private, KeyID: latest.id}}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(text)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// personClient is a client by which people sign in.
type personClient struct {
	op.Client

	provider *Provider
}

// RedirectURIs implements [op.Client].
func (c personClient) RedirectURIs() []string {
	c.provider.mu.Lock()
	defer c.provider.mu.Unlock()
	return c.provider.back
}

// IDTokenUserinfoClaimsAssertion implements [op.Client].
func (personClient) IDTokenUserinfoClaimsAssertion() bool { return true }

// ApplicationType implements [op.Client].
func (personClient) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }

// GetClientByClientID implements [op.Storage].
func (s *store) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	found, err := s.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, oidc.ErrInvalidClient().WithDescription("there is no client %s", id)
	}
	return personClient{found, s.provider}, nil
}
